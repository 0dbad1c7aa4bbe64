// The threads of one block. The scheduler continues each thread that can run, in the order of the settings, until all wait
// at a barrier or have ended. A thread leaves its fiber only at a barrier, in a warp operation that others have yet to
// join, in random order at an atomic, and at its end.

#include "block.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "faults.h"
#include "fiber.h"
#include "settings.h"
#include "tsan.h"

extern "C" char emulated_shared_begin[] __attribute__((weak, visibility("hidden")));
extern "C" char emulated_shared_end[] __attribute__((weak, visibility("hidden")));

namespace emulator {

Self *self;
Running running;

namespace {

enum class State { READY, AT_BARRIER, IN_WARP, ENDED };

struct Thread : Self {
    Fiber fiber;
    State state;
    Where at;
    bool predicate;
    // Of a warp operation: what the lane brings, from which lane it reads, and then what it gets.
    uint64_t value;
    unsigned source;
};

constexpr unsigned LANES = 32;

Thread threads[MOST_THREADS];
unsigned thread_count;
char *stacks[MOST_THREADS];
Fiber scheduler;
// The thread of the operating system that runs fibers, while it does.
pthread_t kernel_thread;
volatile bool on_fiber;
// How many threads came to the last barrier with their predicate set.
unsigned predicates;
uint64_t continued;

#if defined(EMULATOR_TSAN)
// Tokens that order what comes before a barrier before what comes after it. Two of each, in turn: a thread may reach
// the next barrier before others have left this one.
char block_tokens[2], warp_tokens[MOST_THREADS / LANES][2], begin_token, end_token;
unsigned block_phase, warp_phases[MOST_THREADS / LANES];
#endif

Thread &current() { return *static_cast<Thread *>(self); }
Thread *lane_of(const Thread &t, unsigned lane) { return &threads[t.warp * LANES + lane]; }

// Leaves the running thread's fiber until the scheduler continues it. Another thread's instructions end its carry.
void leave() {
    Thread &t = current();
    on_fiber = false;
    switch_fibers(t.fiber, scheduler);
}

void continue_thread(Thread &t) {
    self = &t;
    t.carry_lives = false;
    continued++;
    on_fiber = true;
    switch_fibers(scheduler, t.fiber);
}

void thread_main() {
    TSAN(__tsan_acquire(&begin_token);)
    running.kernel->call(running.parameters);
    TSAN(__tsan_release(&end_token);)
    current().state = State::ENDED;
    leave();
    __builtin_unreachable();
}

void begin(Thread &t, unsigned index, const Block &block) {
    if (!stacks[index]) stacks[index] = new_stack();
    TSAN(if (!t.fiber.tsan) {
        t.fiber.tsan = __tsan_create_fiber(0);
        __tsan_set_fiber_name(t.fiber.tsan, ("CUDA thread " + std::to_string(index)).c_str());
    })
    const unsigned x = block.size.x, y = block.size.y;
    t.block = &block;
    t.id = {index % x, index / x % y, index / (x * y)};
    t.index = index;
    t.warp = index / LANES;
    t.lane = index % LANES;
    t.state = State::READY;
    t.predicate = false;
    prepare(t.fiber, stacks[index], thread_main);
}

// The order of the threads between two barriers.
void put_in_order(std::vector<unsigned> &order) {
    for (unsigned i = 0; i < order.size(); i++) order[i] = i;
    if (settings.order == Settings::BACKWARD) std::reverse(order.begin(), order.end());
    if (settings.order == Settings::RANDOM) std::shuffle(order.begin(), order.end(), settings.random);
}

// Continues threads until none is ready, or one has a fault.
void run_ready(const std::vector<unsigned> &order) {
    for (bool progress = true; progress;) {
        progress = false;
        for (unsigned index : order) {
            if (threads[index].state != State::READY) continue;
            continue_thread(threads[index]);
            if (running.fault) return;
            progress = true;
        }
    }
}

void fault_of(Thread &t, const char *what, Where at) {
    self = &t;
    report(what, at);
    running.fault = LAUNCH_FAILED;
}

// All threads wait or have ended, not all have ended: whether they wait at one barrier.
bool at_one_barrier() {
    Thread *const end = threads + thread_count;
    const auto in = [&](State state) { return std::find_if(threads, end, [=](Thread &t) { return t.state == state; }); };
    if (Thread *t = in(State::IN_WARP); t != end) {
        return fault_of(*t, "warp operation that not all lanes of its mask join", t->at), false;
    }
    Thread &first = *in(State::AT_BARRIER);
    if (in(State::ENDED) != end) {
        return fault_of(first, "barrier that a thread of the block has not reached before it ended", first.at), false;
    }
    Thread *other = std::find_if(threads, end, [&](Thread &t) { return !(t.at == first.at); });
    if (other != end) {
        const std::string what = "threads wait at different barriers, others at line " + std::to_string(first.at.line);
        return fault_of(*other, what.c_str(), other->at), false;
    }
    return true;
}

void pass_barrier() {
    predicates = 0;
    for (unsigned i = 0; i < thread_count; i++) {
        predicates += threads[i].predicate;
        threads[i].state = State::READY;
    }
    TSAN(block_phase++;)
}

// Every lane of the mask has come: hands each its result. The calling lane goes on, the others become ready.
void complete(WarpOperation operation, unsigned mask, Thread &caller) {
    uint64_t votes = 0, results[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (mask >> lane & 1) votes |= (lane_of(caller, lane)->value & 1) << lane;
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        const unsigned source = lane_of(caller, lane)->source & (LANES - 1);
        // What a lane outside the mask would bring is undefined.
        const uint64_t undefined = 0x0101010101010101ull * settings.poison;
        results[lane] = operation == WarpOperation::BALLOT ? votes
                        : mask >> source & 1               ? lane_of(caller, source)->value
                                                           : undefined;
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        lane_of(caller, lane)->value = results[lane];
        lane_of(caller, lane)->state = State::READY;
    }
}

// Whether all other lanes of the mask wait in the same operation; a fault where one cannot come any more.
bool others_wait(const Thread &t, unsigned mask, Where at) {
    bool all = true;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1) || lane == t.lane) continue;
        if (t.warp * LANES + lane >= thread_count) fault("mask names a lane beyond the block", at);
        const Thread &other = *lane_of(t, lane);
        if (other.state == State::ENDED) fault("mask names a lane that has ended", at);
        if (other.state == State::IN_WARP && !(other.at == at)) {
            fault(("lanes meet in different warp operations, the other at line " + std::to_string(other.at.line)).c_str(), at);
        }
        all &= other.state == State::IN_WARP;
    }
    return all;
}

}  // namespace

