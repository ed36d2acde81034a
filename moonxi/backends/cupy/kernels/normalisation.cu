// Batch normalisation of (n, c, ...), after folding.cuh. x and dy lie alike: `inner` elements lie between a channel and
// the next, so inner is 1 where the channels lie last. Statistics stay in the type that is computed in.

#define STATISTICS(name, Part, PARAMETERS, ...) \
    KERNEL name##_rows_split(PARAMETERS, A* out, const Walk kept, const Walk gone, u64 splits) { \
        rows<Sum>(Part{Elements{x, kept, gone}, __VA_ARGS__}, Kept<A>{out}, kept.count, gone.count, splits); \
    } \
    KERNEL name##_columns_split(PARAMETERS, A* out, const Walk kept, const Walk gone, u64 splits) { \
        columns<Sum>(Part{Elements{x, kept, gone}, __VA_ARGS__}, Kept<A>{out}, kept.count, gone.count, splits); \
    }
#define WITH_MEAN const T* x, const A* mean
#define WITH_GRADIENT const T* x, const T* dy, const T* mean

STATISTICS(squares, Squares, WITH_MEAN, mean)
STATISTICS(products, Products, WITH_GRADIENT, dy, mean)

KERNEL means(const A* parts, A* exact, T* rounded, double share, u64 results, u64 splits) {
    columns<Sum>(Parts{parts, results}, Means{exact, rounded, (A)share}, results, splits, 1);
}

// The gradient of the weight as well: the sum of dy * (x - mean) over the root of the variance.
struct Slopes {
    A* exact;
    T* of_weight;
    const T* variance;
    A eps;
    DEVICE void operator()(u64 at, A value) const {
        exact[at] = value;
        keep((A)(value / sqrt(load(variance[at]) + eps)), of_weight[at]);
    }
};

KERNEL slopes(const A* parts, const T* variance, A* exact, T* of_weight, double eps, u64 results, u64 splits) {
    columns<Sum>(Parts{parts, results}, Slopes{exact, of_weight, variance, (A)eps}, results, splits, 1);
}

KERNEL normalise(const T* x, const A* mean, const A* variance, const T* weight, const T* bias, T* out, double eps,
                 u64 inner, u64 channels, u64 count) {
    EACH(i, count) {
        u64 c = (count >> 32) ? i / inner % channels : (u32)i / (u32)inner % (u32)channels;
        A scale = load(weight[c]) / sqrt(variance[c] + (A)eps);
        keep((A)((load(x[i]) - mean[c]) * scale + load(bias[c])), out[i]);
    }
}

// The formulas of Ioffe and Szegedy (2015), section 3. `total` is the sum of dy, `product` that of dy * (x - mean).
KERNEL normalise_grad(const T* x, const T* dy, const T* mean, const T* variance, const T* weight, const A* total,
                      const A* product, T* out, double eps, u64 inner, u64 channels, u64 count) {
    A share = (A)((double)channels / (double)count);
    EACH(i, count) {
        u64 c = (count >> 32) ? i / inner % channels : (u32)i / (u32)inner % (u32)channels;
        A spread = load(variance[c]) + (A)eps;
        A slope = product[c] * share / spread;
        A rest = load(dy[i]) - total[c] * share - (load(x[i]) - load(mean[c])) * slope;
        keep((A)(rest * load(weight[c]) / sqrt(spread)), out[i]);
    }
}
