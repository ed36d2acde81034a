"""What a run looks like: curves, pictures, TensorBoard, and a page of it all."""

from moonxi.sight.confusion import draw_confusion
from moonxi.sight.curves import Curves, draw_curves
from moonxi.sight.report import Report, write_report
from moonxi.sight.sample import Sample, classified
from moonxi.sight.tensorboard import TensorBoardLog

__all__ = [
    "Curves",
    "Report",
    "Sample",
    "TensorBoardLog",
    "classified",
    "draw_confusion",
    "draw_curves",
    "write_report",
]
