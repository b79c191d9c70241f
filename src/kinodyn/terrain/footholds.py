"""Whether the ground supports a sole, and how a flat sole rests on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import at_most, nonnegative, numbers, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import codes, record
from kinodyn.terrain.height_map import HeightMap

CODES = codes("foothold_status")
STATUS = {  # by code
    CODES["supported"]: "supported",
    CODES["no_ground"]: "no ground",
    CODES["too_steep"]: "too steep",
    CODES["too_little"]: "too little of the sole is supported",
    CODES["blocked"]: "an edge is in the way",
}
SPACING = 0.025  # [m] between the sample points of a sole, at most


@check_types
@displayed
@dataclass(frozen=True)
class FootholdRules:
    """Criteria for ground that supports a sole.

    Attributes
    ----------
    tolerance : float
        Ground at most this far below the sole supports it [m].
    margin : float
        Width of the ring around the sole in which nothing may be higher than the sole by more than `tolerance` [m].
    max_tilt_deg : float
        Largest inclination of the sole [degrees].
    min_support : float
        Least fraction of the sole that is supported.
    """

    tolerance: float = 0.01
    margin: float = 0.01
    max_tilt_deg: float = 20.0
    min_support: float = 0.7

    def __post_init__(self) -> None:
        ranges = {
            "tolerance": (0.0, 0.2),
            "margin": (0.0, 0.2),
            "max_tilt_deg": (0.0, 60.0),
            "min_support": (0.05, 1.0),
        }
        for name, (least, most) in ranges.items():
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not least <= value <= most:
                raise InputError(f"{name} must be from {least:g} to {most:g}, got {value!r}")

    def record(self) -> np.ndarray:
        """Return the record of the core."""
        values = {
            "tolerance": self.tolerance,
            "clearance": self.tolerance,
            "max_slope": np.tan(np.deg2rad(self.max_tilt_deg)),
            "min_support": self.min_support,
        }
        return record("foothold_rules", values)


@displayed
class SoleOutline:
    """A convex sole, as points at which a map is sampled.

    Parameters
    ----------
    corners
        Corners of the sole (n, 2), counter-clockwise, in its frame [m].
    centre
        Where the load acts (2,) [m]; by default the middle of the corners' bounding box.
    margin
        Width of the ring around the sole that must be free [m].
    """

    @check_types
    def __init__(self, corners: ArrayLike, centre: ArrayLike | None = None, *, margin: float = 0.01) -> None:
        outline = numbers("corners", corners, 2)
        at_most("corners", float(np.abs(outline).max(initial=0.0)), 10.0)
        if outline.ndim != 2 or len(outline) < 3:
            raise InputError(f"a sole needs at least three corners (n, 2), got shape {outline.shape}")
        low, high = outline.min(axis=0), outline.max(axis=0)
        self.corners: Array = outline.copy()
        self.centre: Array = 0.5 * (low + high) if centre is None else vector("centre", centre, 2).copy()
        if not (high - low > 1e-3).all() or not _inside(outline, self.centre[None])[0]:
            raise InputError("a sole must be convex, counter-clockwise, wider than 1 mm, and contain its centre")
        count = np.maximum(np.ceil((high - low) / SPACING).astype(int), 3) + 1
        count = np.minimum(count, 16)
        grid = np.stack(np.meshgrid(*(np.linspace(low[k], high[k], count[k]) for k in range(2)), indexing="ij"), -1)
        grid = grid.reshape(-1, 2)
        self.inner: Array = np.unique(np.concatenate([grid[_inside(outline, grid)], outline]), axis=0)
        wider = outline + at_most("margin", nonnegative("margin", margin), 10.0) * np.sign(outline - self.centre)
        ring = [a + (b - a) * s for a, b in zip(wider, np.roll(wider, -1, axis=0), strict=True) for s in _parts(a, b)]
        self.outer: Array = np.array(ring)


@displayed
@dataclass(frozen=True, eq=False)
class Footholds:
    """How soles rest on the ground.

    Attributes
    ----------
    height : (...)
        Height of the origin of the sole frame [m].
    gradient : (..., 2)
        Rise of the sole along x and y of the world.
    support : (...)
        Fraction of the sole that the ground supports.
    code : (...) of int
        Code of the status, a key of `STATUS`.
    """

    height: Array
    gradient: Array
    support: Array
    code: NDArray[np.int_]

    @cached_property
    def supported(self) -> NDArray[np.bool_]:
        """Whether the ground supports the sole (...)."""
        return np.asarray(self.code == CODES["supported"])

    @cached_property
    def normal(self) -> Array:
        """Upward normals of the soles (..., 3)."""
        n = np.concatenate([-self.gradient, np.ones((*self.height.shape, 1))], axis=-1)
        result: Array = n / np.linalg.norm(n, axis=-1)[..., None]
        return result


@check_types
def footholds(ground: HeightMap, sole: SoleOutline, poses: ArrayLike, rules: FootholdRules | None = None) -> Footholds:
    """Find how a flat, rigid sole rests on the ground, and whether the ground supports it.

    The sole rests on the face of the upper convex hull of the ground below it that contains its load: of all planes
    above the ground, the lowest one there.

    Parameters
    ----------
    ground
        The map.
    sole
        Its outline.
    poses
        x, y [m] and yaw [rad] (..., 3) of the sole frame.
    rules
        What counts as support.

    Returns
    -------
    Footholds

    Examples
    --------
    >>> import kinodyn as kd
    >>> ground = kd.terrain.stairs(0.185, 0.24, 3).map()
    >>> sole = kd.terrain.SoleOutline([(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)])
    >>> found = kd.terrain.footholds(ground, sole, [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.62, 0.0, 0.0]])
    >>> found.supported
    array([ True, False,  True])
    """
    own = rules or FootholdRules()
    places = numbers("poses", poses, 3)
    found = _core.footholds(
        np.ascontiguousarray(ground.heights),
        grid_record(ground),
        sole.inner,
        sole.outer,
        sole.centre,
        own.record(),
        np.ascontiguousarray(places.reshape(-1, 3)),
    )
    found = found.reshape(places.shape[:-1])
    return Footholds(
        height=found["z"],
        gradient=np.stack([found["gx"], found["gy"]], axis=-1),
        support=found["support"],
        code=found["status"].astype(int),
    )


def grid_record(ground: HeightMap) -> np.ndarray:
    """Return the record of the core for the cells of a map."""
    x0, y0 = ground.origin
    return record("height_grid", {"cell": ground.cell, "x0": x0, "y0": y0})


def _inside(corners: Array, points: Array) -> NDArray[np.bool_]:
    edges = np.roll(corners, -1, axis=0) - corners
    offset = points[:, None] - corners
    return np.asarray((edges[:, 0] * offset[..., 1] - edges[:, 1] * offset[..., 0] >= -1e-12).all(axis=1))


def _parts(a: Array, b: Array) -> Array:
    """Divide an edge into parts of at most `SPACING`: fractions from 0 to below 1."""
    count = max(1, int(np.ceil(np.linalg.norm(b - a) / SPACING)))
    return np.arange(count) / count
