from typing_extensions import get_protocol_members

from moonxi.traits import ImageModelTensor
from tests.docs.operations_table import INTERPRETERS, PAGE, how, page


def test_the_table_of_operations_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.docs.operations_table"


def test_the_table_is_complete() -> None:
    text = page()
    for member in get_protocol_members(ImageModelTensor):
        assert f"| `{member}` | " in text
    assert "missing" not in text.split("## Tensor")[1]
    assert "|  |" not in text


def test_a_member_is_own_derived_or_missing() -> None:
    array = INTERPRETERS["NpArray"]
    assert how(array, "exp") == "own"
    assert how(array, "zeros") == "derived"
    assert how(array, "nonsense") == "missing"
