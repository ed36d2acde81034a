// Convolution as a product of matrices: what each place sees, and the sum of what each pixel was seen as.
// Pooling over windows.

struct Window { i64 size, kernel, count, before, stride, dilation; };

// Images (batch, channels, height, width) that lie anyhow, and the windows along rows and columns.
struct Images {
    i64 batch, channels;
    Window rows, columns;
    i64 stride[4];
};

// (groups, batch, places down, places across, kernel height, kernel width, channels of a group)
KERNEL patches(const T* x, T* out, const Images images, u64 groups, u64 count) {
    u64 own = (u64)images.channels / groups;
    EACH(i, count) {
        u64 rest = i, c = rest % own;
        rest /= own;
        i64 kw = (i64)(rest % (u64)images.columns.kernel);
        rest /= (u64)images.columns.kernel;
        i64 kh = (i64)(rest % (u64)images.rows.kernel);
        rest /= (u64)images.rows.kernel;
        i64 across = (i64)(rest % (u64)images.columns.count);
        rest /= (u64)images.columns.count;
        i64 down = (i64)(rest % (u64)images.rows.count);
        rest /= (u64)images.rows.count;
        i64 n = (i64)(rest % (u64)images.batch), group = (i64)(rest / (u64)images.batch);
        i64 row = down * images.rows.stride - images.rows.before + kh * images.rows.dilation;
        i64 column = across * images.columns.stride - images.columns.before + kw * images.columns.dilation;
        bool inside = row >= 0 && row < images.rows.size && column >= 0 && column < images.columns.size;
        if (inside)
            out[i] = x[n * images.stride[0] + (group * (i64)own + (i64)c) * images.stride[1] + row * images.stride[2]
                       + column * images.stride[3]];
        else keep((A)0, out[i]);
    }
}

// The adjoint, into images with the channels last: each pixel asks the windows that it is in, in order.
KERNEL spread(const T* x, T* out, const Images images, u64 groups, u64 count) {
    i64 own = images.channels / (i64)groups;
    EACH(i, count) {
        u64 rest = i;
        i64 channel = (i64)(rest % (u64)images.channels);
        rest /= (u64)images.channels;
        i64 column = (i64)(rest % (u64)images.columns.size);
        rest /= (u64)images.columns.size;
        i64 row = (i64)(rest % (u64)images.rows.size), n = (i64)(rest / (u64)images.rows.size);
        i64 lead = (channel / own * images.batch + n) * images.rows.count;
        A total = 0;
        for (i64 kh = 0; kh < images.rows.kernel; kh++) {
            i64 down = row + images.rows.before - kh * images.rows.dilation;
            if (down < 0 || down % images.rows.stride || down / images.rows.stride >= images.rows.count) continue;
            for (i64 kw = 0; kw < images.columns.kernel; kw++) {
                i64 across = column + images.columns.before - kw * images.columns.dilation;
                if (across < 0 || across % images.columns.stride || across / images.columns.stride >= images.columns.count)
                    continue;
                i64 place = (lead + down / images.rows.stride) * images.columns.count + across / images.columns.stride;
                i64 tap = (place * images.rows.kernel + kh) * images.columns.kernel + kw;
                total += load(x[tap * own + channel % own]);
            }
        }
        keep(total, out[i]);
    }
}

// Rows of `rows` x `columns` pixels, or taps, by two as large ones, (n, down, across, channels): of each the channels of
// the upper left pixel, then those of the others, then zeros, to a multiple of VECTOR. I is u32 where all numbers have
// room there.
struct Fold { i64 own, channels, rows, columns, down, across, rows_before, columns_before, stride[4]; };

