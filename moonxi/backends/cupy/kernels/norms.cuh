// Batch norm together with what is computed element by element before or after it; after functions.cuh and
// statistics.cuh. What follows is the struct Work of one generated kernel (norm_source.py).
//
// Tensors lie with the channels last, as rows of channels. A block works on a group of channels and on a part of the
// rows, threads that differ in x on other channels, those that differ in y on other rows. It goes through its part
// twice: for the statistics, and then, with those of all blocks of the group, for the results. The second time each
// thread begins with what it read last, up to four rows, which it has kept; others come from a cache. The blocks of a
// group bring their statistics together in one of two ways: they are one cluster, and write into each other's shared
// memory (TOGETHER); or they write them down (MEASURE), another kernel brings those of each channel together (FINISH),
// and a third one goes on (APPLY).

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

// The moments of a thread's rows, about the first of them. What it read last stays in the batch.
template <bool KEEP, typename Work, int NORMS>
DEVICE void moments(const Work& own, const Place& at, Batch<Work>& batch, Moments (&mine)[NORMS][LANES]) {
    A origin[NORMS][LANES], sum[NORMS][LANES], square[NORMS][LANES], count = 0;
    for (int k = 0; k < NORMS; k++)
        for (int n = 0; n < LANES; n++) origin[k][n] = sum[k][n] = square[k][n] = 0;
    for (u64 row = at.first; at.there && row <= at.last; row += at.step()) {
        Rows rows(at, row);
        batch.read(own, rows);
        if (KEEP && row == at.last) batch.read_others(own, rows);
        if (row == at.first)
            for (int k = 0; k < NORMS; k++) unpack(batch.x[0][k], origin[k]);
#pragma unroll
        for (int r = 0; r < BATCH; r++)
            if (rows.in[r]) {
                for (int k = 0; k < NORMS; k++) {
                    A here[LANES];
                    unpack(batch.x[r][k], here);
                    for (int n = 0; n < LANES; n++) {
                        A off = here[n] - origin[k][n];
                        sum[k][n] += off;
                        square[k][n] += off * off;
                    }
                }
                count += 1;
            }
    }
    A share = count > 0 ? 1 / count : 0;
    for (int k = 0; k < NORMS; k++)
        for (int n = 0; n < LANES; n++) {
            A rest = square[k][n] - sum[k][n] * sum[k][n] * share;
            mine[k][n] = {count, origin[k][n] + sum[k][n] * share, rest < 0 ? 0 : rest};
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
        Batch<Work> batch;
        Ahead<NORMS> weight, bias;
        if (PHASE != MEASURE)
            for (int k = 0; k < NORMS; k++) {
                weight.read(at, k, own.norm[k].weight);
                bias.read(at, k, own.norm[k].bias);
            }
        if (PHASE == APPLY) {
            for (int k = 0; k < NORMS; k++) copy(at, part(at, own.norm[k].parts, 0), found[k]);
        } else {
            Moments mine[NORMS][LANES];
            moments<PHASE == TOGETHER>(own, at, batch, mine);
#pragma unroll
            for (int k = 0; k < NORMS; k++) {
                gather(at, mine[k], shared, found[k]);
                if (PHASE == MEASURE) copy(at, found[k], part(at, own.norm[k].parts, 1 + at.split));
            }
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
                scales[k][c] = weight.of(at, k, c, norm.weight) / sqrt(variance + (A)norm.eps);
                offsets[k][c] = bias.of(at, k, c, norm.bias);
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
            bool kept = PHASE == TOGETHER;
            for (u64 row = at.last;; row -= at.step(), kept = false) {
                Rows rows(at, row);
                if (!kept) {
                    batch.read(own, rows);
                    batch.read_others(own, rows);
                }
#pragma unroll
                for (int r = 0; r < BATCH; r++)
                    if (rows.in[r]) {
                        A y[NORMS][LANES];
                        for (int k = 0; k < NORMS; k++) {
                            unpack(batch.x[r][k], y[k]);
                            for (int n = 0; n < LANES; n++)
                                y[k][n] = rounded((y[k][n] - mean[k][n]) * scale[k][n] + offset[k][n]);
                        }
                        own.formula(rows.at[r], batch.others[r], y);
                    }
                if (row == at.first) break;
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

// The totals of a thread's rows. What it read last stays in the batch.
template <typename Work, int NORMS>
DEVICE void totals(
    const Work& own, const Place& at, Batch<Work>& batch, const A (&mean)[NORMS][LANES], Totals (&mine)[NORMS][LANES]
) {
    for (int k = 0; k < NORMS; k++)
        for (int n = 0; n < LANES; n++) mine[k][n] = {0, 0};
    for (u64 row = at.first; at.there && row <= at.last; row += at.step()) {
        Rows rows(at, row);
        batch.read(own, rows);
        batch.read_others(own, rows);
#pragma unroll
        for (int r = 0; r < BATCH; r++)
            if (rows.in[r]) {
                A dy[LANES];
                own.template formula<false>(rows.at[r], batch.others[r], dy);
                for (int k = 0; k < NORMS; k++) {
                    A x[LANES];
                    unpack(batch.x[r][k], x);
                    for (int n = 0; n < LANES; n++) {
                        mine[k][n].sum += dy[n];
                        mine[k][n].product += dy[n] * (x[n] - mean[k][n]);
                    }
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
        Batch<Work> batch;
        Ahead<NORMS> weight, variance;
        if (PHASE != MEASURE)
            for (int k = 0; k < NORMS; k++) {
                weight.read(at, k, own.norm[k].weight);
                variance.read(at, k, own.norm[k].variance);
            }
        A mean[NORMS][LANES];
        for (int k = 0; k < NORMS; k++)
            for (int n = 0; n < LANES; n++) mean[k][n] = at.there ? load(own.norm[k].mean[at.channel + n]) : 0;
        if (PHASE == APPLY) {
            for (int k = 0; k < NORMS; k++) copy(at, part(at, own.norm[k].parts, 0), found[k]);
        } else {
            Totals mine[NORMS][LANES];
            totals(own, at, batch, mean, mine);
#pragma unroll
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
                A spread = variance.of(at, k, c, norm.variance) + (A)norm.eps, root = sqrt(spread);
                A sum = found[k][c].sum, product = found[k][c].product, share = 1 / (A)own.rows;
                scales[k][c] = weight.of(at, k, c, norm.weight) / root;
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
            bool kept = PHASE == TOGETHER;
            for (u64 row = at.last;; row -= at.step(), kept = false) {
                Rows rows(at, row);
                if (!kept) {
                    batch.read(own, rows);
                    batch.read_others(own, rows);
                }
#pragma unroll
                for (int r = 0; r < BATCH; r++)
                    if (rows.in[r]) {
                        A dy[LANES];
                        own.template formula<true>(rows.at[r], batch.others[r], dy);
                        for (int k = 0; k < NORMS; k++) {
                            A x[LANES];
                            unpack(batch.x[r][k], x);
                            for (int n = 0; n < LANES; n++) {
                                A off = (x[n] - mean[k][n]) * slope[k][n];
                                x[n] = (dy[n] - level[k][n] - off) * scale[k][n];
                            }
                            put(own.norm[k].of_x + rows.at[r], x);
                        }
                    }
                if (row == at.first) break;
            }
        }
        __syncthreads();
        if (PHASE == TOGETHER && at.splits > 1 && job + gridDim.x < at.groups * at.splits) cluster_arrive();
    }
}
