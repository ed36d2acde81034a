// Neighbours in memory that a thread takes at a time, 16 bytes of them: N is 1 or VECTOR, and the address of several a
// multiple of their size. What is read is not written to by the same kernel.

const int VECTOR = sizeof(T) > 4 ? 1 : 16 / sizeof(T);

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

// N neighbours as they lie in memory, until they are computed with.
template <typename X, int N> struct Words {
    u32 words[N * sizeof(X) / 4];
    DEVICE void read(const X* from) { read_words(from, words); }
};
template <typename X> struct Words<X, 1> {
    X one;
    DEVICE void read(const X* from) { one = *from; }
};

template <int N> DEVICE void unpack(const Words<T, N>& from, A (&to)[N]) {
    if constexpr (N == 1) to[0] = load(from.one);
    else for (int n = 0; n < N; n++) to[n] = unpacked(from.words, n, (T*)0);
}
template <int N, typename X> DEVICE void unpack(const Words<u8, N>& from, X (&to)[N]) {
    if constexpr (N == 1) to[0] = (X)from.one;
    else for (int n = 0; n < N; n++) to[n] = (X)(from.words[n / 4] >> 8 * (n % 4) & 255);
}
template <int N> DEVICE void take(const T* from, A (&to)[N]) {
    Words<T, N> words;
    words.read(from);
    unpack(words, to);
}
template <int N, typename X> DEVICE void take(const u8* from, X (&to)[N]) {
    Words<u8, N> words;
    words.read(from);
    unpack(words, to);
}
template <int N> DEVICE void put(T* to, const A (&from)[N]) {
    if constexpr (N == 1) keep(from[0], *to);
    else {
        const int each = 4 / sizeof(T);
        u32 words[N / each];
        for (int n = 0; n < N / each; n++) {
            words[n] = packed(from[n * each], (T*)0);
            if (each == 2) words[n] |= packed(from[n * each + each - 1], (T*)0) << 16;
        }
        write_words(to, words);
    }
}
template <int N, typename X> DEVICE void put(u8* to, const X (&from)[N]) {
    if constexpr (N == 1) *to = (u8)from[0];
    else {
        u32 words[N / 4];
        for (int n = 0; n < N / 4; n++)
            words[n] = (u32)from[4 * n] | (u32)from[4 * n + 1] << 8 | (u32)from[4 * n + 2] << 16 | (u32)from[4 * n + 3] << 24;
        write_words(to, words);
    }
}

#ifndef ON_HOST
DEVICE float from_lane(float x, u32 step) { return __shfl_xor_sync(~0u, x, step); }
DEVICE double from_lane(double x, u32 step) { return __shfl_xor_sync(~0u, x, step); }
#endif

// The sum of what `share` neighbours among the threads of a warp have, a power of two.
DEVICE A over_lanes(A x, u32 share) {
    for (u32 step = share / 2; step; step /= 2) x += from_lane(x, step);
    return x;
}