template <typename I> DEVICE void fold_by(const T* x, T* out, const Fold& how, u64 count) {
    I own = (I)how.own, vectors = (I)how.channels / VECTOR, across = (I)how.across, down = (I)how.down;
    EACH(i, count / VECTOR) {
        I rest = (I)i, c = rest % vectors * VECTOR, pixel = c / own;
        rest /= vectors;
        c -= pixel * own;
        i64 left = 2 * (i64)(rest % across) - how.columns_before;
        rest /= across;
        i64 top = 2 * (i64)(rest % down) - how.rows_before, n = (i64)(rest / down);
        A found[VECTOR];
#pragma unroll
        for (int v = 0; v < VECTOR; v++) {
            i64 row = top + pixel / 2, column = left + pixel % 2;
            bool inside = pixel < 4 && row >= 0 && row < how.rows && column >= 0 && column < how.columns;
            i64 at = n * how.stride[0] + c * how.stride[1] + row * how.stride[2] + column * how.stride[3];
            found[v] = inside ? load(x[at]) : 0;
            if (++c == own) {
                c = 0;
                pixel++;
            }
        }
        put(out + i * VECTOR, found);
    }
}

// The other way, into (n, rows, columns, own).
template <typename I> DEVICE void unfold_by(const T* x, T* out, const Fold& how, u64 count) {
    I own = (I)how.own, rows = (I)how.rows, columns = (I)how.columns;
    EACH(i, count) {
        I rest = (I)i, c = rest % own;
        rest /= own;
        I column = rest % columns + (I)how.columns_before;
        rest /= columns;
        I row = rest % rows + (I)how.rows_before, n = rest / rows;
        i64 large = ((i64)n * how.down + row / 2) * how.across + column / 2;
        out[i] = x[large * how.channels + (row % 2 * 2 + column % 2) * own + c];
    }
}

KERNEL fold(const T* x, T* out, const Fold how, u64 count) {
    if (count >> 32) fold_by<u64>(x, out, how, count);
    else fold_by<u32>(x, out, how, count);
}

KERNEL unfold(const T* x, T* out, const Fold how, u64 count) {
    if (count >> 32) unfold_by<u64>(x, out, how, count);
    else unfold_by<u32>(x, out, how, count);
}

// Pooling. Indices are of type I, 32 bits where all of them have room there: the GPU divides these far faster.

// Where a result (batch, channels, places down, places across) lies: in that order, or with the channels last.
template <typename I> struct Place { I n, c, row, column; };

template <typename I> DEVICE Place<I> place_of(I i, I channels, I rows, I columns, bool channels_last) {
    Place<I> place;
    if (channels_last) { place.c = i % channels; i /= channels; }
    place.column = i % columns;
    i /= columns;
    place.row = i % rows;
    i /= rows;
    if (!channels_last) { place.c = i % channels; i /= channels; }
    place.n = i;
    return place;
}

template <typename I> DEVICE I index_of(Place<I> place, I channels, I rows, I columns, bool channels_last) {
    return channels_last ? ((place.n * rows + place.row) * columns + place.column) * channels + place.c
                         : ((place.n * channels + place.c) * rows + place.row) * columns + place.column;
}

// The windows along an axis that see a pixel: from the last to the first, which is in the order of their kernels.
template <typename I> struct Seen {
    I at, stride, dilation, last, first;
    DEVICE Seen(const Window& window, I pixel) : stride((I)window.stride), dilation((I)window.dilation) {
        I count = (I)window.count, reach = ((I)window.kernel - 1) * dilation;
        at = pixel + (I)window.before;
        last = at / stride;
        if (last >= count) last = count - 1;
        first = at > reach ? (at - reach + stride - 1) / stride : 0;
    }
    DEVICE bool has(I place) const { return dilation == 1 || (at - place * stride) % dilation == 0; }
    DEVICE I tap(I place) const { return dilation == 1 ? at - place * stride : (at - place * stride) / dilation; }
};

// Calls each(n) with every pixel n of an axis that the window at a place sees.
template <typename I, typename Each> DEVICE void within(const Window& window, I place, const Each& each) {
    I at = place * (I)window.stride - (I)window.before, size = (I)window.size, kernel = (I)window.kernel;
    for (I k = 0; k < kernel; k++, at += (I)window.dilation)
        if (at >= 0 && at < size) each(at);
}

