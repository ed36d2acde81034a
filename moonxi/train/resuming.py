"""Whether a run may go on from what is in its folder."""

from moonxi.errors import CheckpointError
from moonxi.json_fields import Json
from moonxi.train.checkpoint import Checkpoint
from moonxi.train.checkpoints import Checkpoints
from moonxi.train.manifest import environment
from moonxi.train.settings import differences


def resumable(checkpoints: Checkpoints, settings: Json, steps: int, /, *, resume: bool) -> Checkpoint | None:
    """The checkpoint to go on from, None for a run that begins; the folder is made if need be.

    Raises `CheckpointError` if it is damaged or of a run with other settings, and without ``resume`` if there are
    checkpoints of more steps than have been made: they would be taken for those of this run."""
    checkpoints.prepare()
    if not resume:
        newest = max((one.step for one in checkpoints.all()), default=0)
        if newest > steps:
            raise CheckpointError(
                f"fit: {checkpoints.folder}: has checkpoints of a run up to step {newest}: go on with it by "
                "resume=True, or name another folder"
            )
        return None
    last = checkpoints.last()
    if last is None:
        return None
    wrong = differences(last.manifest.settings, settings)
    if wrong:
        listed = "\n  ".join(wrong)
        raise CheckpointError(
            f"fit: {last.path}: of a run with other settings:\n  {listed}\n"
            "Resume with the same ones, or begin a new run from its weights: Checkpoints(folder).last() has "
            ".model(model)"
        )
    return last


def resumed(last: Checkpoint, epochs: int, /) -> str:
    """In words where a run goes on, and a warning where that is not the environment in which it was written."""
    place = last.manifest.place
    where = f"epoch {place.epoch + 1}, batch {place.batch}"
    if place.epoch >= epochs:
        where = f"epoch {place.epoch}, the last, is done"
    text = f"resumed from {last.path}: {where}"
    there, here = last.manifest.environment, environment()
    changed = [
        f"{name} {there.get(name, 'unknown')} there, {value} here"
        for name, value in here.items()
        if there.get(name) != value
    ]
    return f"{text}\nwritten elsewhere, so the bits may differ: {'; '.join(changed)}" if changed else text
