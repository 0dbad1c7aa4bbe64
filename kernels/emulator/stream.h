// Streams: queues of work that runs when something waits for it, or at once where streams are eager.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "driver.h"

namespace emulator {

struct Stream;

// The state of a stream when its first `at` pieces of work are done.
struct Position {
    Stream *stream;
    uint64_t at;
};

struct Work {
    // Returns the CUDA result.
    std::function<int()> run;
    // What has to be done before.
    std::vector<Position> after = {};
    // Never ends.
    bool hangs = false;
    // Runs code of the program, which may wait for its other threads: without the lock.
    bool of_host = false;
};

// Streams are never deleted: events go on naming them.
struct Stream {
    int device = 0;
    unsigned flags = 0;
    int priority = 0;
    std::deque<Work> queue = {};
    uint64_t enqueued = 0, finished = 0;
    // A piece of work runs.
    bool busy = false;
    bool destroyed = false;
};

Stream &default_stream(int device);
// The stream of a handle, in the current context; nullptr where it is none of this context's.
Stream *stream_of(void *handle);
Stream *new_stream(int device, unsigned flags, int priority);

// Adds work, ordered after what CUDA's legacy default stream orders it after.
void enqueue(Stream &stream, Work work);
// Runs what the position waits for; returns the stream's context's fault, if it has one. Waits for good where work hangs.
int reach(Position position);
int finish(Stream &stream);
int finish_device(int device);
// Without waiting: runs at most one piece of work, and answers SUCCESS, NOT_READY or the fault.
int query(Position position);
// Drops the work of all streams of the device.
void drop_work(int device);

}  // namespace emulator
