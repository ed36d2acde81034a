// Batch norm together with what is computed element by element before or after it; after functions.cuh and
// statistics.cuh. What follows is the struct Work of one generated kernel (norm_source.py).
//
// Tensors lie with the channels last, as rows of channels. A block works on a group of channels and on a part of the
// rows, threads that differ in x on other channels, those that differ in y on other rows. It goes through its part
// twice: for the statistics, and then, with those of all blocks of the group, for the results; the second time the
// elements come from a cache. The blocks of a group bring their statistics together in one of two ways: they are one
// cluster, and write into each other's shared memory (TOGETHER); or they write them down (MEASURE), another kernel
// brings those of each channel together (FINISH), and a third one goes on (APPLY).

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
DEVICE void moments(const T* x, const Place& at, Moments (&mine)[LANES]) {
    A origin[LANES], sum[LANES], square[LANES], count = 0;
    for (int n = 0; n < LANES; n++) origin[n] = sum[n] = square[n] = 0;
    if (at.there && at.first < at.end) {
        take(x + at.first * at.all_channels + at.channel, origin);
        EACH_BATCH(row, at) {
            Rows rows(at, row);
            A here[BATCH][LANES];
            for (int r = 0; r < BATCH; r++) take(x + rows.at[r], here[r]);
            for (int r = 0; r < BATCH; r++)
                if (rows.in[r]) {
                    for (int n = 0; n < LANES; n++) {
                        A off = here[r][n] - origin[n];
                        sum[n] += off;
                        square[n] += off * off;
                    }
                    count += 1;
                }
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
    __shared__ Moments shared[THREADS * LANES], found[NORMS][MOST_CHANNELS];
    __shared__ Moments everyone[NORMS][MOST_BLOCKS * MOST_TOGETHER];
    __shared__ A means[NORMS][MOST_CHANNELS], scales[NORMS][MOST_CHANNELS], offsets[NORMS][MOST_CHANNELS];
    Place at(own.rows, own.channels, PHASE == TOGETHER ? cluster_size() : own.splits);
    if (PHASE == FINISH) {
        for (int k = 0; k < NORMS; k++) finish(at, own.norm[k].parts);
        return;
    }
    if (PHASE == TOGETHER && at.splits > 1) cluster_started();
    for (u64 job = blockIdx.x; job < at.groups * at.splits; job += gridDim.x) {
        at.go_to(job);
        for (int k = 0; k < NORMS; k++) {
            if (PHASE == APPLY) {
                copy(at, part(at, own.norm[k].parts, 0), found[k]);
                continue;
            }
            Moments mine[LANES];
            moments(own.norm[k].x, at, mine);
            gather(at, mine, shared, found[k]);
            if (PHASE == MEASURE) copy(at, found[k], part(at, own.norm[k].parts, 1 + at.split));
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
            EACH_BATCH(row, at) {
                Rows rows(at, row);
                typename Work::Others others[BATCH];
                A y[BATCH][NORMS][LANES];
                for (int r = 0; r < BATCH; r++) {
                    for (int k = 0; k < NORMS; k++) take(own.norm[k].x + rows.at[r], y[r][k]);
                    own.read(rows.at[r], others[r]);
                }
                for (int r = 0; r < BATCH; r++)
                    if (rows.in[r]) {
                        for (int k = 0; k < NORMS; k++)
                            for (int n = 0; n < LANES; n++)
                                y[r][k][n] = rounded((y[r][k][n] - mean[k][n]) * scale[k][n] + offset[k][n]);
                        own.formula(rows.at[r], others[r], y[r]);
                    }
            }
        }
        __syncthreads();
        if (PHASE == TOGETHER && at.splits > 1 && job + gridDim.x < at.groups * at.splits) cluster_arrive();
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

// The totals of a thread's rows.
template <typename Work, int NORMS>
DEVICE void totals(const Work& own, const Place& at, const A (&mean)[NORMS][LANES], Totals (&mine)[NORMS][LANES]) {
    for (int k = 0; k < NORMS; k++)
        for (int n = 0; n < LANES; n++) mine[k][n] = {0, 0};
    if (!at.there) return;
    EACH_BATCH(row, at) {
        Rows rows(at, row);
        typename Work::Others others[BATCH];
        A x[BATCH][NORMS][LANES];
        for (int r = 0; r < BATCH; r++) {
            own.read(rows.at[r], others[r]);
            for (int k = 0; k < NORMS; k++) take(own.norm[k].x + rows.at[r], x[r][k]);
        }
        for (int r = 0; r < BATCH; r++)
            if (rows.in[r]) {
                A dy[LANES];
                own.template formula<false>(rows.at[r], others[r], dy);
                for (int k = 0; k < NORMS; k++)
                    for (int n = 0; n < LANES; n++) {
                        mine[k][n].sum += dy[n];
                        mine[k][n].product += dy[n] * (x[r][k][n] - mean[k][n]);
                    }
            }
    }
}

// The formulas of Ioffe and Szegedy (2015), section 3.
template <Phase PHASE, typename Work> DEVICE void gradients(const Work& own) {
    const int NORMS = Work::NORMS;
    __shared__ Totals shared[THREADS * LANES], found[NORMS][MOST_CHANNELS];
    __shared__ Totals everyone[NORMS][MOST_BLOCKS * MOST_TOGETHER];
    __shared__ A scales[NORMS][MOST_CHANNELS], levels[NORMS][MOST_CHANNELS], slopes[NORMS][MOST_CHANNELS];
    Place at(own.rows, own.channels, PHASE == TOGETHER ? cluster_size() : own.splits);
    if (PHASE == FINISH) {
        for (int k = 0; k < NORMS; k++) finish(at, own.norm[k].parts);
        return;
    }
    if (PHASE == TOGETHER && at.splits > 1) cluster_started();
    for (u64 job = blockIdx.x; job < at.groups * at.splits; job += gridDim.x) {
        at.go_to(job);
        A mean[NORMS][LANES];
        for (int k = 0; k < NORMS; k++)
            for (int n = 0; n < LANES; n++) mean[k][n] = at.there ? load(own.norm[k].mean[at.channel + n]) : 0;
        if (PHASE == APPLY) {
            for (int k = 0; k < NORMS; k++) copy(at, part(at, own.norm[k].parts, 0), found[k]);
        } else {
            Totals mine[NORMS][LANES];
            totals(own, at, mean, mine);
            for (int k = 0; k < NORMS; k++) {
                gather(at, mine[k], shared, found[k]);
                if (PHASE == MEASURE) copy(at, found[k], part(at, own.norm[k].parts, 1 + at.split));
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
            EACH_BATCH(row, at) {
                Rows rows(at, row);
                typename Work::Others others[BATCH];
                A x[BATCH][NORMS][LANES];
                for (int r = 0; r < BATCH; r++) {
                    own.read(rows.at[r], others[r]);
                    for (int k = 0; k < NORMS; k++) take(own.norm[k].x + rows.at[r], x[r][k]);
                }
                for (int r = 0; r < BATCH; r++)
                    if (rows.in[r]) {
                        A dy[LANES];
                        own.template formula<true>(rows.at[r], others[r], dy);
                        for (int k = 0; k < NORMS; k++) {
                            for (int n = 0; n < LANES; n++) {
                                A off = (x[r][k][n] - mean[k][n]) * slope[k][n];
                                x[r][k][n] = (dy[n] - level[k][n] - off) * scale[k][n];
                            }
                            put(own.norm[k].of_x + rows.at[r], x[r][k]);
                        }
                    }
            }
        }
        __syncthreads();
        if (PHASE == TOGETHER && at.splits > 1 && job + gridDim.x < at.groups * at.splits) cluster_arrive();
    }
}
