// Driver calls: streams, events, host functions.

#include <chrono>
#include <map>
#include <memory>

#include "driver.h"
#include "stream.h"

namespace emulator {

struct Event {
    bool timing;
    // Where it was last recorded; no stream where it never was.
    Position position{nullptr, 0};
    std::chrono::steady_clock::time_point time{};
};

// Work that names an event keeps it alive when the program destroys it.
static auto &events = *new std::map<void *, std::shared_ptr<Event>>;

static std::shared_ptr<Event> event_of(void *handle) {
    const auto found = events.find(handle);
    return found == events.end() ? nullptr : found->second;
}

static bool is_done(const Event &e) { return e.position.stream->finished >= e.position.at; }

}  // namespace emulator

using namespace emulator;

API(cuStreamCreateWithPriority)(void **handle, unsigned flags, int priority) {
    IN_CONTEXT;
    return *handle = new_stream(current_context->device, flags, priority), SUCCESS;
}

API(cuStreamCreate)(void **handle, unsigned flags) { return cuStreamCreateWithPriority(handle, flags, 0); }

API(cuStreamGetPriority)(void *handle, int *priority) {
    IN_CONTEXT;
    Stream *stream = stream_of(handle);
    return stream ? *priority = stream->priority, SUCCESS : INVALID_HANDLE;
}

API(cuStreamGetFlags)(void *handle, unsigned *flags) {
    IN_CONTEXT;
    Stream *stream = stream_of(handle);
    return stream ? *flags = stream->flags, SUCCESS : INVALID_HANDLE;
}

API(cuStreamSynchronize)(void *handle) {
    IN_CONTEXT;
    Stream *stream = stream_of(handle);
    return stream ? finish(*stream) : INVALID_HANDLE;
}

API(cuStreamQuery)(void *handle) {
    IN_CONTEXT;
    Stream *stream = stream_of(handle);
    return stream ? query({stream, stream->enqueued}) : INVALID_HANDLE;
}

// Its work still runs, when something waits for it.
API(cuStreamDestroy_v2)(void *handle) {
    IN_CONTEXT;
    Stream *stream = stream_of(handle);
    if (!stream || stream == &default_stream(current_context->device)) return INVALID_HANDLE;
    return stream->destroyed = true, SUCCESS;
}

API(cuEventCreate)(void **handle, unsigned flags) {
    IN_CONTEXT;
    constexpr unsigned DISABLE_TIMING = 2;
    auto event = std::make_shared<Event>(Event{!(flags & DISABLE_TIMING)});
    events[event.get()] = event;
    return *handle = event.get(), SUCCESS;
}

API(cuEventDestroy_v2)(void *handle) {
    LOCKED;
    return events.erase(handle) ? SUCCESS : INVALID_HANDLE;
}

API(cuEventRecord)(void *handle, void *stream_handle) {
    IN_CONTEXT;
    const auto event = event_of(handle);
    Stream *stream = stream_of(stream_handle);
    if (!event || !stream) return INVALID_HANDLE;
    const uint64_t at = stream->enqueued + 1;
    event->position = {stream, at};
    enqueue(*stream, {[=] {
        // Unless it was recorded again meanwhile.
        if (event->position.stream == stream && event->position.at == at) event->time = std::chrono::steady_clock::now();
        return SUCCESS;
    }});
    return SUCCESS;
}

API(cuEventSynchronize)(void *handle) {
    IN_CONTEXT;
    const auto event = event_of(handle);
    if (!event) return INVALID_HANDLE;
    return event->position.stream ? reach(event->position) : SUCCESS;
}

API(cuEventQuery)(void *handle) {
    IN_CONTEXT;
    const auto event = event_of(handle);
    if (!event) return INVALID_HANDLE;
    return event->position.stream ? query(event->position) : SUCCESS;
}

API(cuEventElapsedTime)(float *milliseconds, void *from, void *to) {
    IN_CONTEXT;
    const auto begin = event_of(from), end = event_of(to);
    if (!begin || !end || !begin->timing || !end->timing) return INVALID_HANDLE;
    if (!begin->position.stream || !end->position.stream) return INVALID_HANDLE;
    if (!is_done(*begin) || !is_done(*end)) return NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return SUCCESS;
}

API(cuStreamWaitEvent)(void *stream_handle, void *handle, unsigned) {
    IN_CONTEXT;
    const auto event = event_of(handle);
    Stream *stream = stream_of(stream_handle);
    if (!event || !stream) return INVALID_HANDLE;
    // What the event stands for now, whatever is recorded in it later.
    if (event->position.stream) enqueue(*stream, {[] { return SUCCESS; }, {event->position}});
    return SUCCESS;
}

API(cuLaunchHostFunc)(void *handle, void (*function)(void *), void *argument) {
    IN_CONTEXT;
    Stream *stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    enqueue(*stream, {[=] { return function(argument), int(SUCCESS); }, {}, false, true});
    return SUCCESS;
}
