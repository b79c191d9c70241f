"""Limbs that touch something for a moment: interpolated over it, or arms spread away from the body."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, minimum_filter1d

from kinodyn.retarget.link_clearances import Touching
from kinodyn.retarget.solver import MAX_SLIP, ClipSolver

SPREAD = 2  # frames before and after a touch in which arms are spread

Key = tuple[str, str]  # "arms", "legs" or "trunk", and the side


def bridge(solver: ClipSolver, found: Touching, width: int, spread: float) -> None:
    """Interpolate the joints of limbs that touch something over the frames in which they do, and some around.

    With `spread`, arms are brought by that share towards a posture away from the body there, and the trunk towards the
    upright one. Joint limits and velocity limits are kept. Legs in contact stay as they are.

    Parameters
    ----------
    solver
        Its feasible positions are changed.
    found
        Frames and pairs of links that touch.
    width
        Frames before and after a touch.
    spread
        From 0, interpolation, to 1, arms in the posture away from the body.
    """
    limbs = _limbs(solver)
    frames = touching_limbs(solver, found, width)
    by_link = {joint.child: joint for joint in solver.robot.joints}
    for key, flags in frames.items():
        if key[0] == "legs":
            flags &= ~np.array([_stands(solver, key, t) for t in range(solver.frames)])
        coordinates = np.array([k for link in limbs[key] for k in range(*by_link[link].q.indices(solver.robot.nq))])
        if spread > 0.0 and key[0] != "legs":
            _spread(solver, coordinates, flags, width, spread)
        else:
            _interpolate(solver, coordinates, flags)


def _limbs(solver: ClipSolver) -> dict[Key, tuple[str, ...]]:
    """List the links of arms, legs and trunk."""
    body = solver.body
    limbs = {("arms", side): limb.links for side, limb in body.arms.items()}
    limbs |= {("legs", side): limb.links for side, limb in body.legs.items()}
    return limbs | {("trunk", ""): body.trunk}


def limb_bodies(solver: ClipSolver) -> dict[Key, set[int]]:
    """List the bodies of the core that arms, legs and trunk consist of.

    Parameters
    ----------
    solver
        Of a clip.

    Returns
    -------
    dict
        By "arms" or "legs", and the side, or "trunk".
    """
    places = solver.body.places
    return {key: {places[link].body for link in links} for key, links in _limbs(solver).items()}


def touching_limbs(
    solver: ClipSolver, found: Touching, width: int, standing: bool = False
) -> dict[Key, NDArray[np.bool_]]:
    """Return in which frames (frames,) limbs touch something, and some around, by limb.

    Parameters
    ----------
    solver
        Of the clip.
    found
        Frames and pairs of links that touch.
    width
        Frames before and after a touch.
    standing
        Whether legs in contact count.

    Returns
    -------
    dict
        By "arms" or "legs", and the side, or "trunk"; only limbs that touch something, and the trunk if none does.
    """
    bodies, places = limb_bodies(solver), solver.body.places
    touching = [(t, {places[name].body for name in solver.clearances.names[pair]}) for t, pair in found]
    arms = bodies.get(("arms", "left"), set()) | bodies.get(("arms", "right"), set())
    low = np.argwhere(solver.heights[:, : solver.frames] < -MAX_SLIP)
    touching += [(int(t), {int(body)}) for body, t in low if int(body) in arms]
    frames: dict[Key, NDArray[np.bool_]] = {}
    for t, moved in touching:
        keys = [key for key in bodies if bodies[key] & moved and (standing or not _stands(solver, key, t))]
        own = [key for key in keys if key[0] == "arms"]
        for key in own or keys[:1]:
            frames.setdefault(key, np.zeros(solver.frames, dtype=bool))[max(t - width, 0) : t + width + 1] = True
    return frames


def _stands(solver: ClipSolver, key: Key, frame: int) -> bool:
    return key[0] == "legs" and any(c.side == key[1] and c.start <= frame < c.stop for c in solver.contacts)


def _interpolate(solver: ClipSolver, coordinates: NDArray[np.intp], flags: NDArray[np.bool_]) -> None:
    """Replace feasible positions in frames by interpolation from the frames around; by constants at the ends."""
    kept = np.flatnonzero(~flags)
    if not len(kept):
        return
    time, n = np.arange(solver.frames), solver.frames
    for k in coordinates:
        solver.z[k, :n] = np.interp(time, kept, solver.z[k, kept])
        solver.z[k, n:] = solver.z[k, n - 1]
        solver.q[k], solver.u[k] = solver.z[k], 0.0


def _spread(
    solver: ClipSolver, coordinates: NDArray[np.intp], flags: NDArray[np.bool_], width: int, most: float
) -> None:
    """Blend feasible positions towards a posture away from the body, over `width` frames or as many as speeds need."""
    n = solver.frames
    core = minimum_filter1d(flags.astype(float), 2 * max(width - SPREAD, 0) + 1, mode="nearest") > 0.0
    away = distance_transform_edt(~core) if core.any() else np.full(n, np.inf)
    change = solver.body.spread[coordinates, None] - solver.z[coordinates, :n]
    for span in width * np.array([1, 2, 4, 8]):
        share = np.clip(1.0 - away / span, 0.0, 1.0)
        share = most * share * share * (3.0 - 2.0 * share)
        z = solver.z[coordinates, :n] + share * change
        if (np.abs(np.diff(z, axis=1)) <= solver.bounds[2, coordinates, None]).all():
            break
    else:
        return
    solver.z[coordinates, :n] = z
    solver.z[coordinates, n:] = z[:, -1:]
    solver.q[coordinates], solver.u[coordinates] = solver.z[coordinates], 0.0
