// Batch norm together with what is computed element by element before or after it; after functions.cuh, and LANES: how
// many channels a thread takes at a time. What follows is the struct Work of one generated kernel (norm_source.py).
//
// Tensors lie with the channels last, as rows of channels. A block works on a group of channels and on a part of the
// rows, threads that differ in x on other channels, those that differ in y on other rows. It goes through its part
// twice: for the statistics, and then, with those of all blocks of the group, for the results; the second time the
// elements come from a cache. The blocks of a group bring their statistics together in one of two ways: they are one
// cluster, and write into each other's shared memory (TOGETHER), or there are two kernels (MEASURE and APPLY).

enum Phase { TOGETHER, MEASURE, APPLY };

const int THREADS = 256;
const int MOST_BLOCKS = 16;                               // of a cluster
const int MOST_TOGETHER = LANES == 1 ? 8 : 2 * LANES;     // channels of a group, in a cluster
const int MOST_CHANNELS = 4 * MOST_TOGETHER;              // of a group otherwise

// -- elements -------------------------------------------------------------------------------------------------------

#ifndef ON_HOST
DEVICE void read_words(const void* from, u32 (&x)[4]) {
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "l"(from));
}
DEVICE void read_words(const void* from, u32 (&x)[2]) {
    asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(from));
}
DEVICE void read_words(const void* from, u32 (&x)[1]) {
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(x[0]) : "l"(from));
}
DEVICE void write_words(void* to, const u32 (&x)[4]) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "l"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]) : "memory");
}
DEVICE void write_words(void* to, const u32 (&x)[2]) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" :: "l"(to), "r"(x[0]), "r"(x[1]) : "memory");
}
DEVICE void write_words(void* to, const u32 (&x)[1]) {
    asm volatile("st.global.u32 [%0], %1;" :: "l"(to), "r"(x[0]) : "memory");
}
#endif

// LANES neighbours, in memory that the kernel does not write to; the address is a multiple of their size.
#if LANES == 1
DEVICE void take(const T* from, A (&to)[1]) { to[0] = load(*from); }
DEVICE void take(const u8* from, bool (&to)[1]) { to[0] = *from != 0; }
DEVICE void put(T* to, const A (&from)[1]) { keep(from[0], *to); }
DEVICE void put(u8* to, const bool (&from)[1]) { *to = from[0]; }
#else
DEVICE A unpacked(const u32* words, int n, float*) { return as_float(words[n]); }
template <typename X> DEVICE A unpacked(const u32* words, int n, X*) {
    X one;
    one.bits = (u16)(words[n / 2] >> 16 * (n % 2));
    return load(one);
}
DEVICE u32 packed(float x, float*) { return as_bits(x); }
template <typename X> DEVICE u32 packed(float x, X*) {
    X one;
    keep(x, one);
    return one.bits;
}

DEVICE void take(const T* from, A (&to)[LANES]) {
    u32 words[LANES * sizeof(T) / 4];
    read_words(from, words);
    for (int n = 0; n < LANES; n++) to[n] = unpacked(words, n, (T*)0);
}
DEVICE void take(const u8* from, bool (&to)[LANES]) {
    u32 words[LANES / 4];
    read_words(from, words);
    for (int n = 0; n < LANES; n++) to[n] = words[n / 4] >> 8 * (n % 4) & 255;
}
DEVICE void put(T* to, const A (&from)[LANES]) {
    const int each = 4 / sizeof(T);
    u32 words[LANES / each];
    for (int n = 0; n < LANES / each; n++) {
        words[n] = packed(from[n * each], (T*)0);
        if (each == 2) words[n] |= packed(from[n * each + each - 1], (T*)0) << 16;
    }
    write_words(to, words);
}
DEVICE void put(u8* to, const bool (&from)[LANES]) {
    u32 words[LANES / 4];
    for (int n = 0; n < LANES / 4; n++)
        words[n] = from[4 * n] | from[4 * n + 1] << 8 | from[4 * n + 2] << 16 | from[4 * n + 3] << 24;
    write_words(to, words);
}
#endif

