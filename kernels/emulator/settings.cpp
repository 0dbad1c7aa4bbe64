#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace emulator {

Settings settings;

// The whole of `text` as a number, 0x and 0 before it as in C.
static bool number(const std::string &text, uint64_t most, uint64_t &value) {
    char *end = nullptr;
    value = strtoull(text.c_str(), &end, 0);
    return !text.empty() && text[0] != '-' && *end == 0 && value <= most;
}

static bool order(const std::string &text) {
    if (text == "forward") return settings.order = Settings::FORWARD, true;
    if (text == "backward") return settings.order = Settings::BACKWARD, true;
    uint64_t seed = 0;
    if (text.rfind("random:", 0) != 0 || !number(text.substr(7), UINT32_MAX, seed)) return false;
    settings.order = Settings::RANDOM;
    settings.random.seed(unsigned(seed));
    return true;
}

static bool one_of(const std::string &text, const char *no, const char *yes, bool &value) {
    value = text == yes;
    return value || text == no;
}

static bool injection(const std::string &text) {
    static const std::map<std::string, Injection::Kind> kinds = {{"alloc", Injection::ALLOCATION},
                                                                 {"launch", Injection::LAUNCH},
                                                                 {"copy", Injection::COPY},
                                                                 {"hang", Injection::HANG},
                                                                 {"flip", Injection::FLIP}};
    const size_t colon = text.find(':'), equals = text.find('=');
    const auto kind = kinds.find(text.substr(0, colon));
    if (colon == std::string::npos || kind == kinds.end()) return false;
    Injection made{kind->second, 0, 0};
    const bool valued = equals != std::string::npos;
    if (valued == (made.kind == Injection::HANG)) return false;
    const std::string count = text.substr(colon + 1, valued ? equals - colon - 1 : std::string::npos);
    if (!number(count, UINT64_MAX, made.count) || made.count == 0) return false;
    const uint64_t most = made.kind == Injection::FLIP ? UINT64_MAX : 999;
    if (valued && !number(text.substr(equals + 1), most, made.value)) return false;
    if (valued && made.kind != Injection::FLIP && made.value == 0) return false;
    settings.injections.push_back(made);
    return true;
}

static bool injections(const std::string &text) {
    for (size_t from = 0; from <= text.size();) {
        const size_t to = std::min(text.find(',', from), text.size());
        if (!injection(text.substr(from, to - from))) return false;
        from = to + 1;
    }
    return true;
}

// Whether the variable is unset or empty, or `parse` takes it.
template <class Parse>
static bool variable(const char *name, const char *expected, Parse parse) {
    const char *text = getenv(name);
    if (!text || !*text || parse(std::string(text))) return true;
    fprintf(stderr, "emulator: %s is \"%s\"; expected %s\n", name, text, expected);
    return false;
}

bool read_settings() {
    uint64_t value = 0;
    return variable("EMULATOR_ORDER", "forward, backward or random:SEED", order) &&
           variable("EMULATOR_STREAMS", "eager or lazy",
                    [](const std::string &text) { return one_of(text, "eager", "lazy", settings.lazy); }) &&
           variable("EMULATOR_DEVICES", "a number of devices, 0 to 16",
                    [&](const std::string &text) { return number(text, 16, value) && (settings.devices = int(value), true); }) &&
           variable("EMULATOR_MEMORY", "bytes of memory of each device",
                    [&](const std::string &text) { return number(text, SIZE_MAX, value) && (settings.memory = value, true); }) &&
           variable("EMULATOR_POISON", "the byte that fills memory nothing wrote, 0 to 255",
                    [&](const std::string &text) { return number(text, 255, value) && (settings.poison = (unsigned char)value, true); }) &&
           variable("EMULATOR_UNWRITTEN", "fault or allow",
                    [](const std::string &text) { return one_of(text, "allow", "fault", settings.unwritten_is_fault); }) &&
           variable("EMULATOR_INJECT", "a list of alloc:N=CODE, launch:N=CODE, copy:N=CODE, hang:N, flip:N=BIT", injections);
}

const Injection *next_of(Injection::Kind kind) {
    static uint64_t counts[Injection::FLIP + 1];
    counts[kind]++;
    for (const Injection &injection : settings.injections) {
        if (injection.kind == kind && injection.count == counts[kind]) return &injection;
    }
    return nullptr;
}

}  // namespace emulator
