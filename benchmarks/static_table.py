"""The table of README.md about mistakes that are found before anything runs: ``python -m benchmarks.static_table``.

It is made of the JSON files that `benchmarks.static_checks` wrote into ``benchmarks/results``, one for each seed."""

import json
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
BEGIN = "<!-- Written by python -m benchmarks.static_table; a test fails when it is out of date. -->"
END = "<!-- End of what is written by the program. -->"
_SHARES = ("plain_mypy", "plugin", "check", "plugin_or_check")


def table(results: Path = RESULTS) -> Iterator[str]:
    """A line for each seed, in order."""
    columns = ("seed", "wrong models", "plain mypy", "mypy with the plugin", "`moonxi check`", "either", "false alarms")
    yield f"| {' | '.join(columns)} |"
    yield "|---|---|---|---|---|---|---|"
    records = [json.loads(file.read_text()) for file in results.glob("static-checks*.json")]
    for record in sorted(records, key=lambda record: int(record["seed"])):
        shares = " | ".join(f"{100 * record[share]:.1f} %" for share in _SHARES)
        yield f"| {record['seed']} | {record['wrong']} | {shares} | {record['false_alarms']} |"


def with_table(text: str) -> str:
    """The text of the README with the table as it is now. Raises `ValueError` if there is no place for it."""
    before, begin, rest = text.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(f"{END}\n")
    if not begin or not end:
        raise ValueError(f"static_table: README.md: has no line {BEGIN!r} followed by a line {END!r}")
    return "\n".join([before + BEGIN, "", *table(), "", END]) + "\n" + after


if __name__ == "__main__":
    README.write_text(with_table(README.read_text()))
