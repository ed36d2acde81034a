"""Whether a run may go on from what is in its folder."""

from moonxi.errors import CheckpointError
from moonxi.train.checkpoint import Checkpoint
from moonxi.train.checkpoints import Checkpoints
from moonxi.train.json_fields import Json
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
            "Resume with the same ones, or begin a new run from its weights: checkpoint.model(model)"
        )
    return last
