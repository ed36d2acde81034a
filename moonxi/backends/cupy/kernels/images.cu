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

// Where a result (batch, channels, places down, places across) lies: in that order, or with the channels last.
struct Place { i64 n, c, row, column; };

DEVICE Place place_of(u64 i, i64 channels, i64 rows, i64 columns, i64 channels_last) {
    Place place;
    if (channels_last) { place.c = (i64)(i % (u64)channels); i /= (u64)channels; }
    place.column = (i64)(i % (u64)columns);
    i /= (u64)columns;
    place.row = (i64)(i % (u64)rows);
    i /= (u64)rows;
    if (!channels_last) { place.c = (i64)(i % (u64)channels); i /= (u64)channels; }
    place.n = (i64)i;
    return place;
}

DEVICE i64 index_of(Place place, i64 channels, i64 rows, i64 columns, i64 channels_last) {
    return channels_last ? ((place.n * rows + place.row) * columns + place.column) * channels + place.c
                         : ((place.n * channels + place.c) * rows + place.row) * columns + place.column;
}

// The first largest of a window, or its first NaN, as the index row * width + column in the image; -1 for none.
DEVICE i64 first_largest(const T* x, const Images& images, Place place, A& found) {
    i64 best = -1;
    const T* image = x + place.n * images.stride[0] + place.c * images.stride[1];
    for (i64 kh = 0; kh < images.rows.kernel; kh++) {
        i64 row = place.row * images.rows.stride - images.rows.before + kh * images.rows.dilation;
        if (row < 0 || row >= images.rows.size) continue;
        for (i64 kw = 0; kw < images.columns.kernel; kw++) {
            i64 column = place.column * images.columns.stride - images.columns.before + kw * images.columns.dilation;
            if (column < 0 || column >= images.columns.size) continue;
            A here = load(image[row * images.stride[2] + column * images.stride[3]]);
            if (best < 0 || here > found || (is_nan(here) && !is_nan(found))) {
                found = here;
                best = row * images.columns.size + column;
            }
        }
    }
    return best;
}

KERNEL largest(const T* x, T* out, const Images images, i64 channels_last, u64 count) {
    EACH(i, count) {
        A found = -(A)INFINITY;
        first_largest(x, images, place_of(i, images.channels, images.rows.count, images.columns.count, channels_last), found);
        keep(found, out[i]);
    }
}

KERNEL largest_places(const T* x, i64* out, const Images images, i64 channels_last, u64 count) {
    EACH(i, count) {
        A found = -(A)INFINITY;
        out[i] = first_largest(
            x, images, place_of(i, images.channels, images.rows.count, images.columns.count, channels_last), found);
    }
}

// Each pixel asks the windows that it is in. `chosen` are the indices of largest_places, or none for a sum; both it and
// dy lie as the result does.
template <bool ALL>
DEVICE void pool_grad(const i64* chosen, const T* dy, T* out, const Images& images, i64 channels_last, u64 count) {
    EACH(i, count) {
        Place pixel = place_of(i, images.channels, images.rows.size, images.columns.size, channels_last);
        i64 mine = pixel.row * images.columns.size + pixel.column;
        A total = 0;
        for (i64 kh = 0; kh < images.rows.kernel; kh++) {
            i64 down = pixel.row + images.rows.before - kh * images.rows.dilation;
            if (down < 0 || down % images.rows.stride || down / images.rows.stride >= images.rows.count) continue;
            for (i64 kw = 0; kw < images.columns.kernel; kw++) {
                i64 across = pixel.column + images.columns.before - kw * images.columns.dilation;
                if (across < 0 || across % images.columns.stride || across / images.columns.stride >= images.columns.count)
                    continue;
                Place place = {pixel.n, pixel.c, down / images.rows.stride, across / images.columns.stride};
                i64 at = index_of(place, images.channels, images.rows.count, images.columns.count, channels_last);
                if (ALL || chosen[at] == mine) total += load(dy[at]);
            }
        }
        keep(total, out[i]);
    }
}

KERNEL largest_grad(const i64* chosen, const T* dy, T* out, const Images images, i64 channels_last, u64 count) {
    pool_grad<false>(chosen, dy, out, images, channels_last, count);
}

KERNEL total_grad(const T* dy, T* out, const Images images, i64 channels_last, u64 count) {
    pool_grad<true>(nullptr, dy, out, images, channels_last, count);
}

KERNEL total(const T* x, T* out, const Images images, i64 channels_last, u64 count) {
    EACH(i, count) {
        Place place = place_of(i, images.channels, images.rows.count, images.columns.count, channels_last);
        const T* image = x + place.n * images.stride[0] + place.c * images.stride[1];
        A sum = 0;
        for (i64 kh = 0; kh < images.rows.kernel; kh++) {
            i64 row = place.row * images.rows.stride - images.rows.before + kh * images.rows.dilation;
            if (row < 0 || row >= images.rows.size) continue;
            for (i64 kw = 0; kw < images.columns.kernel; kw++) {
                i64 column = place.column * images.columns.stride - images.columns.before + kw * images.columns.dilation;
                if (column < 0 || column >= images.columns.size) continue;
                sum += load(image[row * images.stride[2] + column * images.stride[3]]);
            }
        }
        keep(sum, out[i]);
    }
}
