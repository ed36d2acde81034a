// Philox 4x64-10 (Salmon et al. 2011) in counter mode, as in moonxi/key.py: block i, counted from 1, is
// philox((i, 0, 0, 0), key). The key is given as two words, or stored.

DEVICE void philox(u64 number, u64 k0, u64 k1, u64* word) {
    u64 c0 = number, c1 = 0, c2 = 0, c3 = 0;
    for (int round = 0; round < 10; round++) {
        u64 high0 = high_product(0xD2E7470EE14C6C93ull, c0), low0 = 0xD2E7470EE14C6C93ull * c0;
        u64 high1 = high_product(0xCA5A826395121157ull, c2), low1 = 0xCA5A826395121157ull * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B97F4A7C15ull;
        k1 += 0xBB67AE8584CAA73Bull;
    }
    word[0] = c0; word[1] = c1; word[2] = c2; word[3] = c3;
}

// From the upper bits of each half word, low first: as many bits as the element type holds of a number below 1.
DEVICE void from_half(u32 half, float& y) { y = (float)(half >> 8) * 5.9604644775390625e-8f; }
DEVICE void from_half(u32 half, f16& y) { keep((float)(half >> 21) * 4.8828125e-4f, y); }
DEVICE void from_half(u32 half, bf16& y) { keep((float)(half >> 24) * 3.90625e-3f, y); }

template <typename X> DEVICE void uniform_block(const u64* word, u64 block, X* out, u64 count) {
    for (int n = 0; n < 8; n++)
        if (block * 8 + n < count) from_half((u32)(word[n / 2] >> (n % 2 * 32)), out[block * 8 + n]);
}

DEVICE void uniform_block(const u64* word, u64 block, double* out, u64 count) {
    for (int n = 0; n < 4; n++)
        if (block * 4 + n < count) out[block * 4 + n] = (double)(word[n] >> 11) * 1.1102230246251565e-16;
}

KERNEL uniform(T* out, const u64* stored, u64 k0, u64 k1, u64 blocks, u64 count) {
    if (stored) { k0 = stored[0]; k1 = stored[1]; }
    EACH(block, blocks) {
        u64 word[4];
        philox(block + 1, k0, k1, word);
        uniform_block(word, block, out, count);
    }
}

// Box and Muller (1958) in double precision: words 2i and 2i+1 give elements 2i (cosine) and 2i+1 (sine).
KERNEL normal(T* out, const u64* stored, u64 k0, u64 k1, u64 blocks, u64 count) {
    if (stored) { k0 = stored[0]; k1 = stored[1]; }
    EACH(block, blocks) {
        u64 word[4];
        philox(block + 1, k0, k1, word);
        for (int pair = 0; pair < 2; pair++) {
            double u = (double)(word[pair * 2] >> 11) * 1.1102230246251565e-16;
            double angle = (double)(word[pair * 2 + 1] >> 11) * 1.1102230246251565e-16 * 6.283185307179586;
            double radius = sqrt(-2.0 * log1p(-u));
            u64 at = block * 4 + pair * 2;
            if (at < count) keep(radius * cos(angle), out[at]);
            if (at + 1 < count) keep(radius * sin(angle), out[at + 1]);
        }
    }
}
