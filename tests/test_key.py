import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonxi.backends.numpy import numpy
from moonxi.dtypes import F64
from moonxi.key import Key, philox

WORDS = st.integers(0, 2**64 - 1)
KEYS = st.builds(Key, WORDS, WORDS)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        (
            (0, 0, 0, 0),
            (0, 0),
            (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
        ),
        (
            (2**64 - 1,) * 4,
            (2**64 - 1,) * 2,
            (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
        ),
        (
            (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
            (0x452821E638D01377, 0xBE5466CF34E90C6C),
            (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
        ),
    ],
)
def test_philox_gives_the_known_answers_of_its_authors(
    counter: tuple[int, int, int, int], key: tuple[int, int], expected: tuple[int, ...]
) -> None:
    """The known-answer vectors of Random123 for philox4x64-10."""
    assert philox(counter, key) == expected


def test_stored_keys_and_numbers_stay_as_they_are() -> None:
    """Seeds in the records of old runs must keep their meaning."""
    key = Key(0)
    assert key.fold(1) == Key(213000021201967259, 4455796210202625458)
    assert key.fold("hidden.w") == Key(3142979197344409056, 7361779930954672968)
    assert numpy().uniform((3,), key).to_host().tolist() == [
        0.034741878509521484,
        0.011546730995178223,
        0.6119502186775208,
    ]
    assert numpy(F64).uniform((2,), key).to_host().tolist() == [0.011546754286331562, 0.24154919656271812]
    normal = numpy(F64).normal((2,), key).to_host().tolist()
    assert normal == pytest.approx([0.008088695404117373, 0.15219212994898557], rel=1e-14)


@given(KEYS)
def test_the_same_fold_of_the_same_key_is_the_same_key(key: Key) -> None:
    assert key.fold("x") == key.fold("x")
    assert key.fold(3) == Key(key.low, key.high).fold(3)
    assert hash(key.fold(3)) == hash(key.fold(3))


@given(KEYS, st.lists(st.one_of(st.integers(0, 2**128 - 1), st.text()), min_size=2, unique=True))
def test_different_folds_are_different_keys(key: Key, data: list[int | str]) -> None:
    folded = [key.fold(one) for one in data]
    assert len({key, *folded}) == len(data) + 1


def test_all_128_bits_of_the_data_count() -> None:
    assert len({Key(0).fold(1 << bit) for bit in range(128)}) == 128


@given(KEYS, st.integers(0, 1000))
def test_a_number_and_its_text_are_different_purposes(key: Key, number: int) -> None:
    assert key.fold(number) != key.fold(str(number))


@given(KEYS, st.integers(0, 20))
def test_split_gives_as_many_keys_as_asked_for_and_a_longer_split_begins_alike(key: Key, count: int) -> None:
    keys = key.split(count)
    assert len(keys) == len({key, *keys}) - 1 == count
    assert key.split(count + 1)[:count] == keys
    assert len(key.split()) == 2


def test_folds_of_folds_do_not_meet() -> None:
    key = Key(7)
    keys = {key.fold(step).fold(layer) for step in range(100) for layer in range(100)}
    assert len(keys) == 10_000


@pytest.mark.parametrize(("low", "high"), [(-1, 0), (2**64, 0), (0, -1), (0, 2**64)])
def test_a_key_of_more_than_128_bits_is_refused(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="each word is an integer from 0 to 2\\*\\*64 - 1") as raised:
        Key(low, high)
    assert str(raised.value).startswith(f"Key({low}, {high}): ")


def test_the_seed_decides_the_numbers() -> None:
    x = numpy()
    first = x.uniform((1000,), Key(1)).to_host()
    assert (first == x.uniform((1000,), Key(1)).to_host()).all()
    assert (first != x.uniform((1000,), Key(2)).to_host()).mean() > 0.99
    assert (first != x.uniform((1000,), Key(1).fold(0)).to_host()).mean() > 0.99


def test_a_key_is_a_value_and_cannot_change() -> None:
    key = Key(1)
    with pytest.raises(AttributeError):
        key.low = 2  # type: ignore[misc]
    assert key == Key(1, 0)
    assert len({Key(1), Key(1, 0), Key(2)}) == 2