// The first largest of a window, or its first NaN, as the index row * width + column in the image; -1 for none.
template <typename I> DEVICE I first_largest(const T* x, const Images& images, Place<I> place, A& found) {
    I best = -1, width = (I)images.columns.size, down = (I)images.stride[2], across = (I)images.stride[3];
    const T* image = x + place.n * images.stride[0] + place.c * images.stride[1];
    within<I>(images.rows, place.row, [&](I row) {
        within<I>(images.columns, place.column, [&](I column) {
            A here = load(image[row * down + column * across]);
            if (best < 0 || here > found || (is_nan(here) && !is_nan(found))) {
                found = here;
                best = row * width + column;
            }
        });
    });
    return best;
}

// `places` gets the indices of the largest, or `out` these themselves.
template <typename I>
DEVICE void largest_of(const T* x, T* out, i64* places, const Images& images, bool channels_last, u64 count) {
    EACH(i, count) {
        A found = -(A)INFINITY;
        Place<I> place = place_of<I>((I)i, (I)images.channels, (I)images.rows.count, (I)images.columns.count, channels_last);
        I best = first_largest<I>(x, images, place, found);
        if (places) places[i] = best;
        else keep(found, out[i]);
    }
}

// Each pixel asks the windows that it is in. `chosen` are the indices of largest_places, or none for a sum; both it and
// dy lie as the result does.
template <typename I>
DEVICE void pool_grad(const i64* chosen, const T* dy, T* out, const Images& images, bool channels_last, u64 count) {
    I channels = (I)images.channels, rows = (I)images.rows.count, columns = (I)images.columns.count;
    EACH(i, count) {
        Place<I> pixel = place_of<I>((I)i, channels, (I)images.rows.size, (I)images.columns.size, channels_last);
        I mine = pixel.row * (I)images.columns.size + pixel.column;
        Seen<I> down(images.rows, pixel.row), across(images.columns, pixel.column);
        A total = 0;
        for (I row = down.last; row >= down.first; row--) {
            if (!down.has(row)) continue;
            for (I column = across.last; column >= across.first; column--) {
                if (!across.has(column)) continue;
                Place<I> place = {pixel.n, pixel.c, row, column};
                I at = index_of<I>(place, channels, rows, columns, channels_last);
                if (!chosen || chosen[at] == mine) total += load(dy[at]);
            }
        }
        keep(total, out[i]);
    }
}

template <typename I> DEVICE void total_of(const T* x, T* out, const Images& images, bool channels_last, u64 count) {
    I down = (I)images.stride[2], across = (I)images.stride[3];
    EACH(i, count) {
        Place<I> place = place_of<I>((I)i, (I)images.channels, (I)images.rows.count, (I)images.columns.count, channels_last);
        const T* image = x + place.n * images.stride[0] + place.c * images.stride[1];
        A sum = 0;
        within<I>(images.rows, place.row, [&](I row) {
            within<I>(images.columns, place.column, [&](I column) { sum += load(image[row * down + column * across]); });
        });
        keep(sum, out[i]);
    }
}

// Calls a function with indices of 32 bits if all images, with what their windows reach beyond, have room for them.
#define BY_SIZE(function, ...) if (narrow) function<int>(__VA_ARGS__); else function<i64>(__VA_ARGS__)

KERNEL largest(const T* x, T* out, const Images images, i64 channels_last, i64 narrow, u64 count) {
    BY_SIZE(largest_of, x, out, nullptr, images, channels_last, count);
}

KERNEL largest_places(const T* x, i64* out, const Images images, i64 channels_last, i64 narrow, u64 count) {
    BY_SIZE(largest_of, x, nullptr, out, images, channels_last, count);
}

KERNEL largest_grad(const i64* chosen, const T* dy, T* out, const Images images, i64 channels_last, i64 narrow, u64 count) {
    BY_SIZE(pool_grad, chosen, dy, out, images, channels_last, count);
}

