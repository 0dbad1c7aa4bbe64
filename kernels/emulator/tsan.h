// What ThreadSanitizer has to be told: which fiber runs, and what a barrier orders. Nothing without EMULATOR_TSAN.
// Only kernels are compiled with -fsanitize=thread: what the runtime notes of threads is not for it to see.
#pragma once

#if defined(EMULATOR_TSAN)
#define TSAN(...) __VA_ARGS__
extern "C" {
void *__tsan_get_current_fiber();
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);
void __tsan_acquire(void *token);
void __tsan_release(void *token);
}
// A switch in itself orders nothing: on the device threads run at the same time.
constexpr unsigned TSAN_NO_SYNC = 1;
#else
#define TSAN(...)
#endif
