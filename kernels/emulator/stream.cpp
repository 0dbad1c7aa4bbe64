#include "stream.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace emulator {

static std::vector<Stream *> &streams = *new std::vector<Stream *>;

Stream *new_stream(int device, unsigned flags, int priority) {
    streams.push_back(new Stream{device, flags, priority});
    return streams.back();
}

Stream &default_stream(int device) {
    static Stream *made[MOST_DEVICES];
    if (!made[device]) made[device] = new_stream(device, 0, 0);
    return *made[device];
}

Stream *stream_of(void *handle) {
    // 1 and 2 are CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
    if (reinterpret_cast<uintptr_t>(handle) <= 2) return &default_stream(current_context->device);
    const auto found = std::find(streams.begin(), streams.end(), handle);
    if (found == streams.end() || (*found)->destroyed || (*found)->device != current_context->device) return nullptr;
    return *found;
}

// Whether work hangs before the position.
static bool stuck(Position position) {
    const Stream &s = *position.stream;
    for (size_t i = 0; i < s.queue.size() && s.finished + i < position.at; i++) {
        const Work &work = s.queue[i];
        if (work.hangs || std::any_of(work.after.begin(), work.after.end(), stuck)) return true;
    }
    return false;
}

static Position next(Stream &s) { return {&s, s.finished + 1}; }

// Runs the stream's first piece of work, which does not hang.
static void step(Stream &s) {
    s.busy = true;
    const Work work = std::move(s.queue.front());
    s.queue.pop_front();
    for (const Position &before : work.after) reach(before);
    int &sticky = contexts[s.device].sticky;
    if (!sticky) {
        if (work.of_host) lock.unlock();
        const int code = work.run();
        if (work.of_host) lock.lock();
        if (!sticky) sticky = code;
    }
    s.busy = false;
    s.finished++;
}

int reach(Position position) {
    Stream &s = *position.stream;
    while (s.finished < position.at) {
        if (contexts[s.device].sticky) drop_work(s.device);
        if (s.busy || (!s.queue.empty() && s.queue.front().hangs)) wait_a_moment();
        else if (!s.queue.empty()) step(s);
        else break;
    }
    return contexts[s.device].sticky;
}

int finish(Stream &stream) { return reach({&stream, stream.enqueued}); }

int finish_device(int device) {
    for (size_t i = 0; i < streams.size(); i++) {
        if (streams[i]->device == device) finish(*streams[i]);
    }
    return contexts[device].sticky;
}

int query(Position position) {
    Stream &s = *position.stream;
    const int &sticky = contexts[s.device].sticky;
    if (!sticky && s.finished >= position.at) return SUCCESS;
    if (!sticky && !s.busy && !stuck(next(s))) step(s);
    return sticky ? sticky : NOT_READY;
}

void enqueue(Stream &s, Work work) {
    constexpr unsigned NON_BLOCKING = 1;
    Stream &legacy = default_stream(s.device);
    if (&s == &legacy) {
        for (Stream *other : streams) {
            const bool ordered = other != &s && other->device == s.device && !(other->flags & NON_BLOCKING);
            if (ordered && other->finished < other->enqueued) work.after.push_back({other, other->enqueued});
        }
    } else if (!(s.flags & NON_BLOCKING) && legacy.finished < legacy.enqueued) {
        work.after.push_back({&legacy, legacy.enqueued});
    }
    s.queue.push_back(std::move(work));
    s.enqueued++;
    while (!settings.lazy && !s.busy && !s.queue.empty() && !contexts[s.device].sticky && !stuck(next(s))) step(s);
}

void drop_work(int device) {
    for (Stream *s : streams) {
        if (s->device != device) continue;
        s->queue.clear();
        s->finished = s->enqueued - s->busy;
    }
}

void wait_a_moment() {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
}

}  // namespace emulator
