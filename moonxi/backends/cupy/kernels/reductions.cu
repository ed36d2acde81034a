// Sums and largest elements, argmax and softmax; after folding.cuh.

#define REDUCTION(name, Over, ...) \
    KERNEL name##_rows(const T* x, T* out, const Walk kept, const Walk gone) { \
        rows<Over>(__VA_ARGS__, Kept<T>{out}, kept.count, gone.count, 1); \
    } \
    KERNEL name##_columns(const T* x, T* out, const Walk kept, const Walk gone) { \
        columns<Over>(__VA_ARGS__, Kept<T>{out}, kept.count, gone.count, 1); \
    } \
    KERNEL name##_rows_split(const T* x, A* out, const Walk kept, const Walk gone, u64 splits) { \
        rows<Over>(__VA_ARGS__, Kept<A>{out}, kept.count, gone.count, splits); \
    } \
    KERNEL name##_columns_split(const T* x, A* out, const Walk kept, const Walk gone, u64 splits) { \
        columns<Over>(__VA_ARGS__, Kept<A>{out}, kept.count, gone.count, splits); \
    }
#define FINISH(name, Over) \
    KERNEL name##_finish(const A* x, T* out, u64 results, u64 splits) { \
        columns<Over>(Parts{x, results}, Kept<T>{out}, results, splits, 1); \
    }

REDUCTION(sum, Sum, Elements{x, kept, gone})
REDUCTION(sum_squared, Sum, Squared{Elements{x, kept, gone}})
REDUCTION(max, Largest, Elements{x, kept, gone})
FINISH(sum, Sum)
FINISH(max, Largest)

// The index of the first largest, or of the first NaN, along an axis: array 0 of `kept` and a stride.
KERNEL argmax(const T* x, i64* out, const Walk kept, i64 stride, u64 length) {
    __shared__ A shared[THREADS];
    __shared__ i64 places[THREADS];
    for (u64 row = blockIdx.x; row < kept.count; row += gridDim.x) {
        i64 lead[1], best = 0;
        offsets<1>(kept, row, lead);
        A found = -(A)INFINITY;
        best = (i64)length;
        for (i64 n = threadIdx.x; n < (i64)length; n += blockDim.x) {
            A here = load(x[lead[0] + n * stride]);
            if (best == (i64)length || here > found || (is_nan(here) && !is_nan(found))) { found = here; best = n; }
        }
        shared[threadIdx.x] = found;
        places[threadIdx.x] = best;
        __syncthreads();
        for (u32 half = blockDim.x / 2; half; half /= 2) {
            if (threadIdx.x < half) {
                A mine = shared[threadIdx.x], other = shared[threadIdx.x + half];
                i64 my = places[threadIdx.x], its = places[threadIdx.x + half];
                bool equal = mine == other || (is_nan(mine) && is_nan(other));
                bool wins = its < (i64)length
                    && (my == (i64)length || (equal ? its < my : other > mine || (is_nan(other) && !is_nan(mine))));
                if (wins) { shared[threadIdx.x] = other; places[threadIdx.x] = its; }
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) out[row] = places[0];
        __syncthreads();
    }
}

// Softmax and its logarithm, along an axis: arrays 0 (x) and 1 (out) of the walk over rows, and the strides along them.
// The rows of threads work on a row of elements each.
template <bool LOG>
DEVICE void softmax_rows(const T* x, T* out, const Walk& kept, i64 stride, i64 out_stride, u64 length) {
    __shared__ A shared[THREADS];
    u64 groups = (kept.count + blockDim.y - 1) / blockDim.y;
    u32 first = threadIdx.y * blockDim.x, mine = first + threadIdx.x;
    for (u64 group = blockIdx.x; group < groups; group += gridDim.x) {
        u64 row = group * blockDim.y + threadIdx.y;
        bool there = row < kept.count;
        i64 at[2] = {0, 0};
        if (there) offsets<2>(kept, row, at);
        A top = -(A)INFINITY;
        if (there)
            for (i64 n = threadIdx.x; n < (i64)length; n += blockDim.x) top = larger(top, (A)load(x[at[0] + n * stride]));
        shared[mine] = top;
        __syncthreads();
        for (u32 half = blockDim.x / 2; half; half /= 2) {
            if (threadIdx.x < half) shared[mine] = larger(shared[mine], shared[mine + half]);
            __syncthreads();
        }
        top = shared[first];
        __syncthreads();
        A total = 0;
        if (there)
            for (i64 n = threadIdx.x; n < (i64)length; n += blockDim.x) total += exp((A)load(x[at[0] + n * stride]) - top);
        shared[mine] = total;
        __syncthreads();
        for (u32 half = blockDim.x / 2; half; half /= 2) {
            if (threadIdx.x < half) shared[mine] += shared[mine + half];
            __syncthreads();
        }
        total = shared[first];
        A logarithm = log(total);
        if (there)
            for (i64 n = threadIdx.x; n < (i64)length; n += blockDim.x) {
                A shifted = (A)load(x[at[0] + n * stride]) - top;
                keep(LOG ? shifted - logarithm : exp(shifted) / total, out[at[1] + n * out_stride]);
            }
        __syncthreads();
    }
}

KERNEL softmax(const T* x, T* out, const Walk kept, i64 stride, i64 out_stride, u64 length) {
    softmax_rows<false>(x, out, kept, stride, out_stride, length);
}

KERNEL log_softmax(const T* x, T* out, const Walk kept, i64 stride, i64 out_stride, u64 length) {
    softmax_rows<true>(x, out, kept, stride, out_stride, length);
}
