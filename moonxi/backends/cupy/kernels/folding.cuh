// Reductions over any axes of an array that lies anyhow, for reductions.cu.
//
// A result with axes kept lies at `kept`, its elements at `gone`: array 0 of both walks. Either a block works on one
// result at a time, its threads along the elements (rows), or each column of threads on one, and the rows of threads
// along the elements (columns): whichever walks through memory in order. The elements can be split among several blocks;
// then `finish` brings their parts together.

const int THREADS = 256;

struct Sum {
    static DEVICE A start() { return 0; }
    static DEVICE A both(A x, A y) { return x + y; }
};

struct Largest {
    static DEVICE A start() { return -(A)INFINITY; }
    static DEVICE A both(A x, A y) { return larger(x, y); }
};

template <typename R> struct Kept {
    R* out;
    DEVICE void operator()(u64 at, A value) const { keep(value, out[at]); }
};

template <typename Over, typename Part, typename Out>
DEVICE void rows(const Part& part, const Out& out, u64 results, u64 elements, u64 splits) {
    __shared__ A shared[THREADS];
    u64 length = (elements + splits - 1) / splits;
    for (u64 job = blockIdx.x; job < results * splits; job += gridDim.x) {
        u64 result = job % results, first = job / results * length, end = min(first + length, elements);
        A found = Over::start();
        u64 n = first + threadIdx.x, step = blockDim.x;
        for (; n + 3 * step < end; n += 4 * step)  // four at once, to have more of them under way
            found = Over::both(found, Over::both(Over::both(part(result, n), part(result, n + step)),
                                                 Over::both(part(result, n + 2 * step), part(result, n + 3 * step))));
        for (; n < end; n += step) found = Over::both(found, part(result, n));
        shared[threadIdx.x] = found;
        __syncthreads();
        for (u32 half = blockDim.x / 2; half; half /= 2) {
            if (threadIdx.x < half) shared[threadIdx.x] = Over::both(shared[threadIdx.x], shared[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0) out(job, shared[0]);
        __syncthreads();
    }
}

template <typename Over, typename Part, typename Out>
DEVICE void columns(const Part& part, const Out& out, u64 results, u64 elements, u64 splits) {
    __shared__ A shared[THREADS];
    u64 length = (elements + splits - 1) / splits, groups = (results + blockDim.x - 1) / blockDim.x;
    for (u64 job = blockIdx.x; job < groups * splits; job += gridDim.x) {
        u64 result = job % groups * blockDim.x + threadIdx.x, split = job / groups;
        u64 first = split * length, end = min(first + length, elements);
        A found = Over::start();
        if (result < results) {
            u64 n = first + threadIdx.y, step = blockDim.y;
            for (; n + 3 * step < end; n += 4 * step)
                found = Over::both(found, Over::both(Over::both(part(result, n), part(result, n + step)),
                                                     Over::both(part(result, n + 2 * step), part(result, n + 3 * step))));
            for (; n < end; n += step) found = Over::both(found, part(result, n));
        }
        u32 mine = threadIdx.y * blockDim.x + threadIdx.x;
        shared[mine] = found;
        __syncthreads();
        for (u32 half = blockDim.y / 2; half; half /= 2) {
            if (threadIdx.y < half) shared[mine] = Over::both(shared[mine], shared[mine + half * blockDim.x]);
            __syncthreads();
        }
        if (threadIdx.y == 0 && result < results) out(split * results + result, shared[mine]);
        __syncthreads();
    }
}

struct Elements {
    const T* x;
    const Walk& kept;
    const Walk& gone;
    DEVICE i64 at(u64 result, u64 n) const {
        i64 lead[1], place[1];
        offsets<1>(kept, result, lead);
        offsets<1>(gone, n, place);
        return lead[0] + place[0];
    }
    DEVICE A operator()(u64 result, u64 n) const { return load(x[at(result, n)]); }
};

// The square of each element.
struct Squared {
    Elements elements;
    DEVICE A operator()(u64 result, u64 n) const {
        A x = elements(result, n);
        return x * x;
    }
};

struct Parts {
    const A* x;
    u64 results;
    DEVICE A operator()(u64 result, u64 n) const { return x[n * results + result]; }
};
