// The kernels as plain C++, to run with one block of one thread: see kernels.py.
#include <cmath>
#include <cstring>
#include <algorithm>
#define ON_HOST
#define KERNEL extern "C" void
#define DEVICE inline __attribute__((visibility("hidden")))
#define IN_PLACE const
#define __shared__ static
#define __syncthreads() ((void)0)
using std::exp; using std::log; using std::log1p; using std::tanh; using std::sqrt; using std::floor; using std::pow;
using std::sin; using std::cos; using std::min; using std::expm1; using std::erf;
struct Three { unsigned x, y, z; };
static const Three threadIdx = {0, 0, 0}, blockIdx = {0, 0, 0}, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};
struct f16; struct bf16;
DEVICE float as_float(unsigned bits) { float x; std::memcpy(&x, &bits, 4); return x; }
DEVICE unsigned as_bits(float x) { unsigned bits; std::memcpy(&bits, &x, 4); return bits; }
DEVICE unsigned long long high_product(unsigned long long x, unsigned long long y) {
    return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
DEVICE unsigned long long atomicCAS(unsigned long long* at, unsigned long long expected, unsigned long long value) {
    unsigned long long before = *at;
    if (before == expected) *at = value;
    return before;
}
DEVICE void atomicAdd(double* at, double value) { *at += value; }
DEVICE float load(f16 x);
DEVICE void keep(float x, f16& y);
DEVICE void keep(float x, bf16& y);
template <int N> DEVICE void read_words(const void* from, unsigned (&words)[N]) { std::memcpy(words, from, 4 * N); }
template <int N> DEVICE void write_words(void* to, const unsigned (&words)[N]) { std::memcpy(to, words, 4 * N); }
DEVICE float from_lane(float x, unsigned step) { return x; }
DEVICE double from_lane(double x, unsigned step) { return x; }
