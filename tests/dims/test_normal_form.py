import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from moonxi.dims import Size, ceil_div, maximum, minimum, parse, symbol
from tests.dims.expressions import expressions, symbolic

n, m, k = symbol("n"), symbol("m"), symbol("k")


@st.composite
def _sizes(draw: st.DrawFn) -> Size:
    size = symbolic(draw(expressions))
    assume(size is not None)
    assert size is not None
    return size


sizes = _sizes()
linear = st.builds(lambda p, q, r: p * n + q * m + r, *[st.integers(-9, 9)] * 3)
divisors = st.integers(1, 7)


@given(sizes, sizes, sizes)
@settings(deadline=None)
def test_sums_and_products_form_a_commutative_ring(x: Size, y: Size, z: Size) -> None:
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - y + y == x


@given(sizes, sizes)
@settings(deadline=None)
def test_quotient_and_remainder_make_up_the_dividend(x: Size, y: Size) -> None:
    assume(y != 0)
    assert y * (x // y) + x % y == x


@given(sizes, sizes)
@settings(deadline=None)
def test_a_product_divided_by_a_factor_is_the_other(x: Size, y: Size) -> None:
    assume(y != 0)
    assert (x * y) // y == x
    assert (x * y) % y == 0


@given(sizes, linear, divisors)
@settings(deadline=None)
def test_multiples_of_the_divisor_leave_a_quotient(x: Size, y: Size, divisor: int) -> None:
    assert (divisor * x + y) // divisor == x + y // divisor
    assert (divisor * x + y) % divisor == y % divisor


@given(linear, st.sampled_from([k, 2 * k, k + 1, n * k + m]), linear)
@settings(deadline=None)
def test_multiples_of_a_symbolic_divisor_leave_a_quotient(x: Size, divisor: Size, y: Size) -> None:
    assert (divisor * x + y) // divisor == x + y // divisor


@given(linear, divisors, divisors, st.integers(-5, 5))
@settings(deadline=None)
def test_nested_quotients_are_one(x: Size, inner: int, outer: int, offset: int) -> None:
    assert (x // inner) // outer == x // (inner * outer)
    assert (x // inner + offset) // outer == (x + offset * inner) // (inner * outer)


@given(linear, divisors, divisors)
@settings(deadline=None)
def test_a_common_factor_of_dividend_and_divisor_cancels(x: Size, factor: int, divisor: int) -> None:
    assert (factor * x) // (factor * divisor) == x // divisor
    assert (k * x) // (k * divisor) == x // divisor
    assert (-x) // (-divisor) == x // divisor


@given(linear, divisors)
@settings(deadline=None)
def test_ceil_div_is_the_floor_of_the_raised_dividend(x: Size, divisor: int) -> None:
    assert ceil_div(x, divisor) == (x + divisor - 1) // divisor


@given(sizes, sizes, sizes)
@settings(deadline=None)
def test_maximum_and_minimum_do_not_see_the_order_or_repetition_of_operands(x: Size, y: Size, z: Size) -> None:
    for choose in (maximum, minimum):
        assert choose(x, x) == x
        assert choose(x, y, x) == choose(x, y)


@given(linear, linear, linear, st.integers(-9, 9), divisors)
@settings(deadline=None)
def test_maximum_of_linear_sizes_is_associative_shifts_and_scales(
    x: Size, y: Size, z: Size, shift: int, scale: int
) -> None:
    assert maximum(x, y) == maximum(y, x)
    assert maximum(maximum(x, y), z) == maximum(x, maximum(y, z)) == maximum(z, y, x)
    assert maximum(x + shift, y + shift) == maximum(x, y) + shift
    assert maximum(scale * x, scale * y) == scale * maximum(x, y)
    assert minimum(x, y) == -maximum(-x, -y)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("batch", "batch"),
        ("2*c", "2*c"),
        ("c*2+c", "3*c"),
        ("(h-1)//2+1", "(h-1)//2+1"),
        ("(h+1)//2", "(h-1)//2+1"),
        ("(h+2*1-3)//2+1", "(h-1)//2+1"),
        ("(h-2)//2+1", "h//2"),
        ("((h-1)//2+1-1)//2+1", "(h-1)//4+1"),
        ("(h-k)//2+1", "(h-k)//2+1"),
        ("h*w//4", "(h*w)//4"),
        ("2*(h//2)", "2*(h//2)"),
        ("batch*(h//2)*64", "64*batch*(h//2)"),
        ("(2*n)//2", "n"),
        ("(2*n+1)//4", "n//2"),
        ("(n*c+k*c+5)//c", "k+n+5//c"),
        ("(n*n+2*n+1)//(n+1)", "n+1"),
        ("n//2//3", "n//6"),
        ("3*n//2", "n+n//2"),
        ("n%2", "n%2"),
        ("2*n%4", "2*(n%2)"),
        ("n*(m%2)", "n*(m%2)"),
        ("n-h//2", "n-h//2"),
        ("-(h//2)", "-(h//2)"),
        ("-h//2", "h//2-h"),
        ("5-n", "5-n"),
        ("(n%4)//4", "0"),
        ("n%4%4", "n%4"),
        ("min(n,5)", "min(n,5)"),
        ("max(n,0)", "n"),
        ("min(n,-1)", "-1"),
        ("max(n-1,0)", "max(n,1)-1"),
        ("max(2*n,2*m)", "2*max(m,n)"),
        ("max(n+2*k,m+k)", "k+max(k+n,m)"),
        ("max(n-m,m)", "max(n-m,m)"),
        ("max(n,min(m,5))", "max(n,min(m,5))"),
        ("n//(2*k)", "n//(2*k)"),
        ("n//k//2", "n//(2*k)"),
        ("n//(k+1)", "n//(k+1)"),
        ("n//(n+1)", "0"),
        ("n%k%k", "n%k"),
    ],
)
def test_an_expression_is_shown_in_normal_form(written: str, shown: str) -> None:
    assert str(parse(written)) == shown


def test_a_shape_reads_as_it_is_written() -> None:
    assert repr((symbol("batch"), 64, parse("(h-1)//2+1"), 8)) == "(batch, 64, (h-1)//2+1, 8)"


def test_a_name_with_another_least_is_another_symbol() -> None:
    assert symbol("n") != symbol("n", least=1)
