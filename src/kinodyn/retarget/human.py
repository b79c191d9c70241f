"""The human of a motion: key points in metres, z up, sampled at a given rate, with the ground at height zero."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.retarget.motion import MAX_FRAMES, Motion
from kinodyn.retarget.structure import SIDES, median

# metres per unit: m, cm, mm, inch, foot, and the unit of the CMU database (1 / 0.45 inch)
UNITS = (1.0, 0.01, 0.001, 0.0254, 0.3048, 0.0254 / 0.45)
LEG = 0.84  # of an adult from hip to ankle [m]
LEG_RANGE = (0.45, 1.15)  # [m] of what is taken as the leg of a human
MAX_MISSING = 0.5  # of the frames of a key point that may be missing
MIN_BONE = 1e-6  # length of a limb as a fraction of the body, below which a skeleton is degenerate
LOW = 5.0  # percentile of heights that is taken as standing on the ground
FAR = 1e4  # sizes of the body, beyond which a position is corrupt
MIN_SIZE = 1e-9  # length of vectors that have a direction
CLEAR = 0.8  # of 2: sum over both feet of the share of their length that points forward
UPRIGHT = np.cos(np.deg2rad(20.0))  # cosine of the trunk's inclination in frames that count as upright


@displayed
@dataclass(frozen=True, eq=False)
class Human:
    """Key points of a human over time.

    Attributes
    ----------
    points : dict of str to (frames, 3)
        Key points in the world [m]: z up, the ground at zero, at the origin and facing x in the first frame.
    rate : float
        Frames per second [Hz].
    source : str
        The file.
    units : float
        Metres per unit of the file.
    notes : tuple of str
        What was found or repaired.
    """

    points: dict[str, Array]
    rate: float
    source: str
    units: float
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.points["left_hip"])

    @check_types
    def middle(self, part: str) -> Array:
        """Return the middle between the left and the right point of a part.

        Parameters
        ----------
        part
            Such as "hip".

        Returns
        -------
        (frames, 3)
        """
        return 0.5 * (self.points[f"left_{part}"] + self.points[f"right_{part}"])

    @check_types
    def length(self, first: str, second: str) -> float:
        """Measure the median distance of two parts, mean of both sides.

        Parameters
        ----------
        first, second
            Such as "hip" and "knee".

        Returns
        -------
        float
            [m]
        """
        sides = [median(norms(self.points[f"{side}_{first}"] - self.points[f"{side}_{second}"])) for side in SIDES]
        return float(np.mean(sides))

    @cached_property
    def leg(self) -> float:
        """Length of a leg from hip to ankle [m]."""
        return self.length("hip", "knee") + self.length("knee", "ankle")


def normalise(motion: Motion, keys: dict[str, Array], rate: float, mirror: bool | None = None) -> Human:
    """Bring the key points of a motion to metres, z up, a sampling rate and a start at the origin.

    Parameters
    ----------
    motion
        The motion.
    keys
        Its key points (frames, 3), see `key_points`.
    rate
        Frames per second of the result [Hz].
    mirror
        Whether left and right are exchanged by a reflection; None to mirror motions in left-handed axes.

    Returns
    -------
    Human
    """
    notes = list(motion.notes)
    points = {key: _filled(motion, key, values, notes) for key, values in _near(keys).items()}
    points = _z_up(motion, points, notes)
    if _mirrored(points) if mirror is None else mirror:
        points = {key: value * [1.0, -1.0, 1.0] for key, value in points.items()}
        notes.append("mirrored: left was on the right of the direction of the toes" if mirror is None else "mirrored")
    units = _units(motion, points, notes)
    points = {key: _resampled(units * value, motion.rate, rate) for key, value in points.items()}
    human = Human(_placed(points), rate, motion.source, units, tuple(notes))
    for part, other in (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist")):
        if human.length(part, other) < MIN_BONE * human.leg:
            raise InputError(f"{motion.source}: the bone from {part} to {other} has no length")
    for part in ("hip", "shoulder"):
        if np.median(norms(human.points[f"left_{part}"] - human.points[f"right_{part}"])) < MIN_BONE * human.leg:
            raise InputError(f"{motion.source}: left and right {part} are at the same place; give a mapping")
    return human


def directions(vectors: Array) -> Array:
    """Normalise vectors (..., 3); those without length become z."""
    size = norms(vectors)[..., None]
    if size.min(initial=1.0) > MIN_SIZE:
        return np.asarray(vectors / size)
    return np.where(size > MIN_SIZE, vectors / np.maximum(size, MIN_SIZE), [0.0, 0.0, 1.0])


def norms(vectors: Array) -> Array:
    """Compute the lengths (...,) of vectors (..., 3); several times faster than `numpy.linalg.norm` along an axis."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors)))


