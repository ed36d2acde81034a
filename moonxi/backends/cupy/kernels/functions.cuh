// What is computed of one element, or of two. Compiled so that no product and sum become one operation.

#define FUNCTION(name, expression) DEVICE A name##_of(A a) { return (A)(expression); }
#define FUNCTION_OF_TWO(name, expression) DEVICE A name##_of(A a, A b) { return (A)(expression); }
#define QUESTION(name, expression) DEVICE bool name##_of(A a, A b) { return expression; }

FUNCTION(negative, -a)
FUNCTION(exponential, exp(a))
FUNCTION(logarithm, log(a))
FUNCTION(exponential_less_one, expm1(a))
FUNCTION(logarithm_of_one_more, log1p(a))
FUNCTION(sine, sin(a))
FUNCTION(cosine, cos(a))
FUNCTION(hyperbolic_tangent, tanh(a))
FUNCTION(error_function, erf(a))
FUNCTION(square_root, sqrt(a))
FUNCTION(round_down, floor(a))
FUNCTION(squared, a * a)
FUNCTION(rectified, is_nan(a) || a > 0 ? a : (A)0)

FUNCTION_OF_TWO(add, a + b)
FUNCTION_OF_TWO(subtract, a - b)
FUNCTION_OF_TWO(multiply, a * b)
FUNCTION_OF_TWO(divide, a / b)
FUNCTION_OF_TWO(power, pow(a, b))
FUNCTION_OF_TWO(maximum, larger(a, b))

QUESTION(less, a < b)
QUESTION(less_equal, a <= b)
QUESTION(greater, a > b)
QUESTION(greater_equal, a >= b)
QUESTION(equal, a == b)

// A number as it would be if it had been kept as an element.
DEVICE A rounded(A x) {
    T kept;
    keep(x, kept);
    return load(kept);
}

// Where an operand that goes along one axis lies, for the element at place i: the stride of that axis where every
// element is, its size, and the stride of the operand.
DEVICE u64 along(u64 i, const u64* axis) {
    u64 inner = axis[0], size = axis[1];
    if (i >> 32) return i / inner % size * axis[2];
    return (u64)((u32)i / (u32)inner % (u32)size) * axis[2];
}