// -- clusters -------------------------------------------------------------------------------------------------------

#if !defined(ON_HOST) && __CUDA_ARCH__ >= 900
DEVICE u32 cluster_size() { u32 n; asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n)); return n; }
DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
DEVICE u32 shared_there(const void* here, u32 rank) {
    u32 there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there) : "r"((u32)__cvta_generic_to_shared(here)), "r"(rank));
    return there;
}
DEVICE void send(float x, float& to, u32 rank) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(shared_there(&to, rank)), "f"(x) : "memory");
}
DEVICE void send(double x, double& to, u32 rank) {
    asm volatile("st.shared::cluster.f64 [%0], %1;" :: "r"(shared_there(&to, rank)), "d"(x) : "memory");
}
#else  // a block alone
DEVICE u32 cluster_size() { return 1; }
DEVICE void cluster_arrive() {}
DEVICE void cluster_wait() {}
DEVICE void send(A x, A& to, u32 rank) { to = x; }
#endif

// -- statistics -----------------------------------------------------------------------------------------------------

// Of some values: how many, their mean, and the sum of the squares of what they differ from it by. Brought together as
// by Chan, Golub and LeVeque (1983), which loses no digits where the mean is large.
struct Moments {
    A count, mean, squares;
    template <typename From> static DEVICE Moments of(const From& from, u32 first, u32 end, u32 step) {
        A count = 0, total = 0, squares = 0;
        for (u32 n = first; n < end; n += step) {
            Moments one = from(n);
            count += one.count;
            total += one.count * one.mean;
        }
        A mean = count > 0 ? total / count : 0;
        for (u32 n = first; n < end; n += step) {
            Moments one = from(n);
            A off = one.mean - mean;
            squares += one.squares + one.count * off * off;
        }
        return {count, mean, squares};
    }
    DEVICE void send_to(Moments& other, u32 rank) const {
        send(count, other.count, rank);
        send(mean, other.mean, rank);
        send(squares, other.squares, rank);
    }
};

// Of gradients: their sum, and that of their products with x - mean.
struct Totals {
    A sum, product;
    template <typename From> static DEVICE Totals of(const From& from, u32 first, u32 end, u32 step) {
        Totals found = {0, 0};
        for (u32 n = first; n < end; n += step) {
            Totals one = from(n);
            found.sum += one.sum;
            found.product += one.product;
        }
        return found;
    }
    DEVICE void send_to(Totals& other, u32 rank) const {
        send(sum, other.sum, rank);
        send(product, other.product, rank);
    }
};

// Where a block works.
struct Place {
    u64 group, groups, split, splits, first, end, channel;
    u32 channels, threads, me;
    bool there;

    DEVICE Place(u64 rows, u64 all_channels, u64 splits) : splits(splits) {
        channels = blockDim.x * LANES;
        threads = blockDim.x * blockDim.y;
        me = threadIdx.y * blockDim.x + threadIdx.x;
        groups = (all_channels + channels - 1) / channels;
    }
    DEVICE void go_to(u64 job, u64 rows, u64 all_channels) {
        group = job / splits;
        split = job % splits;
        u64 length = (rows + splits - 1) / splits;
        first = split * length + threadIdx.y;
        end = min(split * length + length, rows);
        channel = group * channels + threadIdx.x * LANES;
        there = channel < all_channels;
    }
};

// Shared memory for statistics of kind S of the channels of a group.
template <typename S> struct Desk {
    S threads[THREADS * LANES];
    S partial[THREADS];
};

