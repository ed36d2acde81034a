// Statistics of the channels of tensors, brought together over threads, over the blocks of a cluster, or through memory;
// after lanes.cuh, and LANES: how many channels a thread takes at a time. For norms.cuh, which says who works on what.

enum Phase { TOGETHER, MEASURE, FINISH, APPLY };

const int THREADS = 256;
const int BATCH = 4;                                      // rows that a thread reads before it computes
const int MOST_BLOCKS = 16;                               // of a cluster
const int MOST_TOGETHER = LANES == 1 ? 8 : 2 * LANES;     // channels of a group, in a cluster
const int MOST_CHANNELS = 4 * MOST_TOGETHER;              // of a group otherwise

// Two blocks have room on a multiprocessor: a cluster starts when there is room for all of it, while others work.
#ifndef ON_HOST
#define BESIDE_OTHERS __launch_bounds__(THREADS, 2)
#else
#define BESIDE_OTHERS
#endif

// -- clusters -------------------------------------------------------------------------------------------------------

#if !defined(ON_HOST) && __CUDA_ARCH__ >= 900
DEVICE u32 cluster_size() { u32 n; asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n)); return n; }
DEVICE void cluster_started() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
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
DEVICE void cluster_started() {}
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
#pragma unroll 4
        for (u32 n = first; n < end; n += step) {
            Moments one = from(n);
            count += one.count;
            total += one.count * one.mean;
        }
        A mean = count > 0 ? total / count : 0;
#pragma unroll 4
        for (u32 n = first; n < end; n += step) {
            Moments one = from(n);
            A off = one.mean - mean;
            squares += one.squares + one.count * off * off;
        }
        return {count, mean, squares};
    }
    static DEVICE Moments of_lanes(const Moments& mine, u32 share) {
        A count = over_lanes(mine.count, share), total = over_lanes(mine.count * mine.mean, share);
        A mean = count > 0 ? total / count : 0, off = mine.mean - mean;
        return {count, mean, over_lanes(mine.squares + mine.count * off * off, share)};
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
#pragma unroll 4
        for (u32 n = first; n < end; n += step) {
            Totals one = from(n);
            found.sum += one.sum;
            found.product += one.product;
        }
        return found;
    }
    static DEVICE Totals of_lanes(const Totals& mine, u32 share) {
        return {over_lanes(mine.sum, share), over_lanes(mine.product, share)};
    }
    DEVICE void send_to(Totals& other, u32 rank) const {
        send(sum, other.sum, rank);
        send(product, other.product, rank);
    }
};

// Where a block works.
struct Place {
    u64 all_rows, all_channels, group, groups, split, splits, first, last, end, channel;  // first and last of its batches
    u32 channels, threads, me;
    bool there;

    DEVICE Place(u64 all_rows, u64 all_channels, u64 splits)
        : all_rows(all_rows), all_channels(all_channels), splits(splits) {
        channels = blockDim.x * LANES;
        threads = blockDim.x * blockDim.y;
        me = threadIdx.y * blockDim.x + threadIdx.x;
        groups = (all_channels + channels - 1) / channels;
    }
    DEVICE void go_to(u64 job) {
        group = job / splits;
        split = job % splits;
        u64 length = (all_rows + splits - 1) / splits;
        first = split * length + threadIdx.y;
        end = min(split * length + length, all_rows);
        channel = group * channels + threadIdx.x * LANES;
        there = channel < all_channels && first < end;
        last = there ? first + ((end - 1 - first) & ~(step() - 1)) : first;
    }
    DEVICE u64 step() const { return BATCH * blockDim.y; }
};

// The next rows of a thread. What is beyond the last is read as the first of them, so that no read waits for a branch.
struct Rows {
    u64 at[BATCH];
    bool in[BATCH];
    DEVICE Rows(const Place& place, u64 row) {
        for (int n = 0; n < BATCH; n++) {
            u64 mine = row + n * blockDim.y;
            in[n] = mine < place.end;
            at[n] = (in[n] ? mine : row) * place.all_channels + place.channel;
        }
    }
};

