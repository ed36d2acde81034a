"""Makes the subset of MNIST that ships in the package: every 6th training image and every 5th test image.

Run from the root of the checkout, with a folder that holds the four files of MNIST:

    python tests/data/make_mnist_subset.py FOLDER
"""

import sys
from pathlib import Path
from typing import Final

from moonxi.data.idx import read_idx, write_idx

EVERY: Final = {
    "train-images-idx3-ubyte": 6,
    "train-labels-idx1-ubyte": 6,
    "t10k-images-idx3-ubyte": 5,
    "t10k-labels-idx1-ubyte": 5,
}
SUBSET: Final = Path(__file__).parents[2] / "moonxi" / "data" / "mnist_subset"


def main(folder: Path) -> None:
    """Writes the four files of the subset, and prints what they weigh."""
    SUBSET.mkdir(exist_ok=True)
    for name, every in EVERY.items():
        target = SUBSET / f"{name}.gz"
        write_idx(target, read_idx(folder / f"{name}.gz")[::every], compress=True)
        print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
