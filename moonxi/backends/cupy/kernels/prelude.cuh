// What every kernel source begins with. It includes nothing, so that NVRTC needs no headers of CUDA.
//
// After it come the types T, how an element lies in memory, and A, which is computed in (sources.py). Every kernel
// works with any number of blocks and of threads, a power of two in a block: its loops go in steps of the grid.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

struct f16 { u16 bits; };
struct bf16 { u16 bits; };

#ifndef ON_HOST
#define KERNEL extern "C" __global__ void
#define DEVICE __device__ __forceinline__
#define IN_PLACE const __grid_constant__
DEVICE float load(f16 x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
DEVICE void keep(float x, f16& y) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); }
DEVICE void keep(float x, bf16& y) {
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(0.0f), "f"(x));
    y.bits = (u16)both;
}
DEVICE float as_float(u32 bits) { return __uint_as_float(bits); }
DEVICE u32 as_bits(float x) { return __float_as_uint(x); }
DEVICE u64 high_product(u64 x, u64 y) { return __umul64hi(x, y); }
#define INFINITY as_float(0x7f800000u)
#define NAN as_float(0x7fc00000u)
#endif

DEVICE float load(float x) { return x; }
DEVICE double load(double x) { return x; }
DEVICE i64 load(i64 x) { return x; }
DEVICE u8 load(u8 x) { return x; }
DEVICE float load(bf16 x) { return as_float((u32)x.bits << 16); }

DEVICE void keep(float x, float& y) { y = x; }
DEVICE void keep(double x, float& y) { y = (float)x; }
DEVICE void keep(double x, double& y) { y = x; }
DEVICE void keep(float x, double& y) { y = x; }
DEVICE void keep(i64 x, i64& y) { y = x; }
DEVICE void keep(u8 x, u8& y) { y = x; }
DEVICE void keep(double x, f16& y) { keep((float)x, y); }
DEVICE void keep(double x, bf16& y) { keep((float)x, y); }

const int RANK = 12;

// How up to four arrays are walked: sizes of the axes, and the stride of each array along each axis, in elements.
struct Walk {
    u64 count;
    i64 rank;
    i64 size[RANK];
    i64 stride[4][RANK];
};

template <typename I, int N> DEVICE void offsets_as(const Walk& walk, I place, i64* offset) {
    for (int n = 0; n < N; n++) offset[n] = 0;
    for (int axis = (int)walk.rank - 1; axis > 0; axis--) {
        I size = (I)walk.size[axis], rest = place / size;
        i64 at = (i64)(place - rest * size);
        for (int n = 0; n < N; n++) offset[n] += at * walk.stride[n][axis];
        place = rest;
    }
    for (int n = 0; n < N; n++) offset[n] += (i64)place * walk.stride[n][0];
}

// Where in each of the first N arrays an element lies, counted in row-major order; 32-bit division is far faster.
template <int N> DEVICE void offsets(const Walk& walk, u64 place, i64* offset) {
    if (walk.count >> 32) offsets_as<u64, N>(walk, place, offset);
    else offsets_as<u32, N>(walk, (u32)place, offset);
}

#define EACH(i, count) for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < (count); i += (u64)gridDim.x * blockDim.x)

template <typename X> DEVICE bool is_nan(X x) { return x != x; }
template <typename X> DEVICE X larger(X x, X y) { return is_nan(x) ? x : is_nan(y) ? y : x < y ? y : x; }