// What a thread reads of its next rows, for kernels that are a struct Work.
template <typename Work> struct Batch {
    Words<T, LANES> x[BATCH][Work::NORMS];
    typename Work::Others others[BATCH];
    DEVICE void read(const Work& own, const Rows& rows) {
#pragma unroll
        for (int r = 0; r < BATCH; r++)
            for (int k = 0; k < Work::NORMS; k++) x[r][k].read(own.norm[k].x + rows.at[r]);
    }
    DEVICE void read_others(const Work& own, const Rows& rows) {
#pragma unroll
        for (int r = 0; r < BATCH; r++) own.read(rows.at[r], others[r]);
    }
};

// A number of the channel that a thread is going to bring together, read long before it is needed.
template <int NORMS> struct Ahead {
    T mine[NORMS];
    DEVICE void read(const Place& at, int k, const T* from) {
        u64 channel = at.group * at.channels + at.me;
        if (at.me < at.channels && channel < at.all_channels) mine[k] = from[channel];
    }
    DEVICE A of(const Place& at, int k, u32 c, const T* from) const {
        return load(c == at.me ? mine[k] : from[at.group * at.channels + c]);
    }
};

// What the threads of a block have, brought together for each channel of its group.
template <typename S> DEVICE void gather(const Place& at, const S (&mine)[LANES], S* shared, S* found) {
    for (int n = 0; n < LANES; n++) shared[n * at.threads + at.me] = mine[n];
    __syncthreads();
    u32 share = at.threads > at.channels ? at.threads / at.channels : 1, across = blockDim.x;
    if (share > 32) share = 32;
    for (u32 n = at.me; n < at.channels * share; n += at.threads) {
        u32 channel = n / share, lead = channel % LANES * at.threads + channel / LANES;
        S one = S::of([&](u32 row) { return shared[lead + row * across]; }, n % share, blockDim.y, share);
        one = S::of_lanes(one, share);
        if (n % share == 0) found[channel] = one;
    }
    __syncthreads();
}

// Each block sends what it found to all of its cluster; they have all started, or are at the end of a job.
template <int NORMS, typename S>
DEVICE void exchange(const Place& at, S (*found)[MOST_CHANNELS], S (*everyone)[MOST_BLOCKS * MOST_TOGETHER]) {
    if (at.splits == 1) return;
    u32 ranks = (u32)at.splits;
    cluster_wait();
    for (int k = 0; k < NORMS; k++)
        for (u32 n = at.me; n < at.channels * ranks; n += at.threads) {
            u32 channel = n % at.channels;
            found[k][channel].send_to(everyone[k][at.split * at.channels + channel], n / at.channels);
        }
    cluster_arrive();
    cluster_wait();
    for (int k = 0; k < NORMS; k++)
        for (u32 c = at.me; c < at.channels; c += at.threads)
            found[k][c] = S::of([&](u32 n) { return everyone[k][n * at.channels + c]; }, 0, ranks, 1);
}

// The parts of all blocks: first what they come to for each channel, then those of each split.
template <typename S> DEVICE S* part(const Place& at, S* parts, u64 number) {
    return parts + (number * at.groups + at.group) * at.channels;
}

template <typename S> DEVICE void copy(const Place& at, const S* from, S* to) {
    for (u32 c = at.me; c < at.channels; c += at.threads) to[c] = from[c];
}

// Brings the parts together, a block for each channel.
template <typename S> DEVICE void finish(Place& at, S* parts) {
    __shared__ S shared[THREADS];
    for (u64 job = blockIdx.x; job < at.groups * at.channels; job += gridDim.x) {
        at.group = job / at.channels;
        u64 channel = job % at.channels;
        auto from = [&](u32 split) { return part(at, parts, 1 + split)[channel]; };
        shared[at.me] = S::of(from, at.me, (u32)at.splits, at.threads);
        __syncthreads();
        if (at.me < 32) {
            S mine = S::of([&](u32 n) { return shared[n]; }, at.me, at.threads, 32);
            mine = S::of_lanes(mine, at.threads < 32 ? at.threads : 32);
            if (at.me == 0) part(at, parts, 0)[channel] = mine;
        }
        __syncthreads();
    }
}