// What `count` statistics of each channel come to, from(channel, n) being one of them.
template <typename S, typename From>
DEVICE void gather(const Place& at, const From& from, u32 count, S* partial, S* found) {
    u32 share = at.threads > at.channels ? at.threads / at.channels : 1;
    for (u32 n = at.me; n < at.channels * share; n += at.threads) {
        u32 channel = n / share;
        partial[n] = S::of([&](u32 one) { return from(channel, one); }, n % share, count, share);
    }
    __syncthreads();
    for (u32 channel = at.me; channel < at.channels; channel += at.threads)
        found[channel] = S::of([&](u32 one) { return partial[channel * share + one]; }, 0, share, 1);
    __syncthreads();
}

// What the threads of a block have, brought together.
template <typename S> DEVICE void gather_threads(const Place& at, const S (&mine)[LANES], Desk<S>& desk, S* found) {
    for (int n = 0; n < LANES; n++) desk.threads[n * at.threads + at.me] = mine[n];
    __syncthreads();
    u32 across = blockDim.x;
    auto from = [&](u32 channel, u32 row) {
        return desk.threads[channel % LANES * at.threads + row * across + channel / LANES];
    };
    gather(at, from, blockDim.y, desk.partial, found);
}

template <typename S> DEVICE S* part(const Place& at, S* parts, u64 split) {
    return parts + (split * at.groups + at.group) * at.channels;
}

template <typename S> DEVICE void gather_parts(const Place& at, const S* parts, Desk<S>& desk, S* found) {
    auto from = [&](u32 channel, u32 split) { return part(at, parts, split)[channel]; };
    gather(at, from, (u32)at.splits, desk.partial, found);
}

template <typename S> DEVICE void keep_part(const Place& at, const S* found, S* parts) {
    for (u32 c = at.me; c < at.channels; c += at.threads) part(at, parts, at.split)[c] = found[c];
}

// Each block sends what it found to all of its cluster; they have arrived at this kernel, or at the end of a job.
template <int NORMS, typename S>
DEVICE void exchange(const Place& at, S (*found)[MOST_CHANNELS], S (*everyone)[MOST_BLOCKS * MOST_TOGETHER]) {
    if (at.splits == 1) return;
    cluster_wait();
    for (int k = 0; k < NORMS; k++)
        for (u32 c = at.me; c < at.channels; c += at.threads)
            for (u32 rank = 0; rank < at.splits; rank++)
                found[k][c].send_to(everyone[k][at.split * at.channels + c], rank);
    cluster_arrive();
    cluster_wait();
    for (int k = 0; k < NORMS; k++)
        for (u32 c = at.me; c < at.channels; c += at.threads)
            found[k][c] = S::of([&](u32 n) { return everyone[k][n * at.channels + c]; }, 0, (u32)at.splits, 1);
}

// -- forward --------------------------------------------------------------------------------------------------------

struct Norm {
    const T* x;
    const T* weight;
    const T* bias;
    T* mean;
    T* variance;
    Moments* parts;
    double eps;
};

// The moments of a thread's rows, about the first of them.
DEVICE void moments(const T* x, const Place& at, u64 channels, Moments (&mine)[LANES]) {
    A origin[LANES], sum[LANES], square[LANES], count = 0;
    for (int n = 0; n < LANES; n++) origin[n] = sum[n] = square[n] = 0;
    if (at.there && at.first < at.end) take(x + at.first * channels + at.channel, origin);
    if (at.there) {
#pragma unroll 4
        for (u64 row = at.first; row < at.end; row += blockDim.y) {
            A here[LANES];
            take(x + row * channels + at.channel, here);
            for (int n = 0; n < LANES; n++) {
                A off = here[n] - origin[n];
                sum[n] += off;
                square[n] += off * off;
            }
            count += 1;
        }
    }
    A share = count > 0 ? 1 / count : 0;
    for (int n = 0; n < LANES; n++) {
        A rest = square[n] - sum[n] * sum[n] * share;
        mine[n] = {count, origin[n] + sum[n] * share, rest < 0 ? 0 : rest};
    }
}

