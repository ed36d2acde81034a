"""Replay of a graph on a device that can write down its work: one call launches all of it.

Random keys are folded on the host before; the device is given the words.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from moonxi.compiled.branches import BRANCHES, scheduled
from moonxi.compiled.device_groups import grouped, sizes
from moonxi.compiled.graph import Graph
from moonxi.compiled.interpreter import computed, interpreted
from moonxi.compiled.optimising import Pass
from moonxi.compiled.pooled_sums import with_pooled_sums
from moonxi.compiled.runs import Ahead
from moonxi.compiled.small import small_runs
from moonxi.compiled.turned_kernels import with_turned
from moonxi.key import Key
from moonxi.pooled_sums import WithPooledSums
from moonxi.recording import Notes, Recording, WithRecording
from moonxi.turned import WithTurned
from moonxi.waves import WithWaves


class DevicePlan:
    """A graph, and the recording of what it has the device do."""

    def __init__(self, graph: Graph, like: WithRecording, outputs: Sequence[object], without: Collection[Pass]) -> None:
        self._graph = graph
        self._folds = [node for node in graph.nodes if node.operation == "fold"]
        self._keys = keys = [number for node in self._folds for number in node.results]
        tensors = [number for number in graph.outputs if graph.specs[number].dtype is not None]
        on_device = [node for node in graph.nodes if node.operation != "fold"]
        needed = {number for node in on_device for number in node.inputs}.union(tensors)
        taken = tuple(number for number in (*graph.inputs, *keys) if number in needed)
        work = replace(graph, inputs=taken, nodes=tuple(on_device), outputs=tuple(tensors))
        if not {"fusion", "waves"} & set(without) and isinstance(like, WithWaves):
            work = small_runs(work)
        work = grouped(work, without)
        if "fusion" not in without and isinstance(like, WithPooledSums):
            work = with_pooled_sums(work)
        if "tuned_plans" not in without and isinstance(like, WithTurned):
            work = with_turned(work)
        schedule = scheduled(work, 1 if "branches" in without else BRANCHES)
        self.work = schedule.graph if schedule.count > 1 else work
        self._branches = schedule.branches if schedule.count > 1 else None
        place_of = {number: place for place, number in enumerate((*graph.inputs, *keys))}
        self._taken = [place_of[number] for number in taken]
        self._given = _picking(self._taken)
        self._keys_out = [
            (place, place_of[number]) for place, number in enumerate(graph.outputs) if graph.specs[number].dtype is None
        ]
        firsts = [
            one for one, number in zip(outputs, graph.outputs, strict=True) if graph.specs[number].dtype is not None
        ]
        self._recording: Recording | None = like.recording(
            self._program, firsts, branches=schedule.count, tuned="tuned_plans" not in without
        )

    def _program(self, inputs: Sequence[object], notes: Notes) -> list[object]:
        return interpreted(self.work, inputs, notes=notes, branches=self._branches)

    @property
    def branches(self) -> Mapping[int, int]:
        """For the first result of a node its branch of the device, 0 where it is not named."""
        return self._branches or {}

    @property
    def fusions(self) -> tuple[int, ...]:
        """For each group of operations that is one kernel, how many they are."""
        return sizes(self.work)

    @property
    def bytes(self) -> int:
        """The memory of the recording; 0 before it is made."""
        return 0 if self._recording is None else self._recording.bytes

    def run(self, inputs: Sequence[object]) -> Sequence[object]:
        """The outputs for other inputs."""
        values = self._values(inputs)
        given = self._given(values)
        found = None if self._recording is None else self._recording.run(given)
        return self._outputs(interpreted(self.work, given) if found is None else found, values)

    def goes_on(self, going: int) -> bool:
        """Whether the device knows by now that what goes on from run to run are the first ``going`` inputs."""
        handed = None if self._recording is None else self._recording.handed
        if self._recording is None or not handed:
            return False
        tensors = [place for place, number in enumerate(self._graph.outputs) if self._graph.specs[number].dtype]
        known = {self._taken[number]: tensors[output] for number, output in handed.items()}
        needed = {place for place in self._taken if place < going}
        return known == {place: place for place in needed}

    def run_on(self, inputs: Sequence[object], ahead: Ahead) -> Sequence[object]:
        """The outputs of the last of several runs, if the device knows what goes on from each to the next."""
        assert self._recording is not None, "what goes on is known"
        values = self._values(inputs)
        given = self._given(values)
        rows = {number: ahead.rows[place] for number, place in enumerate(self._taken) if place in ahead.rows}
        runs: list[Sequence[object]] = []
        if self._keys_out or any(isinstance(one, Key) for one in given):
            for number in range(ahead.count):
                values = self._values([*inputs[: ahead.key], ahead.keys(number), *inputs[ahead.key + 1 :]])
                runs.append(self._given(values))
        return self._outputs(self._recording.run_on(given, rows, (ahead.count, ahead.later), runs), values)

    def _values(self, inputs: Sequence[object]) -> Sequence[object]:
        """The inputs, and keys that are folded from them."""
        values = inputs
        if self._folds:
            known = dict(zip(self._graph.inputs, inputs, strict=True))
            for node in self._folds:
                known.update(zip(node.results, computed(node, known), strict=True))
            values = [*inputs, *(known[number] for number in self._keys)]
        return values

    def _outputs(self, made: Sequence[object], values: Sequence[object]) -> Sequence[object]:
        if not self._keys_out:
            return made
        outputs = [*made]
        for place, source in self._keys_out:
            outputs.insert(place, values[source])
        return outputs


def _picking(places: Sequence[int]) -> Callable[[Sequence[object]], Sequence[object]]:
    """What takes the values in these places."""
    return itemgetter(*places) if len(places) > 1 else lambda values: [values[place] for place in places]
