"""Configurations of all frames of a clip: rounds of the compiled solver, between which contacts and rows change."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.distance_query import DistanceQuery, distance_query
from kinodyn.collision.query import EMPTY
from kinodyn.layouts import layout
from kinodyn.retarget.body import SIDES, Body
from kinodyn.retarget.contacts import Contact, intervals
from kinodyn.retarget.report import contact_slips, self_distances
from kinodyn.retarget.targets import CORNERS, LOCKED, SWING, Targets, lock_contacts
from kinodyn.spatial import as_quaternion
from kinodyn.spatial.poses import inverse_pose

PACK = 8  # frames that the core may compute at once
ROWS = 12  # pairs of links that are kept apart in a frame
MARGIN = 0.004  # [m] that links are kept apart
WATCHED = 0.03  # [m] beyond the margin, up to which pairs are considered
SPEED = 12.0  # [rad/s or m/s] of joints whose description has no velocity limit
POSTURE = 1e-3  # weight of the upright posture
RESERVE = 1e-4  # of velocity limits, which rounding must not exceed
MAX_SLIP = 0.0015  # [m] that is accepted
MAX_TOUCH = 0.0005  # [m] of penetration of links that is accepted
MAX_REPAIRS = 6


class Stage(NamedTuple):
    """Iterations with one weight of locked feet, of feasible positions, and of smoothness."""

    iterations: int
    lock: float
    proximity: float
    smoothing: float


# First all frames take the same branch, by strong smoothing; then locks become stiffer while contacts find places that
# the robot reaches.
ROUNDS = (
    Stage(10, 3.0, 1.0, 100.0),
    Stage(10, 3.0, 0.3, 10.0),
    Stage(8, 3.0, 0.3, 0.1),
    Stage(8, 6.0, 0.3, 0.1),
    Stage(8, 12.0, 0.3, 0.1),
    Stage(8, 24.0, 0.3, 0.1),
    Stage(10, LOCKED, 0.5, 0.1),
    Stage(10, LOCKED, 1.0, 0.1),
)
REPAIR = Stage(12, LOCKED, 1.0, 0.1)


def upright_distances(query: DistanceQuery, body: Body) -> Array:
    """Return the distances (pairs + 1,) that pairs of links need not exceed: those of the upright posture, at most 1 m.

    Spheres reach beyond the shapes, so that those of neighbours may overlap in any posture.
    """
    return np.append(_core.pair_distances(query.robot, query.core, body.q, 1.0), 1.0)


class ClipSolver:
    """State of the solution of one clip.

    Parameters
    ----------
    body
        The robot.
    targets
        Points to follow.
    contacts
        Contacts of the feet.
    rate
        Frames per second [Hz].
    """

    def __init__(self, body: Body, targets: Targets, contacts: tuple[Contact, ...], rate: float) -> None:
        self.body, self.targets, self.contacts = body, targets, contacts
        robot = self.robot = body.robot
        self.frames = targets.positions.shape[1]
        self.padded = -(-self.frames // PACK) * PACK
        self.dofs = np.ascontiguousarray(body.v, dtype=np.int32)
        self.q = np.repeat(body.q[:, None], self.padded, axis=1)
        self.q[:7] = self._padded(self._base())
        self.z, self.u = self.q.copy(), np.zeros_like(self.q)
        self.damping = np.full(self.padded, 1e-2)
        self.bounds = self._bounds(rate)
        self.point = np.zeros((len(targets.points.bodies), 3, self.padded))
        self.com = np.zeros((3, self.padded))
        self.com_target, self.com_weight = np.zeros((2, self.padded)), np.zeros(self.padded)
        self.query: DistanceQuery = distance_query(robot, EMPTY)
        self.baseline = upright_distances(self.query, body)
        self.gradient, self.bound = np.zeros((0, len(self.dofs), self.padded)), np.zeros((0, self.padded))
        self.above = np.ones(len(targets.points.bodies), dtype=bool)
        self.above[2 * CORNERS : 2 * CORNERS + len(targets.names)] = False
        self.proximity = 0.0

    def solve(self) -> Array:
        """Solve the clip; return q (frames, nq)."""
        lock_contacts(self.targets, self.body, self.contacts, self.targets.reference, ROUNDS[0].lock)
        for k, stage in enumerate(ROUNDS):
            if k:
                self.avoid_collisions()
                self.place_contacts(stage.lock, move=stage.lock < LOCKED)
            self.run(stage.iterations, proximity=stage.proximity, smoothing=stage.smoothing)
        for _ in range(MAX_REPAIRS):
            q = self.finish()
            if self.satisfied(q):
                break
            self.trim_contacts()
            self.avoid_collisions()
            self.place_contacts(LOCKED, move=False)
            self.run(REPAIR.iterations, proximity=REPAIR.proximity, smoothing=REPAIR.smoothing)
        else:
            q = self.finish()
        return q

    def satisfied(self, q: Array) -> bool:
        """Return whether contacts, ground and distances of links hold after `finish`."""
        if float(contact_slips(self.paths, self.contacts).max(initial=0.0)) > MAX_SLIP:
            return False
        if float(self.point[self.above, 2, : self.frames].min(initial=0.0)) < -MAX_SLIP:
            return False
        return float(self_distances(q, self.query, self.baseline)[0].min(initial=1.0)) > -MAX_TOUCH

    @property
    def paths(self) -> Array:
        """Positions (points, frames, 3) of the points [m], as of the last run."""
        return np.asarray(self.point[:, :, : self.frames].transpose(0, 2, 1))

    def trim_contacts(self) -> None:
        """Shorten contacts to the frames in which their corners stay at one place."""
        kept = []
        corners = slice(0, 2 * CORNERS)
        misses = np.linalg.norm(self.paths[corners] - self.targets.positions[corners], axis=2)
        for contact in self.contacts:
            first = CORNERS * SIDES.index(contact.side)
            miss = misses[first : first + CORNERS, contact.start : contact.stop].copy()
            flat = slice(contact.flat[0] - contact.start, contact.flat[1] - contact.start)
            miss[:2, : flat.start] = miss[:2, flat.stop :] = 0.0
            good = miss.max(axis=0) < 0.5 * MAX_SLIP
            ranges = intervals(good)
            if not ranges:
                continue
            start, stop = max(ranges, key=lambda r: r[1] - r[0])
            start, stop = start + contact.start, stop + contact.start
            if stop - start < 2:
                continue
            level = max(start, contact.flat[0]), min(stop, contact.flat[1])
            level = level if level[1] > level[0] else (start, start)
            kept.append(replace(contact, start=start, stop=stop, flat=level))
        self.contacts = tuple(kept)

    def finish(self) -> Array:
        """Take the feasible joint positions, and place the base so that locked feet stay; return q (frames, nq)."""
        kept = self.q.copy()
        self.q[7:] = self.z[7:]
        self.run(4, proximity=self.proximity, smoothing=0.0, base_only=True)
        result = np.ascontiguousarray(self.q[:, : self.frames].T)
        self.q[7:] = kept[7:]
        return result

    def run(self, iterations: int, *, proximity: float, smoothing: float, base_only: bool = False) -> None:
        """Run iterations of the compiled solver."""
        if self.proximity > 0.0 and proximity != self.proximity:
            self.u *= self.proximity / proximity
        self.proximity = proximity
        settings = np.zeros(1, dtype=layout("retarget_settings"))
        settings["row_weight"], settings["ground_weight"] = 30.0, 20.0
        settings["smoothing"], settings["base_smoothing"] = smoothing, 1.0
        settings["base_proximity"] = 0.0 if base_only else 0.02
        settings["max_change"] = 0.4
        settings["iterations"], settings["base_only"] = iterations, base_only
        n = len(self.dofs)
        dofs = self.dofs[self.dofs < 6] if base_only else self.dofs
        weights = np.vstack([np.full(n, POSTURE), np.full(n, proximity)])
        gradient, bound = (self.gradient[:0, : len(dofs)], self.bound[:0]) if base_only else (self.gradient, self.bound)
        points = self.targets.points
        _core.retarget(
            self.robot,
            settings,
            self.frames,
            points.bodies,
            points.locals,
            self.above,
            dofs,
            self.q,
            self.z,
            self.u,
            self.damping,
            self._over_time(self.targets.positions),
            self._padded(self.targets.weights),
            self.com_target,
            self.com_weight,
            gradient,
            bound,
            self.bounds,
            np.ascontiguousarray(weights[:, : len(dofs)]),
            self.point,
            self.com,
        )

    def place_contacts(self, weight: float, *, move: bool) -> None:
        """Lock feet in contacts, with this weight: where they were, or where they are now."""
        before = self.targets.positions[: 2 * CORNERS]
        locked = (self.targets.weights[: 2 * CORNERS] != SWING)[..., None]
        places = np.where(locked, self.paths[: 2 * CORNERS] if move else before, self.targets.reference)
        lock_contacts(self.targets, self.body, self.contacts, places, weight)

    def avoid_collisions(self) -> None:
        """Linearise the distances of the nearest pairs of links at the feasible positions."""
        q = np.ascontiguousarray(self.z.T)
        q[:, 3:7] = self.q[3:7].T
        found = _core.nearest_pairs(self.robot, self.query.core, q, MARGIN + WATCHED, ROWS)
        gradient = found.gradient[..., self.dofs]
        near = found.pair >= 0
        used = max(int(near.sum(axis=1).max()), 1)
        gradient, near, distance = gradient[:, :used], near[:, :used], found.distance[:, :used]
        value = np.einsum("tkn,tn->tk", gradient, self._coordinates(q))
        margin = np.minimum(MARGIN, self.baseline[found.pair[:, :used].astype(np.intp)])
        bound = np.where(near, margin - distance + value, -1e6)
        self.gradient = np.ascontiguousarray(gradient.transpose(1, 2, 0))
        self.bound = np.ascontiguousarray(bound.T)

    def _coordinates(self, q: Array) -> Array:
        """Return the positions (frames, dofs) of joints with one coordinate; zero for the others."""
        result = np.zeros((len(q), len(self.dofs)))
        place = {int(v): k for k, v in enumerate(self.dofs)}
        for joint in self.robot.joints:
            if joint.v.stop - joint.v.start == 1 and joint.v.start in place:
                result[:, place[joint.v.start]] = q[:, joint.q.start]
        return result

    def _base(self) -> Array:
        """Return initial base poses (7, frames): the pelvis at its target, joints in the upright posture."""
        T_pelvis_base = inverse_pose(self.body.pose(self.body.pelvis)) @ self.body.pose(self.robot.joints[0].child)
        T = self.targets.pelvis @ T_pelvis_base
        quaternion = np.array(as_quaternion(T[:, :3, :3]))
        turns = np.einsum("ti,ti->t", quaternion[1:], quaternion[:-1]) < 0
        quaternion[1:] *= np.where(np.cumsum(turns) % 2 == 1, -1.0, 1.0)[:, None]
        return np.vstack([T[:, :3, 3].T, quaternion.T])

    def _bounds(self, rate: float) -> Array:
        """Return lower, upper, largest step from frame to frame, and posture (4, nq)."""
        limits, nq = self.robot.limits, self.robot.nq
        step = np.full(nq, 1e9)
        for joint in self.robot.joints:
            if joint.v.stop - joint.v.start == 1:
                fastest = float(limits.velocity[joint.v.start])
                fastest = fastest if 0.0 < fastest < 1e3 else SPEED
                step[joint.q.start] = fastest / rate * (1.0 - RESERVE)
        lower, upper = (np.clip(bound, -1e9, 1e9) for bound in (limits.lower, limits.upper))
        return np.vstack([lower, upper, step, np.clip(self.body.q, lower, upper)])

    def _padded(self, rows: Array) -> Array:
        """Repeat the last frame of (..., frames) until packs are full."""
        return np.concatenate([rows, np.repeat(rows[..., -1:], self.padded - self.frames, axis=-1)], axis=-1)

    def _over_time(self, positions: Array) -> Array:
        """Bring positions (points, frames, 3) into the layout of the core."""
        return np.ascontiguousarray(self._padded(positions.transpose(0, 2, 1)))
