#include "faults.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "block.h"
#include "memory.h"

namespace emulator {

// What the handler saw of the signal that ended the launch; looked at afterwards, on an ordinary stack.
static struct {
    int number;
    const char *address;
    uintptr_t instruction;
    bool stack_overflow;
    Self thread;
    uint3 block;
} seen;

static constexpr int CAUGHT[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
static struct sigaction earlier[65];

static std::string in(const Self &t, const uint3 &block) {
    char text[200];
    snprintf(text, sizeof text, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u)", running.kernel->name, block.x, block.y,
             block.z, t.id.x, t.id.y, t.id.z);
    return text;
}

void report(const char *what, Where at) {
    fprintf(stderr, "emulator: %s:%d: %s: %s\n", at.file, at.line, what, in(*self, self->block->id).c_str());
}

void report(const char *what) { fprintf(stderr, "emulator: %s\n", what); }

// The source line of an instruction, as binutils find it; the offset in its library without them.
static std::string line_of(uintptr_t instruction) {
    Dl_info library;
    if (!dladdr(reinterpret_cast<void *>(instruction), &library)) return "?";
    char text[4200];
    const unsigned long offset = instruction - reinterpret_cast<uintptr_t>(library.dli_fbase);
    snprintf(text, sizeof text, "addr2line -e '%s' 0x%lx 2>/dev/null", library.dli_fname, offset);
    std::string line;
    if (FILE *answer = popen(text, "r")) {
        if (fgets(text, sizeof text, answer)) line = text;
        pclose(answer);
    }
    line = line.substr(0, line.find_first_of(" \n"));
    while (line.rfind("./", 0) == 0) line.erase(0, 2);
    snprintf(text, sizeof text, "%s+0x%lx", library.dli_fname, offset);
    return line.empty() || line[0] == '?' ? text : line;
}

static uintptr_t instruction_of(void *context) {
    [[maybe_unused]] const mcontext_t &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    return uintptr_t(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine.pc;
#else
    return 0;
#endif
}

// As if this handler had never been: to the program's own handler, or to the signal's usual end.
static void pass_on(int number, siginfo_t *info, void *context) {
    const struct sigaction &before = earlier[number];
    if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
    signal(number, SIG_DFL);
    raise(number);
}

static void on_signal(int number, siginfo_t *info, void *context) {
    const char *address = static_cast<const char *>(info->si_addr);
    if (!in_kernel()) {
        bool known = false;
        if (number == SIGSEGV || number == SIGBUS) {
            const std::string where = describe(address, known);
            if (known) report(("host access of device memory: " + where).c_str());
        }
        return pass_on(number, info, context);
    }
    seen = {number, address, instruction_of(context), beyond_stack(address), *self, self->block->id};
    // The handler is left by switching stacks, not by returning: nothing else unblocks its signals.
    sigset_t caught;
    sigemptyset(&caught);
    for (int each : CAUGHT) sigaddset(&caught, each);
    pthread_sigmask(SIG_UNBLOCK, &caught, nullptr);
    abandon(number == SIGSEGV || number == SIGBUS ? ILLEGAL_ADDRESS : LAUNCH_FAILED);
}

static std::string words() {
    if (seen.number == SIGILL || seen.number == SIGTRAP) {
        return "trap (an index out of its array, a shift by too much, or a trap of the kernel's own)";
    }
    if (seen.number == SIGFPE) return "division by zero";
    if (seen.stack_overflow) return "a thread's stack overflows";
    bool known = false;
    char text[64];
    snprintf(text, sizeof text, "illegal address %p: ", static_cast<const void *>(seen.address));
    return text + describe(seen.address, known);
}

void catch_signals() {
    static thread_local bool has_stack = false;
    if (!has_stack) {
        has_stack = true;
        stack_t stack{};
        sigaltstack(nullptr, &stack);
        // A small one of the program's would do for its own handlers, perhaps not for ours. Never freed: a thread's last
        // signal may come after its destructors.
        if ((stack.ss_flags & SS_DISABLE) || stack.ss_size < (64 << 10)) {
            stack = {};
            stack.ss_size = 64 << 10;
            stack.ss_sp = malloc(stack.ss_size);
            if (stack.ss_sp) sigaltstack(&stack, nullptr);
        }
    }
    static bool installed = false;
    if (installed) return;
    installed = true;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int number : CAUGHT) sigaction(number, &action, &earlier[number]);
}

void report_signal() {
    if (!seen.number) return;
    fprintf(stderr, "emulator: %s: %s: %s\n", line_of(seen.instruction).c_str(), words().c_str(),
            in(seen.thread, seen.block).c_str());
    seen = {};
}

}  // namespace emulator
