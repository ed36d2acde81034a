// What the kernels of waves (wave_source.py) are made of; after functions.cuh. They run with LANES threads in a block.
//
// A product is computed in parts: each is a sum over some of the places along the inner axis. Parts of all elements lie
// in `arena`, one part after the other; `of_parts` brings those of an element together.

#ifdef ON_HOST
#define LANES 1u
DEVICE float times_and(float a, float b, float c) { return a * b + c; }
DEVICE double times_and(double a, double b, double c) { return a * b + c; }
DEVICE void barrier() {}
#else
#define LANES 256u
DEVICE float times_and(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE double times_and(double a, double b, double c) { return fma(a, b, c); }
DEVICE void barrier() { __syncthreads(); }
#endif

template <typename X> DEVICE void bring(const X* from, A* to) { *to = load(*from); }
#ifdef ON_HOST
DEVICE void brought() {}
#else
// Without waiting: the copy goes on while the next ones are asked for.
DEVICE void bring(const float* from, float* to) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from));
}
DEVICE void brought() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif

template <int PARTS, int PITCH> DEVICE A of_parts(const A* first) {
    A total = 0;
#pragma unroll
    for (int part = 0; part < PARTS; part++) total += first[part * PITCH];
    return total;
}

// A tile of TN x TM elements of a product over K places, of which KC are in the arena at a time. `left(i, k, to)` and
// `right(k, j, to)` bring an element of the tile, or zero; LEFT_LAST and RIGHT_LAST say that their last axis is the one
// along which memory lies together. Each thread has squares of 4 x 4 elements.
template <int TN, int TM, int K, int KC, int PARTS, bool LEFT_LAST, bool RIGHT_LAST, typename Left, typename Right>
DEVICE void products(const Left& left, const Right& right, A* arena) {
    const int ACROSS = TM / 4, ITEMS = TN / 4 * ACROSS * PARTS, MINE = (ITEMS + LANES - 1) / LANES;
    A* lefts = arena;  // one more than a tile in a row: neighbours then lie in different banks
    A* rights = arena + KC * (TN + 1);
    A sums[MINE][16];
#pragma unroll
    for (int n = 0; n < MINE; n++)
#pragma unroll
        for (int m = 0; m < 16; m++) sums[n][m] = 0;
    for (u32 first = 0; first < K; first += KC) {
        if (first) barrier();
#pragma unroll 8
        for (u32 e = threadIdx.x; e < TN * KC; e += LANES) {
            u32 i = LEFT_LAST ? e / KC : e % TN, k = LEFT_LAST ? e % KC : e / TN;
            left(i, first + k, lefts + k * (TN + 1) + i);
        }
#pragma unroll 8
        for (u32 e = threadIdx.x; e < TM * KC; e += LANES) {
            u32 j = RIGHT_LAST ? e % TM : e / KC, k = RIGHT_LAST ? e / TM : e % KC;
            right(first + k, j, rights + k * (TM + 1) + j);
        }
        brought();
        barrier();
#pragma unroll
        for (int n = 0; n < MINE; n++) {
            u32 item = threadIdx.x + n * LANES, part = item % PARTS, square = item / PARTS;
            if (item < ITEMS) {
                const A* x = lefts + square / ACROSS * 4;
                const A* y = rights + square % ACROSS * 4;
#pragma unroll 4
                for (u32 k = part; k < KC; k += PARTS) {
                    A a[4], b[4];
#pragma unroll
                    for (int m = 0; m < 4; m++) {
                        a[m] = x[k * (TN + 1) + m];
                        b[m] = y[k * (TM + 1) + m];
                    }
#pragma unroll
                    for (int m = 0; m < 16; m++) sums[n][m] = times_and(a[m / 4], b[m % 4], sums[n][m]);
                }
            }
        }
    }
    barrier();
#pragma unroll
    for (int n = 0; n < MINE; n++) {
        u32 item = threadIdx.x + n * LANES, part = item % PARTS, square = item / PARTS;
        if (item < ITEMS) {
            A* to = arena + part * (TN * TM + 1) + square / ACROSS * 4 * TM + square % ACROSS * 4;
#pragma unroll
            for (int m = 0; m < 16; m++) to[m / 4 * TM + m % 4] = sums[n][m];
        }
    }
    barrier();
}

// Sums of TM columns over K rows: `x(k, j)` is an element.
template <int TM, int K, int PARTS, typename X> DEVICE void column_sums(const X& x, A* arena) {
    for (u32 item = threadIdx.x; item < TM * PARTS; item += LANES) {
        u32 j = item % TM, part = item / TM;
        A total = 0;
#pragma unroll 8
        for (u32 k = part; k < K; k += PARTS) total += x(k, j);
        arena[item] = total;
    }
    barrier();
}

// R rows of K elements, in a block, times a matrix whose elements `right(k, j)` are read from memory; RIGHT_LAST as above.
template <int R, int K, int M, int PARTS, bool RIGHT_LAST, typename Right>
DEVICE void row_products(const A* left, const Right& right, A* arena) {
#pragma unroll 4
    for (u32 item = threadIdx.x; item < R * M * PARTS; item += LANES) {
        u32 part = RIGHT_LAST ? item / (R * M) : item % PARTS, e = RIGHT_LAST ? item % (R * M) : item / PARTS;
        u32 r = e / M, j = e % M;
        A total = 0;
#pragma unroll 8
        for (u32 k = part; k < K; k += PARTS) total = times_and(left[r * K + k], right(k, j), total);
        arena[part * (R * M + 1) + e] = total;
    }
    barrier();
}

// Sums or the largest of R rows of W elements `x(r, j)`.
template <int R, int W, int PARTS, bool LARGEST, typename X> DEVICE void row_parts(const X& x, A* arena) {
    for (u32 item = threadIdx.x; item < R * PARTS; item += LANES) {
        u32 part = item % PARTS, r = item / PARTS;
        A found = LARGEST ? -(A)INFINITY : (A)0;
        for (u32 j = part; j < W; j += PARTS) found = LARGEST ? larger(found, x(r, j)) : found + x(r, j);
        arena[item] = found;
    }
    barrier();
}

template <int PARTS, bool LARGEST> DEVICE A of_row(const A* first) {
    A found = first[0];
    for (int part = 1; part < PARTS; part++) found = LARGEST ? larger(found, first[part]) : found + first[part];
    return found;
}

// The sum of what the threads of a block have, at an address.
DEVICE void add_up(A mine, A* out) {
    __shared__ A shared[LANES];
    shared[threadIdx.x] = mine;
    barrier();
    for (u32 half = LANES / 2; half; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        barrier();
    }
    if (threadIdx.x == 0) *out = shared[0];
}
