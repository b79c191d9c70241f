"""The CoM over the support polygon: in which frames this is required, and the nearest position inside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from kinodyn.arrays import Array
from kinodyn.retarget.contacts import Feet, speed
from kinodyn.retarget.human import Human
from kinodyn.retarget.structure import SIDES

SLOW = (0.2, 0.4)  # [m/s] of the human's CoM, up to which the term acts fully, and beyond which it does not
SMOOTHED = 0.3  # [s] over which that speed is averaged
REACH = 0.06  # [m] beyond ankles and toes up to which a human's CoM is above its feet
MARGIN = 0.015  # [m] from the edge of the support
SHARE = 0.4  # of the width of narrow supports, which the margin does not exceed
DIRECTIONS = 32  # in which supports are bounded
SWEEPS = 8  # projections onto bounds
# masses of segments relative to the body, between two key points (P. de Leva, 1996, men; hands and feet with the limb)
TRUNK, UPPER_ARM, FOREARM, THIGH, SHANK = 0.504, 0.027, 0.022, 0.142, 0.057

_angles = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)
NORMALS = np.stack([np.cos(_angles), np.sin(_angles)])


def human_com(human: Human) -> Array:
    """Estimate the CoM (frames, 3) of a human from its key points [m]."""
    points = human.points
    com = TRUNK * 0.5 * (human.middle("hip") + human.middle("shoulder"))
    parts = (
        ("shoulder", "elbow", UPPER_ARM),
        ("elbow", "wrist", FOREARM),
        ("hip", "knee", THIGH),
        ("knee", "ankle", SHANK),
    )
    for side in SIDES:
        for first, second, mass in parts:
            com = com + mass * 0.5 * (points[f"{side}_{first}"] + points[f"{side}_{second}"])
    total = TRUNK + 2.0 * (UPPER_ARM + FOREARM + THIGH + SHANK)
    return np.asarray(com / total)


def balanced_frames(human: Human, feet: Feet) -> Array:
    """Return how much (frames,) a human is in static balance: 1 where its CoM is slow and above its feet, 0 elsewhere.

    A human that sits, leans on something or runs is not: the robot's CoM need not be above its feet there either.
    """
    com = human_com(human)
    window = max(int(SMOOTHED * human.rate), 1)
    slow = uniform_filter1d(speed(com, human.rate), window, mode="nearest")
    share = np.clip((SLOW[1] - slow) / (SLOW[1] - SLOW[0]), 0.0, 1.0)
    corners, used = _human_support(human, feet)
    above = is_within(com[:, :2], bounds(corners, used, -REACH))
    return np.where(above & used.any(axis=1), share, 0.0)


def _human_support(human: Human, feet: Feet) -> tuple[Array, NDArray[np.bool_]]:
    """Return ankles and toes (frames, 4, 2), and which of them carry (frames, 4)."""
    places, used = [], []
    for side in SIDES:
        carries = np.zeros(len(human), dtype=bool)
        for contact in feet.contacts:
            if contact.side == side:
                carries[contact.start : contact.stop] = True
        for part in ("ankle", "toe"):
            places.append(human.points.get(f"{side}_{part}", human.points[f"{side}_ankle"])[:, :2])
            used.append(carries)
    return np.stack(places, axis=1), np.stack(used, axis=1)


def bounds(corners: Array, used: NDArray[np.bool_], margin: float) -> Array:
    """Return how far supports reach in the directions `NORMALS` (n, directions) [m]; inf where no corner is used.

    Parameters
    ----------
    corners
        Of the supports (n, corners, 2), in any order.
    used
        Which corners count (n, corners).
    margin
        By which supports are smaller, less if they are narrow; below 0 they are larger [m].
    """
    # corner by corner: faster than a maximum over an axis between others
    reach = np.full((len(corners), DIRECTIONS), -np.inf)
    for k in range(corners.shape[1]):
        np.maximum(reach, corners[:, k] @ NORMALS, out=reach, where=used[:, k, None])
    reach[~used.any(axis=1)] = np.inf
    if margin <= 0.0:
        return np.asarray(reach - margin)
    width = reach + np.roll(reach, DIRECTIONS // 2, axis=1)
    return np.asarray(reach - np.minimum(margin, SHARE * width))


def is_within(place: Array, reach: Array) -> NDArray[np.bool_]:
    """Return which places (n, 2) are within `bounds` (n, directions)."""
    return np.asarray((place @ NORMALS <= reach).all(axis=1))


def nearest_within(place: Array, reach: Array) -> Array:
    """Find places (n, 2) within `bounds` near others (n, 2): a few projections onto the bound exceeded most."""
    found = place.copy()
    for _ in range(SWEEPS):
        beyond = found @ NORMALS - reach
        worst = beyond.argmax(axis=1)
        step = np.maximum(np.take_along_axis(beyond, worst[:, None], 1), 0.0)
        found -= step * NORMALS.T[worst]
    return np.asarray(found)
