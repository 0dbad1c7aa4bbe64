// One planted fault a kernel, for tests/emulator.rs. The comment `fault NAME` marks the line that the report has to name.
#include "../../kernels/emulator/kernel.cuh"
#include "../../kernels/ff/carry.cuh"

extern "C" __global__ void reads_past_the_end(const uint32_t *in, uint32_t n, uint32_t *out) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        out[0] = in[i];  // fault reads_past_the_end
    }
}
KERNEL(reads_past_the_end)

extern "C" __global__ void writes_before(uint32_t *data, int distance) {
    data[-distance] = 1;  // fault writes_before
}
KERNEL(writes_before)

extern "C" __global__ void writes_beside(uint32_t *data, uint32_t n) { data[n] = 1; }
KERNEL(writes_beside)

// Reads through an address that it finds in memory.
extern "C" __global__ void follows(const uint32_t *const *where, uint32_t *out) {
    out[0] = **where;  // fault follows
}
KERNEL(follows)

extern "C" __global__ void leaves_before_barrier(uint32_t *out) {
    if (threadIdx.x == 3) return;
    __syncthreads();  // fault leaves_before_barrier
    out[threadIdx.x] = 1;
}
KERNEL(leaves_before_barrier)

extern "C" __global__ void parts_at_barriers(uint32_t *out) {
    if (threadIdx.x < 4) {
        __syncthreads();
    } else {
        __syncthreads();  // fault parts_at_barriers
    }
    out[threadIdx.x] = 1;
}
KERNEL(parts_at_barriers)

extern "C" __global__ void shuffles_with_ended_lane(uint32_t *out) {
    if (threadIdx.x == 0) return;
    out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 1);  // fault shuffles_with_ended_lane
}
KERNEL(shuffles_with_ended_lane)

extern "C" __global__ void shuffles_while_others_wait(uint32_t *out) {
    if (threadIdx.x < 8) {
        out[threadIdx.x] = __shfl_down_sync(~0u, threadIdx.x, 1);  // fault shuffles_while_others_wait
    }
    __syncthreads();
}
KERNEL(shuffles_while_others_wait)

extern "C" __global__ void shuffles_outside_mask(uint32_t *out) {
    out[threadIdx.x] = __shfl_xor_sync(0xffffu, threadIdx.x, 1);  // fault shuffles_outside_mask
}
KERNEL(shuffles_outside_mask)

extern "C" __global__ void mixes_warp_operations(uint32_t *out) {
    if (threadIdx.x % 2) {
        out[threadIdx.x] = __ballot_sync(~0u, 1);  // fault mixes_warp_operations
    } else {
        out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 1);
    }
}
KERNEL(mixes_warp_operations)

extern "C" __global__ void reads_no_carry(uint32_t *out) {
    out[0] = addc(1, 2);  // fault reads_no_carry
}
KERNEL(reads_no_carry)

extern "C" __global__ void reads_used_carry(uint32_t *out) {
    out[0] = add_cc(1, 2);
    out[1] = addc(1, 2);
    out[2] = madc_hi(3, 4, 5);  // fault reads_used_carry
}
KERNEL(reads_used_carry)

extern "C" __global__ void carries_over_barrier(uint32_t *out) {
    out[0] = sub_cc(1, 2);
    __syncthreads();
    out[1] = subc(1, 2);  // fault carries_over_barrier
}
KERNEL(carries_over_barrier)

extern "C" __global__ void indexes_out_of_array(uint32_t *out, uint32_t i) {
    __shared__ uint32_t held[16];
    held[i + threadIdx.x] = 1;  // fault indexes_out_of_array
    __syncthreads();
    out[threadIdx.x] = held[threadIdx.x];
}
KERNEL(indexes_out_of_array)

extern "C" __global__ void outgrows_dynamic_shared(uint32_t *out) {
    DYNAMIC_SHARED(uint32_t, held);
    held[threadIdx.x] = 1;  // fault outgrows_dynamic_shared
    out[threadIdx.x] = 1;
}
KERNEL(outgrows_dynamic_shared)

extern "C" __global__ void shifts_too_far(uint32_t *out, uint32_t by) {
    out[0] = 1u << by;  // fault shifts_too_far
}
KERNEL(shifts_too_far)

extern "C" __global__ void divides_by_zero(uint32_t *out, uint32_t by) {
    out[0] = 7 / by;  // fault divides_by_zero
}
KERNEL(divides_by_zero)

// On one line: which of its instructions meets the guard page is the compiler's choice.
__device__ __attribute__((noinline)) uint32_t sum_in_stack(uint32_t depth) {
    volatile uint32_t words[1024]; words[0] = depth; return depth ? sum_in_stack(depth - 1) + words[0] : 0;  // fault overflows_stack
}
extern "C" __global__ void overflows_stack(uint32_t *out, uint32_t depth) { out[0] = sum_in_stack(depth); }
KERNEL(overflows_stack)

// Not reported: what it reads of shared memory is the poison.
extern "C" __global__ void reads_unwritten_shared(uint32_t *out) {
    __shared__ uint32_t held[32];
    if (threadIdx.x != 5) held[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = held[threadIdx.x];
}
KERNEL(reads_unwritten_shared)

// Every second element stays as it was.
extern "C" __global__ void writes_half(uint32_t *out) {
    if (threadIdx.x / 8 % 2 == 0) out[threadIdx.x] = threadIdx.x;
}
KERNEL(writes_half)

// No barrier between writing and reading: right in one order of threads only, and a race in all.
extern "C" __global__ void lacks_barrier(const uint32_t *in, uint32_t *out) {
    __shared__ uint32_t held[64];
    held[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = threadIdx.x ? held[threadIdx.x - 1] : 0;
}
KERNEL(lacks_barrier)

// Adds without an atomic: right in every order, since nothing comes between, and a race all the same.
extern "C" __global__ void loses_updates(uint32_t *sum) { *sum += threadIdx.x; }
KERNEL(loses_updates)

// A barrier where lanes of one warp would need it for shuffled work in shared memory.
extern "C" __global__ void lacks_syncwarp(uint32_t *out) {
    __shared__ uint32_t held[32];
    held[threadIdx.x] = threadIdx.x;
    const uint32_t next = __shfl_down_sync(~0u, threadIdx.x, 1);
    out[threadIdx.x] = held[next];
}
KERNEL(lacks_syncwarp)
