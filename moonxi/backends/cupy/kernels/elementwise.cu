// Arithmetic and comparison, element by element; after functions.cuh.

#define UNARY(name) \
    KERNEL name(const T* x, T* out, u64 count) { \
        EACH(i, count) { \
            A a = load(x[i]); \
            keep(name##_of(a), out[i]); \
        } \
    }

// Of two arrays that lie alike; of an array and a number; of two arrays that lie anyhow or broadcast.
#define BINARY(name, R, store) \
    KERNEL name##_same(const T* x, const T* y, R* out, u64 count) { \
        EACH(i, count) { \
            A a = load(x[i]), b = load(y[i]); \
            store; \
        } \
    } \
    KERNEL name##_number(const T* x, R* out, double number, u64 count) { \
        A b = (A)number; \
        EACH(i, count) { \
            A a = load(x[i]); \
            store; \
        } \
    } \
    KERNEL name##_strided(const T* x, const T* y, R* out, const Walk walk) { \
        EACH(i, walk.count) { \
            i64 at[2]; \
            offsets<2>(walk, i, at); \
            A a = load(x[at[0]]), b = load(y[at[1]]); \
            store; \
        } \
    }

// Of a number and an array, where the other side would make a difference.
#define FROM_NUMBER(name) \
    KERNEL name##_from(const T* y, T* out, double number, u64 count) { \
        A a = (A)number; \
        EACH(i, count) { \
            A b = load(y[i]); \
            keep(name##_of(a, b), out[i]); \
        } \
    }

// An array where another one, that lies alike, compares to a number, and another number elsewhere.
#define CHOICE(name) \
    KERNEL where_##name(const T* compared, const T* x, T* out, double number, double other, u64 count) { \
        A b = (A)number; \
        T rest; \
        keep((A)other, rest); \
        EACH(i, count) { \
            A a = load(compared[i]); \
            out[i] = name##_of(a, b) ? x[i] : rest; \
        } \
    }

#define ARITHMETIC(name) BINARY(name, T, keep(name##_of(a, b), out[i]))
#define COMPARISON(name) BINARY(name, u8, out[i] = name##_of(a, b)) CHOICE(name)

UNARY(negative)
UNARY(exponential)
UNARY(logarithm)
UNARY(exponential_less_one)
UNARY(logarithm_of_one_more)
UNARY(sine)
UNARY(cosine)
UNARY(hyperbolic_tangent)
UNARY(error_function)
UNARY(square_root)
UNARY(round_down)
UNARY(squared)
UNARY(rectified)

ARITHMETIC(add)
ARITHMETIC(subtract)
ARITHMETIC(multiply)
ARITHMETIC(divide)
ARITHMETIC(power)
ARITHMETIC(maximum)
FROM_NUMBER(subtract)
FROM_NUMBER(divide)
FROM_NUMBER(power)
COMPARISON(less)
COMPARISON(less_equal)
COMPARISON(greater)
COMPARISON(greater_equal)

// Sums and differences of products with numbers, each product rounded as if it had been kept.
// Each product is with the number at an address, where there is one, or else with the number given.
#define FACTORS A first = by_x ? (A)load(*by_x) : (A)left, second = by_y ? (A)load(*by_y) : (A)right;
#define SCALED(name, sign) \
    KERNEL name##_same(const T* x, const T* y, T* out, const T* by_x, double left, const T* by_y, double right, u64 count) { \
        FACTORS \
        EACH(i, count) keep((A)(rounded(load(x[i]) * first) sign rounded(load(y[i]) * second)), out[i]); \
    } \
    KERNEL name##_strided(const T* x, const T* y, T* out, const T* by_x, double left, const T* by_y, double right, \
                          const Walk walk) { \
        FACTORS \
        EACH(i, walk.count) { \
            i64 at[2]; \
            offsets<2>(walk, i, at); \
            keep((A)(rounded(load(x[at[0]]) * first) sign rounded(load(y[at[1]]) * second)), out[i]); \
        } \
    }
SCALED(add_scaled, +)
SCALED(subtract_scaled, -)

KERNEL multiply_by(const T* x, const T* by, T* out, u64 count) {
    A factor = load(*by);
    EACH(i, count) keep((A)(load(x[i]) * factor), out[i]);
}

// From another element type, S.
#define CONVERSION(name, S) \
    KERNEL name(const S* x, T* out, u64 count) { \
        EACH(i, count) keep(load(x[i]), out[i]); \
    }
CONVERSION(from_float16, f16)
CONVERSION(from_bfloat16, bf16)
CONVERSION(from_float32, float)
CONVERSION(from_float64, double)
