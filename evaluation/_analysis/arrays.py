"""Arrays of values: samples are rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def constant(values: Floats) -> Bools:
    """Tell in which samples values are equal but for rounding, or too small to be squared."""
    found: Bools = np.ptp(values, axis=-1) <= np.maximum(1e-12 * np.abs(values).max(axis=-1), 1e-150)
    return found
