import numpy as np
from numpy.typing import NDArray

def erf(x: NDArray[np.floating], /) -> NDArray[np.floating]: ...
