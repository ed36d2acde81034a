// What a generated kernel (formula_source.py) begins with; after functions.cuh, lanes.cuh and
// LANES: how many elements a thread takes at a time.
//
// A kernel computes one formula for several members, each with arrays of its own. Each block takes chunks of elements
// that follow each other, those of the first member first. The words of a pack: how many members and chunks there are, the first chunk of each
// member, and then the words of each member, the first of which says how many elements it has.

const int WORDS = 500, THREADS = 256, WARP = 32;
const u64 CHUNK = 2 * THREADS * LANES;

struct Pack { u64 word[WORDS]; };

// The member that a chunk belongs to.
DEVICE u64 member_of(const Pack& pack, u64 chunk) {
    u64 low = 0, high = pack.word[0];
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (pack.word[2 + middle] <= chunk) low = middle;
        else high = middle;
    }
    return low;
}

// The sum of what the threads of a block have, at an address.
DEVICE void add_up(A mine, A* out) {
    __shared__ A shared[THREADS / WARP];
    u32 warps = blockDim.x / WARP;
    mine = over_lanes(mine, warps ? WARP : 1);
    if (threadIdx.x % WARP == 0) shared[threadIdx.x / WARP] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 n = 1; n < warps; n++) mine += shared[n];
        *out = mine;
    }
    __syncthreads();
}

// Sums of parts: three words for each sum, after their number: where the parts are, how many, and where the sum goes.
KERNEL finish_sums(IN_PLACE Pack pack) {
    __shared__ A total;
    for (u64 n = blockIdx.x; n < pack.word[0]; n += gridDim.x) {
        const u64* own = pack.word + 1 + 3 * n;
        const A* parts = (const A*)own[0];
        A found = 0;
        for (u64 i = threadIdx.x; i < own[1]; i += blockDim.x) found += parts[i];
        add_up(found, &total);
        if (threadIdx.x == 0) keep(total, *(T*)own[2]);
        __syncthreads();
    }
}
