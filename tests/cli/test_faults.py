"""Each fault is reported at its line. The table is printed: ``pytest -s tests/cli/test_faults.py``."""

from pathlib import Path

import pytest

from moonxi.cli import main
from tests.cli.fault import CHECKOUT, Fault
from tests.cli.faults import FILES

ROWS = [pytest.param(file, fault, id=f"{file}: {fault.title}") for file, faults in FILES.items() for fault in faults]


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_right_passes(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(CHECKOUT / file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 errors, ")


@pytest.mark.parametrize("file", FILES)
def test_there_are_ten_faults_at_least(file: str) -> None:
    assert len({fault.title for fault in FILES[file]}) >= 10


@pytest.mark.parametrize(("file", "fault"), ROWS)
def test_a_fault_is_reported_at_its_line(
    file: str, fault: Fault, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeded = fault.seeded((CHECKOUT / file).read_text(encoding="utf-8"))
    copy = tmp_path / Path(file).name
    copy.write_text(seeded, encoding="utf-8")
    status = main(["check", str(copy)])
    *lines, summary = capsys.readouterr().out.splitlines()
    found = [line for line in lines if ": note: " not in line]
    number = fault.place(seeded)
    print(f"{file}: {fault.title}\n    " + "\n    ".join(line.replace(str(copy), copy.name) for line in found))
    assert status == 1
    assert [line.partition(": ")[0] for line in found] == [f"{copy}:{number}"]
    assert fault.error in found[0]
    assert summary.startswith("1 error, ")