def axes_from(up: Array, left: Array) -> Array:
    """Make frames (..., 3, 3) with z along `up` and y near `left`."""
    z = directions(up)
    x = directions(np.cross(left, z))
    return np.stack([x, np.cross(z, x), z], axis=-1)


def upright_frames(human: Human) -> Array:
    """Return in which frames (frames,) the trunk is about vertical."""
    return np.asarray(directions(_neck(human.points) - human.middle("hip"))[:, 2] > UPRIGHT)


def pelvis_axes(human: Human) -> Array:
    """Compute the orientation (frames, 3, 3) of the pelvis: x forward, y left, level in upright frames."""
    low = human.points.get("spine")
    middle = human.middle("hip")
    up = _neck(human.points) - middle
    if low is not None and np.median(norms(low - middle)) > 0.02:
        up = low - middle
    return _levelled(axes_from(up, human.points["left_hip"] - human.points["right_hip"]), upright_frames(human))


def torso_axes(human: Human) -> Array:
    """Compute the orientation (frames, 3, 3) of the chest: x forward, y left, level in upright frames."""
    up = _neck(human.points) - human.middle("hip")
    axes = axes_from(up, human.points["left_shoulder"] - human.points["right_shoulder"])
    return _levelled(axes, upright_frames(human))


def _levelled(axes: Array, upright: Array) -> Array:
    """Remove the median pitch of upright frames."""
    if np.count_nonzero(upright) < 3:
        return axes
    z = axes[upright, :, 2]
    heading = directions(axes[upright, :, 0] * [1.0, 1.0, 0.0])
    pitch = float(np.median(np.arctan2((z * heading).sum(axis=1), z[:, 2])))
    c, s = np.cos(-pitch), np.sin(-pitch)
    return np.asarray(axes @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]))


def _neck(points: dict[str, Array]) -> Array:
    return points.get("neck", 0.5 * (points["left_shoulder"] + points["right_shoulder"]))


def _near(keys: dict[str, Array]) -> dict[str, Array]:
    """Remove positions (frames, 3) that are impossibly far from where a point usually is: numbers that are corrupt."""
    every = np.stack(list(keys.values()))
    every = every[:, np.isfinite(every).all(axis=(0, 2))]
    if not every.size:
        return keys
    reach = FAR * float(np.median(np.ptp(every, axis=0).max(axis=1)))
    usual = np.median(every, axis=1)
    near = {}
    for (key, values), middle in zip(keys.items(), usual, strict=True):
        with np.errstate(invalid="ignore"):
            far = (np.abs(values - middle) > reach).any(axis=1)
        near[key] = np.where(far[:, None], np.nan, values) if reach > 0.0 and far.any() else values
    return near


def _filled(motion: Motion, key: str, values: Array, notes: list[str]) -> Array:
    """Interpolate over frames that are not finite."""
    good = np.asarray(np.isfinite(values).all(axis=1))
    if good.all():
        return values
    if not good.any() or np.mean(~good) > MAX_MISSING:
        raise InputError(
            f"{motion.source}: {key.replace('_', ' ')} has no finite position in {np.count_nonzero(~good)} of "
            f"{len(good)} frames"
        )
    notes.append(f"{key.replace('_', ' ')}: {np.count_nonzero(~good)} frames interpolated")
    time = np.arange(len(good))
    return np.column_stack([np.interp(time, time[good], values[good, axis]) for axis in range(3)])


