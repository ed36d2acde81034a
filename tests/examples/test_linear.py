import pytest

import moonxi as mx
from examples import linear
from moonxi import nn
from tests.examples.program import EXAMPLES, run


def test_the_line_is_found_in_200_epochs() -> None:
    ended = run(EXAMPLES / "linear.py")
    assert (ended.code, ended.err) == (0, [])
    assert ended.out[-1] == "w 3.00  b 1.00"
    assert [int(line.split()[1]) for line in ended.out[:-1]] == [50, 100, 150, 200]


def test_the_loss_that_is_shown_falls() -> None:
    shown = [float(line.split()[-1]) for line in run(EXAMPLES / "linear.py").out[:-1]]
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] < 1e-9


def test_every_run_prints_the_same() -> None:
    assert run(EXAMPLES / "linear.py") == run(EXAMPLES / "linear.py")


def test_another_line_than_the_one_looked_for_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def found[T: mx.MlpTensor](like: T) -> tuple[float, float]:
        return 2.99, 1.0

    monkeypatch.setattr(linear, "fit", found)
    with pytest.raises(SystemExit, match=r"^expected w 3\.00 and b 1\.00$"):
        linear.main()
    assert capsys.readouterr().out == "w 2.99  b 1.00\n"


@pytest.mark.parametrize("epochs", [0, 1, 20])
def test_the_fit_runs_under_differentiation_unchanged(epochs: int) -> None:
    for plain in (linear.fit(mx.numpy(mx.F64), epochs), linear.fit(mx.constant(mx.numpy(mx.F64)), epochs)):
        assert linear.fit(mx.constant(mx.constant(mx.numpy(mx.F64))), epochs) == pytest.approx(plain, rel=1e-12)
    assert linear.fit(mx.constant(mx.numpy()), epochs) == pytest.approx(linear.fit(mx.numpy(), epochs), rel=1e-5)


def test_the_fit_needs_no_particular_element_type() -> None:
    assert linear.fit(mx.numpy(mx.F64), 400) == pytest.approx((3.0, 1.0), rel=1e-9)
    assert linear.fit(mx.numpy(mx.F32), 400) == pytest.approx((3.0, 1.0), rel=1e-5)


def test_the_first_epoch_is_a_step_of_gradient_descent() -> None:
    w, b = linear.fit(mx.numpy(mx.F64), 0)
    mean_square = sum((2 * i / 63 - 1) ** 2 for i in range(64)) / 64
    stepped = w - 0.1 * 2 * (w - 3) * mean_square, b - 0.1 * 2 * (b - 1)
    assert linear.fit(mx.numpy(mx.F64), 1) == pytest.approx(stepped, rel=1e-12)


def test_points_of_unequal_number_are_refused() -> None:
    cpu = mx.numpy()
    model = nn.Linear.init(1, 1, like=cpu, key=mx.Key(0))
    points = linear.Points(cpu.zeros((4, 1)), cpu.zeros((1, 1)))  # type: ignore[tensor-shape]  # the error is what is tested
    with pytest.raises(mx.errors.ShapeError, match=r"^mse \(prediction and target\): \(4, 1\) .* \(1, 1\)"):
        linear.loss(model.map(mx.constant), points.map(mx.constant), nn.Eval())