unsigned barrier(bool predicate, Where at) {
    Thread &t = current();
    t.state = State::AT_BARRIER;
    t.predicate = predicate;
    t.at = at;
    TSAN(char *token = &block_tokens[block_phase & 1]; __tsan_release(token);)
    leave();
    TSAN(__tsan_acquire(token);)
    return predicates;
}

uint64_t meet(WarpOperation operation, unsigned mask, uint64_t value, unsigned source, Where at) {
    Thread &t = current();
    t.carry_lives = false;
    if (!(mask >> t.lane & 1)) fault("lane in a warp operation whose mask leaves it out", at);
    t.value = value;
    t.source = source;
    t.at = at;
    // Of the warp operations only __syncwarp orders memory.
    TSAN(const bool orders = operation == WarpOperation::SYNC; char *token = &warp_tokens[t.warp][warp_phases[t.warp] & 1];
         if (orders) __tsan_release(token);)
    if (others_wait(t, mask, at)) {
        complete(operation, mask, t);
        TSAN(warp_phases[t.warp]++;)
    } else {
        t.state = State::IN_WARP;
        leave();
    }
    TSAN(if (orders) __tsan_acquire(token);)
    return t.value;
}

void before_atomic() {
    if (settings.order == Settings::RANDOM && settings.random() % 4 == 0) leave();
}

void fault(const char *what, Where at) {
    report(what, at);
    abandon(LAUNCH_FAILED);
}

void abandon(int code) {
    running.fault = code;
    leave();
    __builtin_unreachable();
}

bool in_kernel() { return on_fiber && pthread_equal(kernel_thread, pthread_self()); }

bool beyond_stack(const char *address) { return in_guard_page(stacks[self->index], address); }

uint64_t switches() { return continued; }

void run_block(const Block &block) {
    if (running.fault) return;
    kernel_thread = pthread_self();
    TSAN(scheduler.tsan = __tsan_get_current_fiber();)
    if (emulated_shared_begin) std::fill(emulated_shared_begin, emulated_shared_end, char(settings.poison));
    thread_count = block.size.x * block.size.y * block.size.z;
    for (unsigned i = 0; i < thread_count; i++) begin(threads[i], i, block);
    TSAN(__tsan_acquire(&end_token); __tsan_release(&begin_token);)
    static std::vector<unsigned> &order = *new std::vector<unsigned>;
    order.resize(thread_count);
    const auto ended = [](const Thread &t) { return t.state == State::ENDED; };
    for (;;) {
        put_in_order(order);
        run_ready(order);
        if (running.fault || std::all_of(threads, threads + thread_count, ended) || !at_one_barrier()) break;
        pass_barrier();
    }
    TSAN(__tsan_acquire(&end_token);)
    self = nullptr;
}

}  // namespace emulator
