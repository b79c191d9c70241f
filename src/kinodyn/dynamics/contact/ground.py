"""Ground for soft contacts: planes and height fields; any object with `height_and_normal` can be used."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers, reals
from kinodyn.display import displayed
from kinodyn.errors import InputError

Interpolation = Literal["cubic", "linear"]

# Weights of four neighbours in a row at t in [0, 1] between the second and the third: powers of t times this.
# Cubic: E. Catmull and R. Rom 1974, the cubic through two nodes with the slope of their neighbours.
_WEIGHTS = {
    "cubic": 0.5 * np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]], dtype=float),
    "linear": np.array([[0, 1, 0, 0], [0, -1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=float),
}
_NEIGHBOURS = np.arange(4)


class Ground(Protocol):
    """The interface of ground for contacts of simulators."""

    def height_and_normal(self, p: ArrayLike) -> tuple[Array, Array]:
        """Compute heights above the ground along its normal, and the normals.

        Above ground that is not a plane the height is the vertical distance times the cosine of the slope: correct to
        first order.

        Parameters
        ----------
        p : (..., 3)
            Points in the world [m].

        Returns
        -------
        heights : (...)
            [m], negative below the surface, infinite where there is no ground.
        normals : (..., 3)
            Unit vectors.
        """
        ...


@displayed
class Plane(Ground):
    """An infinite plane: level or inclined ground, or a wall.

    Parameters
    ----------
    point : (3,)
        Any point of the plane [m].
    normal : (3,)
        Direction out of the ground, of any length.
    """

    def __init__(self, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self.point = _vector("point of the plane", point, 3)
        direction = _vector("normal of the plane", normal, 3)
        length = float(np.linalg.norm(direction))
        if not length > 1e-9:
            raise InputError(f"normal of the plane must be a nonzero vector, got {normal!r}")
        self.normal: Array = direction / length
        self._offset = float(self.normal @ self.point)

    def height_and_normal(self, p: ArrayLike) -> tuple[Array, Array]:
        places = _places(p)
        return places @ self.normal - self._offset, np.array(np.broadcast_to(self.normal, places.shape))

    def heights(self, p: ArrayLike) -> Array:
        """Compute heights above the plane.

        Parameters
        ----------
        p : (..., 3)

        Returns
        -------
        (...)
        """
        result: Array = _places(p) @ self.normal - self._offset
        return result

    def __repr__(self) -> str:
        return f"Plane({self.point.tolist()}, {self.normal.tolist()})"


@displayed
class HeightField(Ground):
    """Ground given by heights on a grid.

    Beyond the grid the ground is level, at the height of the nearest edge.

    Parameters
    ----------
    heights : (nx, ny)
        At least 2 by 2: heights[i, j] [m] is the height at x = origin x + i * spacing, y = origin y + j * spacing.
    spacing : float or (float, float)
        Distance of the nodes [m], along x and along y.
    origin : (2,) or (3,)
        x, y [m] of heights[0, 0], and z [m], by default 0, that is added to all heights.
    interpolation : "cubic" or "linear"
        "cubic": continuous normals; overshoots a step by about 7 % of its height. "linear": bilinear, with edges along
        the grid. Both reproduce planes exactly.
    """

    @check_types
    def __init__(
        self,
        heights: ArrayLike,
        spacing: ArrayLike = 0.1,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        *,
        interpolation: Interpolation = "cubic",
    ) -> None:
        grid = numbers("heights", heights)
        if grid.ndim != 2 or min(grid.shape) < 2:
            raise InputError(f"heights must have shape (nx, ny), at least 2 by 2, got {grid.shape}")
        self.spacing = np.array(np.broadcast_to(_vector("spacing", np.atleast_1d(np.asarray(spacing)), None), (2,)))
        if not (self.spacing > 0).all():
            raise InputError(f"spacing must be positive, got {spacing!r}")
        place = _vector("origin", origin, None)
        if place.shape not in ((2,), (3,)):
            raise InputError(f"origin must be x, y or x, y, z, got shape {place.shape}")
        if interpolation not in _WEIGHTS:
            raise InputError(f'interpolation must be "cubic" or "linear", got {interpolation!r}')
        self.interpolation = interpolation
        self.heights: Array = grid + (place[2] if len(place) == 3 else 0.0)
        self.origin: Array = place[:2].copy()
        self._last = np.array(grid.shape, dtype=float) - 1.0
        weights = _WEIGHTS[interpolation]
        slopes = np.vstack([weights[1:] * [[1.0], [2.0], [3.0]], np.zeros((1, 4))])
        self._basis = np.hstack([weights, slopes])
        padded = _with_ring(_with_ring(self.heights).T).T
        self._flat, self._width = np.ascontiguousarray(padded).ravel(), padded.shape[1]

    def height_and_normal(self, p: ArrayLike) -> tuple[Array, Array]:
        places = _places(p)
        height, slope = self._surface(places[..., :2])
        normal = np.empty(places.shape)
        normal[..., :2] = -slope
        normal[..., 2] = 1.0
        normal /= np.sqrt(np.einsum("...i,...i", normal, normal))[..., None]
        return (places[..., 2] - height) * normal[..., 2], normal

    def _surface(self, xy: Array) -> tuple[Array, Array]:
        """Height (...) of the surface and its slopes (..., 2) along x and y."""
        free = (xy - self.origin) / self.spacing
        nodes = np.minimum(np.maximum(free, 0.0), self._last)
        first = np.minimum(nodes, self._last - 1.0).astype(np.intp)
        t = nodes - first
        powers = np.empty((*t.shape, 4))
        powers[..., 0], powers[..., 1], powers[..., 2], powers[..., 3] = 1.0, t, t * t, t * t * t
        along = (powers @ self._basis).reshape(*t.shape, 2, 4)  # by axis: weights of four neighbours, and their slopes
        rows = (first[..., :1] + _NEIGHBOURS) * self._width
        around = self._flat[rows[..., :, None] + (first[..., 1:] + _NEIGHBOURS)[..., None, :]]
        both = along[..., 0, :, :] @ around @ np.swapaxes(along[..., 1, :, :], -1, -2)
        slope = np.empty(t.shape)
        slope[..., 0], slope[..., 1] = both[..., 1, 0], both[..., 0, 1]
        slope *= (free == nodes) / self.spacing  # level beyond the edge
        return both[..., 0, 0], slope

    def __repr__(self) -> str:
        nx, ny = self.heights.shape
        return f"HeightField({nx} x {ny}, spacing={self.spacing.tolist()}, {self.interpolation})"


def _with_ring(rows: Array) -> Array:
    """Extrapolate by one row at either end, so that every cell has four neighbours."""
    return np.vstack([2.0 * rows[0] - rows[1], rows, 2.0 * rows[-1] - rows[-2]])


def _places(p: ArrayLike) -> Array:
    """Check points (..., 3); faster than `numbers`, because simulations call it at every step."""
    places = reals("p", p)
    if places.shape[-1:] != (3,):
        raise InputError(f"p must have shape (..., 3), got {places.shape}")
    if not np.isfinite(places.sum()):
        raise InputError("p must be finite numbers, got a value that is NaN or infinite")
    return places


def _vector(what: str, value: ArrayLike, size: int | None) -> Array:
    array = numbers(what, value) if size is None else numbers(what, value, size)
    if array.ndim != 1 or (size is None and array.size not in (1, 2, 3)):
        raise InputError(f"{what} must be one vector, got shape {array.shape}")
    return array
