"""Array types shared by the whole package."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

# The frame in which twists, Jacobians and accelerations are expressed; "aligned" is short for "local_world_aligned".
Reference: TypeAlias = Literal["local_world_aligned", "aligned", "local", "world"]


class HasMatrix(Protocol):
    """An object with `as_matrix`, such as SciPy's `Rotation` and `RigidTransform`.

    The method is looked up by name: the SciPy of Python 3.10 has no `RigidTransform` to import.
    """

    def as_matrix(self) -> Array: ...  # noqa: D102


MatrixLike: TypeAlias = ArrayLike | HasMatrix
