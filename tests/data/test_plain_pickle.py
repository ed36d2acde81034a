import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonxi.data.plain_pickle import read_plain_pickle
from moonxi.errors import DataError
from tests.data.cifar_files import images, python_batch
from tests.parameter_names import counted

GOOD = python_batch(images(2, 0), [3, 7])
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False) | st.text(),
    lambda part: st.lists(part) | st.lists(part).map(tuple) | st.dictionaries(st.text(), part),
)


class Reduced:
    """What runs a function of its choice when it is unpickled."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.arguments = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.arguments


def test_a_batch_as_python_2_wrote_it_is_read() -> None:
    value = read_plain_pickle(GOOD, "batch")
    assert list(value) == ["batch_label", "labels", "data", "filenames"]
    assert value["batch_label"] == "training batch 1 of 5"
    assert value["labels"] == [3, 7]
    assert value["filenames"] == ["image_0.png", "image_1.png", "image_2.png"]
    assert isinstance(value["data"], np.ndarray)
    assert value["data"].dtype == np.uint8
    assert np.array_equal(value["data"], images(2, 0))


def test_the_pickles_of_these_tests_are_pickles() -> None:
    """The reader must not be tested by files that nothing else can read."""
    value = pickle.loads(GOOD, encoding="latin1")
    assert np.array_equal(value["data"], images(2, 0))


def test_an_array_stored_by_columns_is_read() -> None:
    value = read_plain_pickle(python_batch(images(2, 0), [3, 7], by_columns=True), "batch")
    assert np.array_equal(np.asarray(value["data"]), images(2, 0))


@settings(max_examples=40, deadline=None)
@given(value=st.dictionaries(st.text(), plain, max_size=4), protocol=st.sampled_from([0, 1, 2]))
def test_plain_values_are_read_as_pickle_reads_them(value: dict[str, object], protocol: int) -> None:
    assert read_plain_pickle(pickle.dumps(value, protocol), "values") == value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_that_a_pickle_names_is_executed(protocol: int, tmp_path: Path) -> None:
    made = tmp_path / "made"
    for evil in (
        Reduced(os.mkdir, str(made)),
        Reduced(os.system, f"touch {made}"),
        Reduced(eval, f"open({str(made)!r}, 'w')"),
        Reduced(np.save, str(made), np.zeros(1)),
    ):
        content = pickle.dumps({"data": evil}, protocol)
        with pytest.raises(
            DataError, match=r"^read_plain_pickle: evil: expected plain values and arrays of uint8, found"
        ):
            read_plain_pickle(content, "evil")
    assert not made.exists()
    pickle.loads(pickle.dumps(Reduced(os.mkdir, str(made)), protocol))
    assert made.exists()  # so these pickles do run what they name, where they are let


RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "GLOBAL 'os system'"),
        (b"(S'true'\nios\nsystem\n.", "INST 'os system'"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "SHORT_BINUNICODE 'os'"),
        (b"cnumpy.core.multiarray\nscalar\n.", "GLOBAL 'numpy.core.multiarray scalar'"),
        (b"(cnumpy\nndarray\nK\x01o.", "OBJ"),
        (b"cnumpy\nndarray\n)\x81.", "NEWOBJ"),
        (b"\x82\x01.", "EXT1 1"),
        (b"Psomebody\n.", "PERSID 'somebody'"),
        (b"K\x01Q.", "BINPERSID"),
        (b"cnumpy\nndarray\n)R.", "a call of numpy ndarray"),
        (b"cnumpy\nndarray\n(J\xff\xff\xff\x7ftR.", "a call of numpy ndarray"),
        (RECONSTRUCT + b"cnumpy\ndtype\n(K\x00tS'b'\n\x87R.", "a call of numpy.core.multiarray _reconstruct"),
        (RECONSTRUCT + b"cnumpy\nndarray\n(J\xff\xff\xff\x7ftS'b'\n\x87R.", "a call of numpy.core.multiarray _recon"),
        (b"cnumpy\ndtype\n(S'O8'\nK\x00K\x01tR.", "a call of numpy dtype"),
        (b"cnumpy\ndtype\n(S'u1'\nK\x00K\x01tR}b.", "a state of type that arrays of uint8 do not have"),
        (b"cnumpy\nndarray\n(N}S'__doc__'\nS''\nstb.", "a state of name that arrays of uint8 do not have"),
        (b"}}b.", "a state of dict that arrays of uint8 do not have"),
        (b"S'print'\n)R.", "a call of str"),
    ],
    ids=counted,
)
def test_what_is_no_plain_value_is_refused_by_name(content: bytes, found: str) -> None:
    with pytest.raises(DataError) as caught:
        read_plain_pickle(content, "evil")
    assert str(caught.value).startswith(
        f"read_plain_pickle: evil: expected plain values and arrays of uint8, found {found}"
    )
    assert str(caught.value).endswith("nothing in this file was executed, and nothing in it will be")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a pickle, found a damaged one: pickle exhausted before seeing STOP"),
        (b"\x1f\x8b\x08", "expected a pickle, found a damaged one: at position 0, opcode b'\\x1f' unknown"),
        (b".", "expected a pickle, found a damaged one: pop from empty list"),
        (b"N.", "expected a dictionary, found NoneType"),
        (b"}K\x01" + b"\x85" * 200_000 + b"Ns.", "expected a pickle, found a damaged one: a key is no string"),
        (b"}}Ns.", "expected a pickle, found a damaged one: a key is no string"),
        (b"g9\n.", "expected a pickle, found a damaged one: 9"),
    ],
    ids=counted,
)
def test_a_damaged_pickle_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_plain_pickle(content, "bad")
    assert str(caught.value) == f"read_plain_pickle: bad: {message}"


def test_an_array_that_lacks_bytes_is_refused() -> None:
    content = GOOD.replace((6144).to_bytes(4, "little") + images(2, 0).tobytes(), (1).to_bytes(4, "little") + b"x")
    with pytest.raises(DataError, match=r"an array of shape \(2, 3072\) holds 1 bytes$"):
        read_plain_pickle(content, "bad")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_a_data_error_or_does_no_harm(data: st.DataObject) -> None:
    content = bytearray(python_batch(images(1, 0)[:, :8], [3]))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(0, len(content)))
    with suppress(DataError):
        assert isinstance(read_plain_pickle(bytes(content[:cut]), "bad"), dict)


@given(content=st.binary(max_size=50))
def test_any_bytes_are_a_data_error_or_a_dictionary(content: bytes) -> None:
    with suppress(DataError):
        assert isinstance(read_plain_pickle(content, "noise"), dict)