def _z_up(motion: Motion, points: dict[str, Array], notes: list[str]) -> dict[str, Array]:
    """Turn the axis along which the shoulders are above the ankles to z."""
    shoulders, ankles = (points[f"left_{part}"] + points[f"right_{part}"] for part in ("shoulder", "ankle"))
    rise = np.mean(directions(shoulders - ankles), axis=0)
    axis = int(np.abs(rise).argmax())
    if abs(rise[axis]) < 0.3:
        raise InputError(f"{motion.source}: the up axis is not clear: the body is on average along {rise.round(2)}")
    order = [(axis + 1) % 3, (axis + 2) % 3, axis]
    sign = np.sign(rise[axis])
    if axis != 2 or sign < 0:
        notes.append(f"{'-' if sign < 0 else ''}{'xyz'[axis]} is up")
    flip = np.array([sign, 1.0, sign])
    return {key: value[:, order] * flip for key, value in points.items()}


def _mirrored(points: dict[str, Array]) -> bool:
    """Return whether the left hip is on the right of where the toes point: axes are left-handed then."""
    if "left_toe" not in points or "right_toe" not in points:
        return False
    toes = sum(directions(points[f"{side}_toe"] - points[f"{side}_ankle"]) for side in SIDES)
    left = points["left_hip"] - points["right_hip"]
    across = np.cross(toes, left)[:, 2] / np.maximum(norms(left), 1e-12)
    upright = (points["left_shoulder"] - points["left_ankle"])[:, 2] > 0
    clear = upright & (np.abs(across) > CLEAR)  # neither on the toes, which then point down, nor with crossed feet
    return bool(np.mean(across[clear] < 0) > 0.8) if clear.any() else False


def _units(motion: Motion, points: dict[str, Array], notes: list[str]) -> float:
    """Find the metres per unit that make the leg that of an adult."""
    leg = Human(points, motion.rate, motion.source, 1.0).leg
    if not leg > 0:
        raise InputError(f"{motion.source}: the legs have no length")
    units = motion.units or min(UNITS, key=lambda unit: abs(np.log(unit * leg / LEG)))
    if not LEG_RANGE[0] < units * leg < LEG_RANGE[1]:
        units = LEG / leg
        notes.append(f"units unknown: a leg is {leg:.3g} of them, and is taken as {LEG} m")
    return float(units)


def _resampled(values: Array, rate: float, wanted: float) -> Array:
    if abs(rate - wanted) < 1e-6 * wanted:
        return values
    duration = (len(values) - 1) / rate
    if duration * wanted > MAX_FRAMES:
        raise InputError(f"{duration:.4g} s are {duration * wanted:.3g} frames at {wanted:g} Hz, above {MAX_FRAMES}")
    time = np.arange(int(np.floor(duration * wanted + 1e-9)) + 1) / wanted
    known = np.arange(len(values)) / rate
    return np.column_stack([np.interp(time, known, values[:, axis]) for axis in range(3)])


def _placed(points: dict[str, Array]) -> dict[str, Array]:
    """Put the first frame at the origin, facing x, and the lowest usual height of the feet on the ground."""
    feet = [points[f"{side}_{part}"] for side in SIDES for part in ("ankle", "toe") if f"{side}_{part}" in points]
    ground = min(float(np.percentile(foot[:, 2], LOW)) for foot in feet)
    middle = 0.5 * (points["left_hip"][0] + points["right_hip"][0])
    left = points["left_hip"][0] - points["right_hip"][0]
    yaw = np.arctan2(-left[0], left[1])  # of the forward direction, across the hips
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    shift = np.array([middle[0], middle[1], ground])
    return {key: (value - shift) @ R.T for key, value in points.items()}
