"""How many mistakes in models are found before anything runs: ``python -m benchmarks.static_checks``.

python -m benchmarks.static_checks --seed 0 --json benchmarks/results/static-checks.json

Changes the models of moonxi, its examples and those of `benchmarks.static_models` in one place at a time, runs each of
these mutants to see whether it is really wrong (`benchmarks.mutation.running` says what that means), and counts how
many of the wrong ones plain mypy, mypy with moonxi's plugin and ``moonxi check`` report."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import moonxi as mx
from benchmarks.mutation.checkers import ROOT, CheckerError, Findings, moonxi_check, mypy
from benchmarks.mutation.choosing import drawn
from benchmarks.mutation.mutants import mutants
from benchmarks.mutation.running import Original, Outcome, Ran, original, ran
from benchmarks.mutation.source import Mutant, Source
from benchmarks.mutation.trials import TRIALS

BATCH = 64
"""How many mutants are run before their number is looked at."""


@dataclass(frozen=True)
class Judged:
    """A wrong mutant, what it does and who reports it."""

    mutant: Mutant
    error: str
    plain: bool
    plugin: bool
    check: bool


@cache
def _original(path: str) -> Original:
    return original(path, (ROOT / path).read_text())


def _ran(mutant: Mutant) -> Ran:
    return ran(_original(mutant.original), mutant.text)


def wrong_mutants(
    paths: Sequence[str], seed: int, wanted: int, processes: int, known: dict[Mutant, Ran]
) -> tuple[list[tuple[Mutant, str]], Counter[Outcome]]:
    """So many wrong mutants, if there are as many, each with what it raises; and how all that were run turned out.

    What is ``known`` of a mutant is not found out again."""
    every: list[Mutant] = []
    for path in paths:
        first = _original(path)
        every += mutants(Source(path, (ROOT / path).read_text()), first.executed)
    waiting = drawn(every, seed)
    found: list[tuple[Mutant, str]] = []
    outcomes: Counter[Outcome] = Counter()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        while len(found) < wanted and (batch := list(islice(waiting, BATCH))):
            new = [mutant for mutant in batch if mutant not in known]
            known.update(zip(new, pool.map(_ran, new, chunksize=4), strict=True))
            for mutant in batch:
                if len(found) < wanted:
                    outcomes[known[mutant].outcome] += 1
                    if known[mutant].outcome is Outcome.WRONG:
                        found.append((mutant, known[mutant].error))
    return found, outcomes


def judged(paths: Sequence[str], wrong: Sequence[tuple[Mutant, str]], processes: int) -> tuple[list[Judged], list[str]]:
    """Who reports which of the mutants, and what is reported of the originals, in which nothing is wrong."""
    with TemporaryDirectory(prefix="moonxi-static-checks-") as name:
        folder = Path(name)
        originals = {path: f"original{number}.py" for number, path in enumerate(paths)}
        texts = {file: Source(path, (ROOT / path).read_text()) for path, file in originals.items()}
        texts |= {f"mutant{number}.py": Source(one.original, one.text) for number, (one, _) in enumerate(wrong)}
        whole, parts = folder / "whole", folder / "parts"
        whole.mkdir()
        parts.mkdir()
        for file, source in texts.items():
            (whole / file).write_text(source.text)
            # Where it does not know the `map` of a model, mypy takes seconds for each call of a `Trainer`.
            (parts / file).write_text(source.without(_original(source.path).executed))
        both = mypy(parts, plugin=False), mypy(whole, plugin=True)
        check = moonxi_check(whole, processes)
        plain, plugin = (findings() for findings in both)
    alarms = [
        f"{path}: {tool}: {message}"
        for tool, findings in (("plugin", plugin), ("moonxi check", check))
        for path, file in originals.items()
        for message in findings.get(file, ())
    ]
    found = []
    for number, (mutant, error) in enumerate(wrong):
        file, first = f"mutant{number}.py", originals[mutant.original]
        # Without the plugin mypy misses the `map` of models, in the originals too: only what is new counts.
        new = [_new(findings, file, first) for findings in (plain, plugin, check)]
        found.append(Judged(mutant, error, *new))
    return found, alarms


def _new(findings: Findings, file: str, first: str) -> bool:
    return bool(findings.get(file, Counter()) - findings.get(first, Counter()))


@dataclass(frozen=True)
class Report:
    """All that was found."""

    circumstances: Mapping[str, object]
    outcomes: Mapping[str, int]
    mutants: Sequence[Judged]
    false_alarms: Sequence[str]

    def share(self, reported: Callable[[Judged], bool], ones: Sequence[Judged] | None = None) -> float:
        """Of how many of the mutants this holds, as a part of 1."""
        counted = self.mutants if ones is None else ones
        return round(sum(map(reported, counted)) / len(counted), 4) if counted else 0.0

    def record(self) -> dict[str, object]:
        """As it stands in the JSON file."""
        operators: dict[str, list[Judged]] = {}
        for one in self.mutants:
            operators.setdefault(one.mutant.operator, []).append(one)
        return {
            **self.circumstances,
            "outcomes": dict(self.outcomes),
            "wrong": len(self.mutants),
            **self._shares(self.mutants),
            "false_alarms": len(self.false_alarms),
            "false_alarm_texts": list(self.false_alarms),
            "operators": {
                name: {"mutants": len(ones), **self._shares(ones)} for name, ones in sorted(operators.items())
            },
            "missed": [one.mutant.name for one in self.mutants if not one.plugin and not one.check],
        }

    def _shares(self, ones: Sequence[Judged]) -> dict[str, float]:
        return {
            "plain_mypy": self.share(lambda one: one.plain, ones),
            "plugin": self.share(lambda one: one.plugin, ones),
            "check": self.share(lambda one: one.check, ones),
            "plugin_or_check": self.share(lambda one: one.plugin or one.check, ones),
            "none": self.share(lambda one: not (one.plugin or one.check), ones),
        }


def measured(paths: Sequence[str], *, seeds: Sequence[int], wanted: int, processes: int) -> list[Report]:
    """Run everything; a mutant that several seeds draw is run and checked once. Raises `CheckerError`."""
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    known: dict[Mutant, Ran] = {}
    runs = [wrong_mutants(paths, seed, wanted, processes, known) for seed in seeds]
    wrong = dict(one for found, _ in runs for one in found)
    verdicts, alarms = judged(paths, list(wrong.items()), processes)
    of = {one.mutant: one for one in verdicts}
    return [
        Report(
            {"date": date, "moonxi": mx.__version__, "seed": seed, "files": list(paths)},
            {outcome.value: outcomes[outcome] for outcome in Outcome},
            [of[mutant] for mutant, _ in found],
            alarms,
        )
        for seed, (found, outcomes) in zip(seeds, runs, strict=True)
    ]


def page(record: Mapping[str, object]) -> Iterator[str]:
    """A record to read, as Markdown."""
    yield "# Mistakes in models that are found before anything runs"
    yield ""
    yield f"Measured {record['date']} with seed {record['seed']}; `benchmarks/README.md` says how."
    yield f"Of the mutants that were run, these turned out: {record['outcomes']}."
    yield f"False alarms on the originals: {record['false_alarms']}."
    yield ""
    yield from lines(record)


def lines(record: Mapping[str, object]) -> Iterator[str]:
    """The table of a record, as Markdown."""
    yield "| kind of mistake | wrong mutants | plain mypy | mypy with the plugin | `moonxi check` | plugin or check |"
    yield "|---|---|---|---|---|---|"
    operators = record["operators"]
    assert isinstance(operators, dict)
    for name, row in operators.items():
        yield _line(name, row["mutants"], row)
    yield _line("**all**", record["wrong"], record)


def _line(name: str, count: object, row: Mapping[str, object]) -> str:
    shares = (row[key] for key in ("plain_mypy", "plugin", "check", "plugin_or_check"))
    return f"| {name} | {count} | {' | '.join(f'{100 * float(str(share)):.0f} %' for share in shares)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table and, if asked, write it."""
    parser = argparse.ArgumentParser(description="How many mistakes in models are found before anything runs.")
    parser.add_argument("--seed", type=int, nargs="+", default=[0], metavar="S", help="draws the mutants (0)")
    parser.add_argument("--mutants", type=int, default=420, metavar="N", help="really wrong ones (420)")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="that run and check mutants (2)")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write FILE and FILE's name.md, of a second seed NAME-SEED.json"
    )
    parser.add_argument("--list", action="store_true", help="print each mutant with who reports it")
    chosen = parser.parse_args(arguments)
    if min(chosen.mutants, chosen.processes) < 1:
        parser.error("--mutants and --processes are at least 1")
    try:
        reports = measured(list(TRIALS), seeds=chosen.seed, wanted=chosen.mutants, processes=chosen.processes)
    except CheckerError as error:
        sys.exit(f"static_checks: {error}")
    for place, report in enumerate(reports):
        if chosen.list:
            for one in report.mutants:
                marks = ("m" if one.plain else "-") + ("p" if one.plugin else "-") + ("c" if one.check else "-")
                print(f"{marks} {one.mutant.name} | {one.error}")
        record = report.record()
        print("\n".join(page(record)))
        for alarm in report.false_alarms:
            print(f"false alarm: {alarm}")
        if chosen.json is not None:
            chosen.json.parent.mkdir(parents=True, exist_ok=True)
            stem = f"{chosen.json.stem}-{record['seed']}" if place else chosen.json.stem
            file = chosen.json.with_stem(stem)
            file.write_text(json.dumps(record, indent=1) + "\n")
            file.with_suffix(".md").write_text("\n".join(page(record)) + "\n")


if __name__ == "__main__":
    main()
