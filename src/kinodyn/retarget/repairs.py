"""Frames of a clip in which links touch, contacts slip or points are below the ground: solved again until none do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from kinodyn.arrays import Array
from kinodyn.retarget.base_motion import lifts
from kinodyn.retarget.body import SIDES
from kinodyn.retarget.bridges import bridge, limb_bodies, touching_limbs
from kinodyn.retarget.contacts import Contact, intervals
from kinodyn.retarget.human import norms
from kinodyn.retarget.link_clearances import Touching
from kinodyn.retarget.locks import EDGES, ContactLocks
from kinodyn.retarget.report import contact_slips
from kinodyn.retarget.solver import MAX_SLIP, ClipSolver, Stage
from kinodyn.retarget.targets import CORNERS, LOCKED, SWING

# Feasible positions, which are the result, must follow the solver's: their weight is large. Distances change in
# direction when links move apart: they are measured again after a few iterations.
REPAIR, MEASURED = Stage(3, LOCKED, 4.0, 0.1), 3
# frames around a touch over which limbs are interpolated, or arms spread by a share of the way, attempt by attempt
BRIDGES = (
    *((2, 0.0), (8, 1.0), (5, 0.0), (8, 0.3), (10, 0.0), (20, 1.0), (20, 0.0), (20, 0.5), (35, 0.0), (40, 1.0)),
    *((40, 0.3), (60, 1.0), (80, 0.0), (100, 1.0), (150, 1.0)),
)
# [m] by which links that touch must move apart, attempt by attempt, and the share of the overlap of their spheres
PUSHES = (0.0, 0.006, 0.012, 0.02, *(0.03,) * 6, *(0.05,) * 14)
SHARES = tuple(min(0.15 * attempt, 0.6) for attempt in range(len(PUSHES)))
YIELDING = len(PUSHES)  # attempts before bridges, in which targets lose weight
YIELD = 0.6  # of the weight of targets around violations that remains after an attempt
MAX_REPAIRS = YIELDING + len(BRIDGES)
RELEASING = YIELDING + 3  # attempts before contacts of legs that touch something are given up
RELEASED = 3  # frames before and after a touch in which they are
LOCK_REPAIRS = 3  # attempts to keep contacts whole, before they are reduced to the frames in which they hold
GROUND_REPAIRS = 3  # attempts to lift points out of the ground, before the base is lifted
MIN_PART = 3  # frames of a part of a contact that is kept
REPAIRED = 8  # frames before and after a violation that may move to repair it


class _Candidate(NamedTuple):
    """A result with violations, to which repairs may return."""

    violations: int  # frames
    q: Array
    locks: ContactLocks
    soles: Array  # targets (8, frames, 3) of the corners of soles [m], and their weights (8, frames)
    weights: Array
    touching: Touching


def repaired(solver: ClipSolver, q: Array) -> tuple[Array, Touching]:
    """Solve frames with violations again until there are none.

    Parameters
    ----------
    solver
        After its last round; its contacts are trimmed to those that hold.
    q
        Its result (frames, nq).

    Returns
    -------
    q : (frames, nq)
        The best that was found.
    touching : list of (int, int)
        Frames and pairs of links that touch in it.
    """
    best: _Candidate | None = None
    touching, before = Touching(), np.full_like(q, np.nan)
    for attempt in range(MAX_REPAIRS + 1):
        moved = np.any(q[:, 7:] != before[:, 7:], axis=1)  # links do not touch because of the base
        touching = [entry for entry in touching if not moved[entry[0]]]
        touching += solver.clearances.touching(q, np.flatnonzero(moved))
        before = q
        wrong, low = _violations(solver, touching), np.asarray(solver.lowest < -MAX_SLIP)
        count = int(wrong.sum())
        if best is None or count < best.violations:
            best = _candidate(solver, count, q, touching)
        if count == 0 and (attempt >= GROUND_REPAIRS or not low.any()):
            return _kept(solver, q), touching
        if attempt >= YIELDING and not touching:
            break
        if attempt >= YIELDING and best.violations < count:
            _return_to(solver, best)
            q = before = best.q
            touching = best.touching
            wrong = _violations(solver, touching)
        if attempt < MAX_REPAIRS:
            _widen(solver, wrong | low, solver.moving)
            if attempt in range(1, YIELDING):
                _yield(solver, touching, low)
            q = _repair(solver, q, touching, attempt)
    return _kept(solver, q), touching


def _candidate(solver: ClipSolver, count: int, q: Array, touching: Touching) -> _Candidate:
    soles = slice(0, 2 * CORNERS)
    places = solver.targets.positions[soles].copy(), solver.targets.weights[soles].copy()
    return _Candidate(count, q, solver.locks, *places, touching)


def _return_to(solver: ClipSolver, candidate: _Candidate) -> None:
    """Return to an earlier result."""
    solver.locks = candidate.locks
    solver.targets.positions[: 2 * CORNERS] = candidate.soles
    solver.targets.weights[: 2 * CORNERS] = candidate.weights
    for rows in (solver.q, solver.z):
        rows[:, : solver.frames] = candidate.q.T
        rows[:, solver.frames :] = candidate.q[-1:].T
    solver.u[:], solver.moving[:] = 0.0, True
    solver.run(0, proximity=solver.proximity, smoothing=0.0, base_only=True)  # positions of the points


def _repair(solver: ClipSolver, q: Array, touching: Touching, attempt: int) -> Array:
    """Solve the frames that move again: with less weight of their targets, or interpolated over time."""
    if attempt >= LOCK_REPAIRS:
        _trim_contacts(solver, one_foot=True)
    if attempt >= RELEASING:
        _release(solver, touching)
    if attempt >= YIELDING:
        bridge(solver, touching, *BRIDGES[attempt - YIELDING])
    else:
        solver.clearances.keep_apart(q, touching, PUSHES[attempt], SHARES[attempt])
        solver.place_contacts(LOCKED, move=False)
        for _ in range(MEASURED):
            solver.avoid_collisions()
            solver.correct_locks()
            solver.run(REPAIR.iterations, proximity=REPAIR.proximity, smoothing=REPAIR.smoothing, verify=False)
    return solver.finish()


def _release(solver: ClipSolver, touching: Touching) -> None:
    """Give up contacts of legs around frames in which these touch: bridges leave legs in contact as they are."""
    limbs = touching_limbs(solver, touching, RELEASED, standing=True)
    none = np.zeros(solver.frames, dtype=bool)
    kept: list[Contact] = []
    for contact in solver.contacts:
        stays = ~limbs.get(("legs", contact.side), none)[contact.start : contact.stop]
        parts = [(contact.start + first, contact.start + last) for first, last in intervals(stays)]
        kept += [contact] if stays.all() else [contact.part(*ends) for ends in parts if ends[1] - ends[0] >= MIN_PART]
    if kept != list(solver.contacts):
        _keep_contacts(solver, kept)


def _widen(solver: ClipSolver, frames: NDArray[np.bool_], into: NDArray[np.bool_]) -> None:
    """Mark frames (..., frames), and those around that move with them, in the layout of the core (..., padded)."""
    into[..., : solver.frames] = maximum_filter1d(frames, 2 * REPAIRED + 1, axis=-1, mode="constant")
    into[..., solver.frames :] = into[..., solver.frames - 1, None]


def _yield(solver: ClipSolver, touching: Touching, low: NDArray[np.bool_]) -> None:
    """Reduce weights of targets where links touch, points are below the ground or locked corners miss their place.

    Where limbs touch something, only their own targets lose weight: feet need not leave theirs because of an arm.
    """
    limbs = [bodies for (kind, _), bodies in limb_bodies(solver).items() if kind != "trunk"]  # those of arms first
    tracked = solver.targets.points.bodies[: len(solver.priority)]
    limb = np.full(len(tracked), len(limbs))  # of each point; the last are those of the trunk
    for k, bodies in enumerate(limbs):
        limb[np.isin(tracked, list(bodies))] = k
    missing = (_misses(solver) * (solver.targets.weights[: 2 * CORNERS] > SWING) > 0.5 * MAX_SLIP).any(axis=0)
    strained = np.repeat((low | missing)[None], len(limbs) + 1, axis=0)
    frames, pairs = np.array(touching, dtype=np.intp).reshape(-1, 2).T
    for pair in np.unique(pairs):
        moved = {solver.body.places[name].body for name in solver.clearances.names[pair]}
        own = [k for k, bodies in enumerate(limbs) if bodies & moved] or list(range(len(limbs) + 1))
        arms = [k for k in own if k < len(solver.body.arms)]  # feet come first
        strained[np.ix_(arms if arms and len(own) < len(strained) else own, frames[pairs == pair])] = True
    yielding = np.zeros((len(strained), solver.padded), dtype=bool)
    _widen(solver, strained, yielding)
    solver.priority[yielding[limb]] *= YIELD


def _misses(solver: ClipSolver) -> Array:
    """Return the distances (8, frames) of the corners of soles from their targets [m]."""
    corners = slice(0, 2 * CORNERS)
    return norms(solver.paths[corners] - solver.targets.positions[corners])


def _violations(solver: ClipSolver, touching: Touching) -> NDArray[np.bool_]:
    """Return in which frames (frames,) contacts or distances of links do not hold, after `finish`."""
    wrong = np.zeros(solver.frames, dtype=bool)
    wrong[[frame for frame, _ in touching]] = True
    for contact, slip in zip(solver.contacts, contact_slips(solver.paths, solver.contacts), strict=True):
        if slip > MAX_SLIP:
            wrong[contact.start : contact.stop] = True
    return wrong


def _kept(solver: ClipSolver, q: Array) -> Array:
    """Lift the base out of the ground; what slips, or leaves the ground, is no contact."""
    q = _lifted(solver, q)
    _trim_contacts(solver)
    return q


def _lifted(solver: ClipSolver, q: Array) -> Array:
    """Lift the base where points are still below the ground, smoothly over time."""
    low = np.maximum(0.0, -solver.lowest - 0.5 * MAX_SLIP)
    if not low.any():
        return q
    lift = lifts(low, solver.locked())
    q = q.copy()
    q[:, 2] += lift
    solver.raise_points(lift)
    return q


def _trim_contacts(solver: ClipSolver, *, one_foot: bool = False) -> None:
    """Reduce contacts that slip to the frames in which their corners stay at one place.

    With `one_foot`, of contacts at the same time that do only the one that slips more: the other may then hold.
    """
    slips = contact_slips(solver.paths, solver.contacts)
    if one_foot:
        slips = of_one_foot(solver.contacts, slips)
    if (slips <= MAX_SLIP).all():
        return
    misses = _misses(solver)
    kept: list[Contact] = []
    for contact, slip in zip(solver.contacts, slips, strict=True):
        kept += _good_parts(contact, misses) if slip > MAX_SLIP else [contact]
    _keep_contacts(solver, kept)


def _keep_contacts(solver: ClipSolver, kept: list[Contact]) -> None:
    """Lock soles in these contacts only, at the places where they are."""
    before = solver.targets.positions[: 2 * CORNERS].transpose(0, 2, 1)
    solver.locks = ContactLocks(solver.targets, solver.body, tuple(kept), solver.locks.rate)
    solver.locks.apply(before)


def of_one_foot(contacts: tuple[Contact, ...], slips: Array) -> Array:
    """Limit the slips of contacts during which the other foot slips more to what is accepted.

    Parameters
    ----------
    contacts
        Of both feet.
    slips
        Of each (contacts,) [m].

    Returns
    -------
    (contacts,)
        [m]
    """
    start, stop = np.array([(contact.start, contact.stop) for contact in contacts], dtype=np.intp).reshape(-1, 2).T
    together = (start[:, None] < stop) & (start < stop[:, None])
    worst = np.where(together, slips, 0.0).max(axis=1, initial=0.0)
    return np.where(slips < worst, np.minimum(slips, MAX_SLIP), slips)


def _good_parts(contact: Contact, misses: Array) -> list[Contact]:
    """Divide a contact into the parts in which its corners miss (8, frames) their place by little."""
    first = CORNERS * SIDES.index(contact.side)
    miss = misses[first : first + CORNERS, contact.start : contact.stop].copy()
    for edge, corners in zip(EDGES, (miss[:2], miss[2:]), strict=True):
        first_on, last_on = (frame - contact.start for frame in contact.frames(edge))
        corners[:, :first_on] = corners[:, last_on:] = 0.0
    parts = []
    for begin, end in intervals(miss.max(axis=0) < 0.5 * MAX_SLIP):
        if end - begin >= MIN_PART:
            parts.append(contact.part(begin + contact.start, end + contact.start))
    return parts
