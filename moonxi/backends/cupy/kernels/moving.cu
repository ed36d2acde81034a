// Elements filled, moved, compared for equality and chosen, of any type.

KERNEL fill(T* out, double number, u64 count) {
    EACH(i, count) keep((A)number, out[i]);
}

// Both sides may lie anyhow: arrays 0 and 1 of the walk.
KERNEL move(const T* x, T* out, const Walk walk) {
    EACH(i, walk.count) {
        i64 at[2];
        offsets<2>(walk, i, at);
        out[at[1]] = x[at[0]];
    }
}

// Two axes exchanged, (batch, rows, columns) to (batch, columns, rows): through a tile, so that both sides are read and
// written in whole lines.
KERNEL exchange(const T* x, T* out, u64 batch, u64 rows, u64 columns) {
    __shared__ T tile[32][33];
    u64 down = (rows + 31) / 32, across = (columns + 31) / 32;
    for (u64 block = blockIdx.x; block < batch * down * across; block += gridDim.x) {
        u64 image = block / (down * across), row0 = block / across % down * 32, column0 = block % across * 32;
        for (u32 r = threadIdx.y; r < 32; r += blockDim.y)
            for (u32 c = threadIdx.x; c < 32; c += blockDim.x)
                if (row0 + r < rows && column0 + c < columns)
                    tile[r][c] = x[(image * rows + row0 + r) * columns + column0 + c];
        __syncthreads();
        for (u32 c = threadIdx.y; c < 32; c += blockDim.y)
            for (u32 r = threadIdx.x; r < 32; r += blockDim.x)
                if (row0 + r < rows && column0 + c < columns)
                    out[(image * columns + column0 + c) * rows + row0 + r] = tile[r][c];
        __syncthreads();
    }
}

// A convolution's kernel turned, (outputs, taps, inputs) to (inputs, taps, outputs) with the last tap first, likewise.
KERNEL turn(const T* x, T* out, u64 outputs, u64 taps, u64 inputs) {
    __shared__ T tile[32][33];
    u64 down = (outputs + 31) / 32, across = (inputs + 31) / 32;
    for (u64 block = blockIdx.x; block < taps * down * across; block += gridDim.x) {
        u64 tap = block / (down * across), row0 = block / across % down * 32, column0 = block % across * 32;
        for (u32 r = threadIdx.y; r < 32; r += blockDim.y)
            for (u32 c = threadIdx.x; c < 32; c += blockDim.x)
                if (row0 + r < outputs && column0 + c < inputs)
                    tile[r][c] = x[((row0 + r) * taps + tap) * inputs + column0 + c];
        __syncthreads();
        for (u32 c = threadIdx.y; c < 32; c += blockDim.y)
            for (u32 r = threadIdx.x; r < 32; r += blockDim.x)
                if (row0 + r < outputs && column0 + c < inputs)
                    out[((column0 + c) * taps + taps - 1 - tap) * outputs + row0 + r] = tile[r][c];
        __syncthreads();
    }
}

KERNEL equal_same(const T* x, const T* y, u8* out, u64 count) {
    EACH(i, count) out[i] = load(x[i]) == load(y[i]);
}

KERNEL equal_number(const T* x, u8* out, double number, u64 count) {
    EACH(i, count) out[i] = load(x[i]) == (A)number;
}

KERNEL equal_strided(const T* x, const T* y, u8* out, const Walk walk) {
    EACH(i, walk.count) {
        i64 at[2];
        offsets<2>(walk, i, at);
        out[i] = load(x[at[0]]) == load(y[at[1]]);
    }
}

KERNEL where_same(const u8* mask, const T* x, const T* y, T* out, u64 count) {
    EACH(i, count) out[i] = mask[i] ? x[i] : y[i];
}

KERNEL where_number(const u8* mask, const T* x, T* out, double number, u64 count) {
    T other;
    keep((A)number, other);
    EACH(i, count) out[i] = mask[i] ? x[i] : other;
}

KERNEL where_strided(const u8* mask, const T* x, const T* y, T* out, const Walk walk) {
    EACH(i, walk.count) {
        i64 at[3];
        offsets<3>(walk, i, at);
        out[i] = mask[at[0]] ? x[at[1]] : y[at[2]];
    }
}

KERNEL where_number_strided(const u8* mask, const T* x, T* out, double number, const Walk walk) {
    T other;
    keep((A)number, other);
    EACH(i, walk.count) {
        i64 at[2];
        offsets<2>(walk, i, at);
        out[i] = mask[at[0]] ? x[at[1]] : other;
    }
}

// Up to 20 pieces of memory copied, and up to 16 words that come with the launch: how many pieces there are and how many
// words, where to the words go, the words, and three for each piece, from where, to where, and the bytes.
struct Pieces { u64 word[79]; };
struct alignas(16) Sixteen { u64 word[2]; };

template <typename X> DEVICE void bring_as(u64 from, u64 to, u64 bytes) {
    const X* x = (const X*)from;
    X* y = (X*)to;
    EACH(i, bytes / sizeof(X)) y[i] = x[i];
}

KERNEL bring(IN_PLACE Pieces pieces) {
    EACH(i, pieces.word[1]) ((u64*)pieces.word[2])[i] = pieces.word[3 + i];
    for (u64 n = 0; n < pieces.word[0]; n++) {
        const u64* piece = pieces.word + 19 + 3 * n;
        u64 from = piece[0], to = piece[1], bytes = piece[2];
        if ((from | to | bytes) & 15) bring_as<u8>(from, to, bytes);
        else bring_as<Sixteen>(from, to, bytes);
    }
}
