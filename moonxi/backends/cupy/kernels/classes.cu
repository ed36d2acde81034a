// Operations that read labels; after faults.cuh. The result of a label that is no class is NaN or nothing.

// x is (rows, classes) in order; labels are array 0 of the walk over (rows, count).
KERNEL gather(const T* x, const i64* labels, T* out, const Walk walk, u64 count, u64 classes, i64 operation, Fault* fault) {
    EACH(i, walk.count) {
        i64 at[1];
        offsets<1>(walk, i, at);
        i64 label = labels[at[0]];
        if (is_class(label, classes, i, operation, fault)) out[i] = x[i / count * classes + (u64)label];
        else keep((A)NAN, out[i]);
    }
}

// out is (rows, size); each element adds those of its row with its label, in order.
KERNEL scatter_add(const T* x, const i64* labels, T* out, const Walk walk, u64 count, u64 rows, u64 size, i64 operation,
                   Fault* fault) {
    EACH(i, rows * size) {
        u64 row = i / size;
        i64 mine = (i64)(i % size), at[1];
        A total = 0;
        for (u64 n = 0; n < count; n++) {
            offsets<1>(walk, row * count + n, at);
            i64 label = labels[at[0]];
            if (label == mine) total += load(x[row * count + n]);
        }
        keep(total, out[i]);
    }
    EACH(j, walk.count) {
        i64 at[1];
        offsets<1>(walk, j, at);
        is_class(labels[at[0]], size, j, operation, fault);
    }
}

// The same for many labels and classes: sums in double precision, in any order.
KERNEL scatter_atomic(const T* x, const i64* labels, double* sums, const Walk walk, u64 count, u64 size, i64 operation,
                      Fault* fault) {
    EACH(i, walk.count) {
        i64 at[1];
        offsets<1>(walk, i, at);
        i64 label = labels[at[0]];
        if (is_class(label, size, i, operation, fault)) atomicAdd(&sums[i / count * size + (u64)label], (double)load(x[i]));
    }
}

KERNEL pick(const T* x, const i64* labels, T* out, u64 count, u64 classes, i64 operation, Fault* fault) {
    EACH(i, count) {
        if (is_class(labels[i], classes, i, operation, fault)) out[i] = x[i * classes + (u64)labels[i]];
        else keep((A)NAN, out[i]);
    }
}

KERNEL put(const T* x, const i64* labels, T* out, u64 count, u64 classes, i64 operation, Fault* fault) {
    EACH(i, count * classes) {
        u64 row = i / classes;
        if ((i64)(i % classes) == labels[row]) out[i] = x[row];
        else keep((A)0, out[i]);
    }
    EACH(j, count) is_class(labels[j], classes, j, operation, fault);
}

KERNEL one_hot(const i64* labels, T* out, u64 count, u64 classes, i64 operation, Fault* fault) {
    EACH(i, count * classes) keep((A)((i64)(i % classes) == labels[i / classes]), out[i]);
    EACH(j, count) is_class(labels[j], classes, j, operation, fault);
}

DEVICE bool is_before(A a, A b) { return a < b || (is_nan(b) && !is_nan(a)); }

// x is (rows, size) in order. Each element counts those of its row that come before it, and writes its index there:
// NaN is the largest number, and equal ones keep their order.
KERNEL argsort(const T* x, i64* out, u64 count, u64 size, u64 descending) {
    EACH(i, count) {
        u64 row = i / size * size, place = 0;
        A mine = load(x[i]);
        for (u64 n = row; n < row + size; n++) {
            A other = load(x[n]);
            bool less = is_before(other, mine), more = is_before(mine, other);
            place += (descending ? more : less) || (!less && !more && n < i);
        }
        out[row + place] = (i64)(i - row);
    }
}
