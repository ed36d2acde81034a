"""Element-wise programs for compiled steps, block by block, so that what lies between the steps stays in the cache."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from moonxi.backends.numpy import scratch, threads
from moonxi.backends.numpy.array import NpArray
from moonxi.backends.numpy.kernels import KERNELS
from moonxi.dtypes import HostArray
from moonxi.traits.kernels import Program, Register, Request, Routine, Step

_WHOLE: Final = 1 << 18
"""Elements up to which a step runs over all of them: they fit into the cache, and more calls would cost more."""
_BLOCK: Final = 1 << 17
"""Elements of a block otherwise."""
_WORK: Final = 4
"""What a step costs an element, in multiplications of a product of matrices."""


def program(request: Request) -> Routine:
    """The arrays and scalars of a program to its results."""
    whole = cast(Program, request.options["program"])
    without_factors = _without_factors(whole)
    if without_factors is whole:
        return _routine(whole, request)
    usual, shorter = _routine(whole, request), _routine(without_factors, request)
    arrays = whole.arrays

    def run(*operands: HostArray, out: tuple[HostArray, ...]) -> None:
        for scalar in operands[arrays:]:
            if scalar.item() != 1.0:
                usual(*operands, out=out)
                return
        shorter(*operands, out=out)

    return run


def _without_factors(program: Program) -> Program:
    """What is left of a program when its scalars are 1: gradients are often not clipped, and have no step then."""
    first = program.arrays + program.scalars
    now = {number: number for number in range(first)}
    steps: list[Step] = []
    for n, step in enumerate(program.steps):
        arguments = tuple(Register(now[one.number]) if isinstance(one, Register) else one for one in step.arguments)
        factors = [one for one in arguments if isinstance(one, Register) and program.arrays <= one.number < first]
        if step.operation == "__mul__" and len(factors) == 1 and first + n not in program.results:
            (left,) = [one for one in arguments if one is not factors[0]]
            if isinstance(left, Register):
                now[first + n] = left.number
                continue
        now[first + n] = first + len(steps)
        steps.append(replace(step, arguments=arguments))
    if len(steps) == len(program.steps):
        return program
    return replace(program, steps=tuple(steps), results=tuple(now[number] for number in program.results))


def _routine(found: Program, request: Request) -> Routine:
    dtype = cast("np.dtype[np.floating]", request.operands[0].dtype)
    places = _memory(found)
    kinds: dict[str, Any] = {
        place: np.dtype(np.bool_) if found.steps[n].mask else dtype for n, place in places.items() if place[0] == "m"
    }
    memory = [(f"step {place}", kind) for place, kind in sorted(kinds.items())]
    steps = _written(found, dtype, places)

    def run(*operands: HostArray, out: tuple[HostArray, ...]) -> None:
        size = out[0].size
        if size <= _WHOLE:
            steps(*operands, *out, *[scratch.array(name, (size,), kind) for name, kind in memory])
            return
        arrays, scalars = operands[: found.arrays], operands[found.arrays :]

        def work(part: slice) -> None:
            mine = [scratch.array(name, (_BLOCK,), kind) for name, kind in memory]
            for start in range(part.start, part.stop, _BLOCK):
                stop = min(start + _BLOCK, part.stop)
                last = mine if stop - start == _BLOCK else [one[: stop - start] for one in mine]
                block = slice(start, stop)
                steps(*[one[block] for one in arrays], *scalars, *[one[block] for one in out], *last)

        threads.each(work, threads.parts(size, size * len(found.steps) * _WORK))

    return run


def _written(program: Program, dtype: np.dtype[np.floating], places: Mapping[int, str]) -> Callable[..., None]:
    """The steps as a function of arrays, scalars, results and memory: so a block costs no more than its calls."""
    names: dict[str, object] = {}
    first = program.arrays + program.scalars
    registers = [f"a{n}" for n in range(program.arrays)] + [f"s{n}" for n in range(program.scalars)]
    results = {register: f"r{n}" for n, register in enumerate(program.results)}
    lines: list[str] = []
    for n, step in enumerate(program.steps):
        kernel = KERNELS[getattr(NpArray, step.operation)]
        names[f"k{n}"] = kernel.call
        arguments: list[str] = []
        for m, one in enumerate(step.arguments):
            if isinstance(one, Register):
                arguments.append(registers[one.number])
            else:  # NumPy takes an array sooner than a float
                names[f"c{n}_{m}"] = np.asarray(one, dtype) if isinstance(kernel.call, np.ufunc) else one
                arguments.append(f"c{n}_{m}")
        if kernel.swapped:
            arguments.reverse()
        target = results.get(first + n) or places[n]
        registers.append(target)
        lines.append(f"    k{n}({', '.join(arguments)}, out={target})")
    parameters = [*registers[:first], *results.values()]
    parameters += sorted({place for place in places.values() if place[0] == "m"})
    exec("\n".join([f"def steps({', '.join(parameters)}):", *lines]), names)
    return cast(Callable[..., None], names["steps"])


def _memory(program: Program) -> dict[int, str]:
    """For each step whose result is not one of the program's, the name of the memory that it writes to.

    It is that of a result that is not there yet, that of a step of its kind that nobody needs any more, or new."""
    first = program.arrays + program.scalars
    last: dict[int, int] = {}
    for n, step in enumerate(program.steps):
        last.update({one.number: n for one in step.arguments if isinstance(one, Register)})
    until = {f"r{n}": register - first for n, register in enumerate(program.results)}
    places: dict[int, str] = {}
    free: dict[bool, list[str]] = {True: [], False: list(until)}
    count = 0
    for n, step in enumerate(program.steps):
        for number in {one.number - first for one in step.arguments if isinstance(one, Register)}:
            if number in places and last[number + first] == n:
                free[program.steps[number].mask].append(places[number])
        if first + n in program.results:
            continue
        fitting = [one for one in free[step.mask] if one not in until or n <= last.get(first + n, n) <= until[one]]
        if not fitting:
            fitting.append(f"m{count}")
            free[step.mask] += fitting
            count += 1
        places[n] = fitting[-1]
        free[step.mask].remove(fitting[-1])
    return places