template <Phase PHASE, typename Work> DEVICE void normalise(const Work& own) {
    const int NORMS = Work::NORMS;
    __shared__ Desk<Moments> desk;
    __shared__ Moments found[NORMS][MOST_CHANNELS], everyone[NORMS][MOST_BLOCKS * MOST_TOGETHER];
    __shared__ A means[NORMS][MOST_CHANNELS], scales[NORMS][MOST_CHANNELS], offsets[NORMS][MOST_CHANNELS];
    Place at(own.rows, own.channels, PHASE == TOGETHER ? cluster_size() : own.splits);
    if (PHASE == TOGETHER) cluster_arrive();
    for (u64 job = blockIdx.x; job < at.groups * at.splits; job += gridDim.x) {
        at.go_to(job, own.rows, own.channels);
        for (int k = 0; k < NORMS; k++) {
            if (PHASE == APPLY) {
                gather_parts(at, own.norm[k].parts, desk, found[k]);
                continue;
            }
            Moments mine[LANES];
            moments(own.norm[k].x, at, own.channels, mine);
            gather_threads(at, mine, desk, found[k]);
            if (PHASE == MEASURE) keep_part(at, found[k], own.norm[k].parts);
        }
        if (PHASE == MEASURE) continue;
        if (PHASE == TOGETHER) exchange<NORMS>(at, found, everyone);
        for (int k = 0; k < NORMS; k++) {
            const Norm& norm = own.norm[k];
            for (u32 c = at.me; c < at.channels; c += at.threads) {
                u64 channel = at.group * at.channels + c;
                if (channel >= own.channels) continue;
                A mean = found[k][c].mean, variance = found[k][c].squares / found[k][c].count;
                means[k][c] = mean;
                scales[k][c] = load(norm.weight[channel]) / sqrt(variance + (A)norm.eps);
                offsets[k][c] = load(norm.bias[channel]);
                if (at.split == 0) {
                    keep(mean, norm.mean[channel]);
                    keep(variance, norm.variance[channel]);
                }
            }
        }
        __syncthreads();
        if (at.there) {
            A mean[NORMS][LANES], scale[NORMS][LANES], offset[NORMS][LANES];
            for (int k = 0; k < NORMS; k++)
                for (int n = 0; n < LANES; n++) {
                    mean[k][n] = means[k][threadIdx.x * LANES + n];
                    scale[k][n] = scales[k][threadIdx.x * LANES + n];
                    offset[k][n] = offsets[k][threadIdx.x * LANES + n];
                }
#pragma unroll 4
            for (u64 row = at.first; row < at.end; row += blockDim.y) {
                u64 i = row * own.channels + at.channel;
                A y[NORMS][LANES];
                for (int k = 0; k < NORMS; k++) {
                    take(own.norm[k].x + i, y[k]);
                    for (int n = 0; n < LANES; n++)
                        y[k][n] = rounded((y[k][n] - mean[k][n]) * scale[k][n] + offset[k][n]);
                }
                own.formula(i, y);
            }
        }
        __syncthreads();
        if (PHASE == TOGETHER && job + gridDim.x < at.groups * at.splits) cluster_arrive();
    }
}

// -- backward -------------------------------------------------------------------------------------------------------

struct NormGradient {
    const T* x;
    const T* weight;
    const T* mean;
    const T* variance;
    T* of_x;
    T* of_weight;
    T* of_bias;
    Totals* parts;
    double eps;
};

