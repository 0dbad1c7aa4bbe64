/* A CUDA driver of two devices for tests/gpu.rs and tests/cli_devices.rs. Its answers are changed by environment variables:
 *   FAKE_INIT, FAKE_COUNT_CODE, FAKE_NAME, FAKE_RETAIN, FAKE_VERSION   result code of that call
 *   FAKE_COUNT                                                         number of devices
 *   FAKE_CUDA                                                          CUDA version, 13010 for 13.1
 *   FAKE_MODE                                                          compute mode of the first device, 2 for prohibited
 *   FAKE_MAJOR                                                         major compute capability of the first device
 *   FAKE_LONG_NAME                                                     a name without a terminating zero
 * Compiled with NOT_A_DRIVER it has no cuInit, with OLD no cuDeviceGetUuid_v2, with EMULATED it says that it is an emulated device. */
#include <stdlib.h>
#include <string.h>

static int code(const char *variable) {
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

#ifdef EMULATED
const int cuzk_emulated_device = 1;
#endif

static int retained[2], current = -1;

#ifndef NOT_A_DRIVER
int cuInit(unsigned flags) { return flags ? 1 : code("FAKE_INIT"); }
#endif

int cuDriverGetVersion(int *version) {
    *version = getenv("FAKE_CUDA") ? code("FAKE_CUDA") : 13010;
    return code("FAKE_VERSION");
}

int cuDeviceGetCount(int *count) {
    *count = getenv("FAKE_COUNT") ? code("FAKE_COUNT") : 2;
    return code("FAKE_COUNT_CODE");
}

int cuDeviceGet(int *device, int ordinal) {
    if (ordinal < 0 || ordinal > 1) return 101;
    *device = 70 + ordinal; /* a handle is not an ordinal */
    return 0;
}

int cuDeviceGetName(char *name, int length, int device) {
    if (getenv("FAKE_LONG_NAME"))
        memset(name, 'x', length);
    else
        strncpy(name, device == 70 ? "Fake H200" : "Fake 4090", length);
    return code("FAKE_NAME");
}

#ifndef OLD
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
    for (int i = 0; i < 16; i++) uuid[i] = 0xf0 + i;
    uuid[0] = device;
    return 0;
}
#endif

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = device == 70 ? (size_t)141 << 30 : (size_t)24 << 30;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    if (attribute == 75) *value = device == 71 ? 8 : getenv("FAKE_MAJOR") ? code("FAKE_MAJOR") : 9;
    else if (attribute == 76) *value = device == 70 ? 0 : 9;
    else if (attribute == 20) *value = device == 70 ? code("FAKE_MODE") : 0;
    else return 1;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    int failure = code("FAKE_RETAIN");
    if (failure) return failure;
    retained[device - 70]++;
    *context = &retained[device - 70];
    return 0;
}

int cuCtxPushCurrent_v2(void *context) {
    if (current >= 0) return 202;
    current = (int)((int *)context - retained);
    return 0;
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
    /* Only the device whose context is retained and current may be asked, and none may be left behind. */
    if (current < 0 || retained[current] != 1 || retained[!current] != 0) return 201;
    *free = (size_t)(current ? 20 : 139) << 30;
    *total = (size_t)(current ? 24 : 141) << 30;
    return 0;
}

int cuCtxPopCurrent_v2(void **context) {
    if (current < 0) return 201;
    *context = &retained[current];
    current = -1;
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    retained[device - 70]--;
    return 0;
}

/* Knows one text only, as a driver older than its caller may. */
int cuGetErrorString(int error, const char **text) {
    if (error != 2) {
        *text = 0;
        return 1;
    }
    *text = "fake out of memory";
    return 0;
}
