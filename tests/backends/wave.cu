struct Words { u64 word[7]; };

KERNEL wave0(IN_PLACE Words words) {
    __shared__ A arena[1088];
    const T* __restrict__ x0 = (const T*)words.word[0];
    const T* __restrict__ x1 = (const T*)words.word[1];
    const T* __restrict__ x2 = (const T*)words.word[2];
    T* __restrict__ y5 = (T*)words.word[3];
    for (u32 block = blockIdx.x; block < 128; block += gridDim.x) {
        if (block < 128) {
            u32 own = block - 0;
            u32 row = own / 8 * 4, column = own % 8 * 4;
            products<4, 4, 100, 100, 64, true, true>(
                [&](u32 i, u32 k, A* to) {
                    if (row + i < 64) bring(x0 + (row + i) * 100 + k * 1, to);
                    else *to = 0;
                },
                [&](u32 k, u32 j, A* to) {
                    if (column + j < 32) bring(x1 + k * 32 + (column + j) * 1, to);
                    else *to = 0;
                },
                arena);
            for (u32 e = threadIdx.x; e < 16; e += LANES) {
                u32 i = row + e / 4, j = column + e % 4, f = i * 32 + j;
                if (i < 64 && j < 32) {
                    A v3 = rounded(of_parts<64, 17>(arena + e));
                    A v2 = load(x2[(f % 32)]);
                    A v4 = rounded(add_of(v3, v2));
                    A v5 = rounded(rectified_of(v4));
                    keep(v5, y5[f]);
                }
            }
        }
        barrier();
    }
}