// The formulas of Ioffe and Szegedy (2015), section 3.
template <Phase PHASE, typename Work> DEVICE void gradients(const Work& own) {
    const int NORMS = Work::NORMS;
    __shared__ Desk<Totals> desk;
    __shared__ Totals found[NORMS][MOST_CHANNELS], everyone[NORMS][MOST_BLOCKS * MOST_TOGETHER];
    __shared__ A means[NORMS][MOST_CHANNELS], scales[NORMS][MOST_CHANNELS];
    __shared__ A levels[NORMS][MOST_CHANNELS], slopes[NORMS][MOST_CHANNELS];
    Place at(own.rows, own.channels, PHASE == TOGETHER ? cluster_size() : own.splits);
    if (PHASE == TOGETHER) cluster_arrive();
    for (u64 job = blockIdx.x; job < at.groups * at.splits; job += gridDim.x) {
        at.go_to(job, own.rows, own.channels);
        A mean[NORMS][LANES];
        for (int k = 0; k < NORMS; k++)
            for (int n = 0; n < LANES; n++) mean[k][n] = at.there ? load(own.norm[k].mean[at.channel + n]) : 0;
        if (PHASE == APPLY) {
            for (int k = 0; k < NORMS; k++) gather_parts(at, own.norm[k].parts, desk, found[k]);
        } else {
            Totals mine[NORMS][LANES];
            for (int k = 0; k < NORMS; k++)
                for (int n = 0; n < LANES; n++) mine[k][n] = {0, 0};
            if (at.there) {
#pragma unroll 4
                for (u64 row = at.first; row < at.end; row += blockDim.y) {
                    u64 i = row * own.channels + at.channel;
                    A dy[LANES];
                    own.template formula<false>(i, dy);
                    for (int k = 0; k < NORMS; k++) {
                        A x[LANES];
                        take(own.norm[k].x + i, x);
                        for (int n = 0; n < LANES; n++) {
                            mine[k][n].sum += dy[n];
                            mine[k][n].product += dy[n] * (x[n] - mean[k][n]);
                        }
                    }
                }
            }
            for (int k = 0; k < NORMS; k++) {
                gather_threads(at, mine[k], desk, found[k]);
                if (PHASE == MEASURE) keep_part(at, found[k], own.norm[k].parts);
            }
        }
        if (PHASE == MEASURE) continue;
        if (PHASE == TOGETHER) exchange<NORMS>(at, found, everyone);
        for (int k = 0; k < NORMS; k++) {
            const NormGradient& norm = own.norm[k];
            for (u32 c = at.me; c < at.channels; c += at.threads) {
                u64 channel = at.group * at.channels + c;
                if (channel >= own.channels) continue;
                A spread = load(norm.variance[channel]) + (A)norm.eps, root = sqrt(spread);
                A sum = found[k][c].sum, product = found[k][c].product, share = 1 / (A)own.rows;
                scales[k][c] = load(norm.weight[channel]) / root;
                levels[k][c] = sum * share;
                slopes[k][c] = product * share / spread;
                if (at.split == 0) {
                    keep(product / root, norm.of_weight[channel]);
                    keep(sum, norm.of_bias[channel]);
                }
            }
        }
        __syncthreads();
        if (at.there) {
            A scale[NORMS][LANES], level[NORMS][LANES], slope[NORMS][LANES];
            for (int k = 0; k < NORMS; k++)
                for (int n = 0; n < LANES; n++) {
                    scale[k][n] = scales[k][threadIdx.x * LANES + n];
                    level[k][n] = levels[k][threadIdx.x * LANES + n];
                    slope[k][n] = slopes[k][threadIdx.x * LANES + n];
                }
#pragma unroll 4
            for (u64 row = at.first; row < at.end; row += blockDim.y) {
                u64 i = row * own.channels + at.channel;
                A dy[LANES];
                own.template formula<true>(i, dy);
                for (int k = 0; k < NORMS; k++) {
                    A x[LANES];
                    take(own.norm[k].x + i, x);
                    for (int n = 0; n < LANES; n++)
                        x[n] = (dy[n] - level[k][n] - (x[n] - mean[k][n]) * slope[k][n]) * scale[k][n];
                    put(own.norm[k].of_x + i, x);
                }
            }
        }
        __syncthreads();
        if (PHASE == TOGETHER && job + gridDim.x < at.groups * at.splits) cluster_arrive();
    }
}