KERNEL total_grad(const T* dy, T* out, const Images images, i64 channels_last, i64 narrow, u64 count) {
    BY_SIZE(pool_grad, nullptr, dy, out, images, channels_last, count);
}

KERNEL total(const T* x, T* out, const Images images, i64 channels_last, i64 narrow, u64 count) {
    BY_SIZE(total_of, x, out, images, channels_last, count);
}

// The same with the channels last, VECTOR of them a thread, where indices have 32 bits.

// A pixel and its channels, by a number.
struct Spot {
    int n, row, column, c;
    DEVICE Spot(u64 i, int channels, int rows, int columns) {
        int rest = (int)i, vectors = channels / VECTOR;
        c = rest % vectors * VECTOR;
        rest /= vectors;
        column = rest % columns;
        rest /= columns;
        row = rest % rows;
        n = rest / rows;
    }
};

// `taps` gets the places of the largest in their windows, 255 for none, and `out`, if it is there, these themselves.
KERNEL largest_last(const T* x, T* out, u8* taps, const Images images, u64 count) {
    int channels = (int)images.channels, width = (int)images.columns.size, across = (int)images.columns.kernel;
    EACH(i, count) {
        Spot spot(i, channels, (int)images.rows.count, (int)images.columns.count);
        const T* image = x + (i64)spot.n * (int)images.rows.size * width * channels + spot.c;
        A found[VECTOR];
        u32 best[VECTOR];
        for (int v = 0; v < VECTOR; v++) { found[v] = -(A)INFINITY; best[v] = 255; }
        int row = spot.row * (int)images.rows.stride - (int)images.rows.before;
        for (int kh = 0; kh < (int)images.rows.kernel; kh++, row += (int)images.rows.dilation) {
            if (row < 0 || row >= (int)images.rows.size) continue;
            int column = spot.column * (int)images.columns.stride - (int)images.columns.before;
            for (int kw = 0; kw < across; kw++, column += (int)images.columns.dilation) {
                if (column < 0 || column >= width) continue;
                A here[VECTOR];
                take(image + (row * width + column) * channels, here);
                for (int v = 0; v < VECTOR; v++)
                    if (best[v] == 255 || here[v] > found[v] || (is_nan(here[v]) && !is_nan(found[v]))) {
                        found[v] = here[v];
                        best[v] = kh * across + kw;
                    }
            }
        }
        put(taps + i * VECTOR, best);
        if (out) put(out + i * VECTOR, found);
    }
}

// The gradient of the result is dy, or the sum of it and `other`, rounded as if it were in memory.
KERNEL largest_grad_last(const u8* taps, const T* dy, const T* other, T* out, const Images images, u64 count) {
    int channels = (int)images.channels, columns = (int)images.columns.count;
    EACH(i, count) {
        Spot pixel(i, channels, (int)images.rows.size, (int)images.columns.size);
        Seen<int> down(images.rows, pixel.row), across(images.columns, pixel.column);
        int lead = pixel.n * (int)images.rows.count;
        A total[VECTOR];
        for (int v = 0; v < VECTOR; v++) total[v] = 0;
        for (int row = down.last; row >= down.first; row--) {
            if (!down.has(row)) continue;
            for (int column = across.last; column >= across.first; column--) {
                if (!across.has(column)) continue;
                int at = ((lead + row) * columns + column) * channels + pixel.c;
                u32 mine = down.tap(row) * (int)images.columns.kernel + across.tap(column), best[VECTOR];
                A here[VECTOR];
                take(taps + at, best);
                take(dy + at, here);
                if (other) {
                    A more[VECTOR];
                    take(other + at, more);
                    for (int v = 0; v < VECTOR; v++) {
                        T sum;
                        keep(here[v] + more[v], sum);
                        here[v] = load(sum);
                    }
                }
                for (int v = 0; v < VECTOR; v++) total[v] += best[v] == mine ? here[v] : 0;
            }
        }
        put(out + i * VECTOR, total);
    }
}
