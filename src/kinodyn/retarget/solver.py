"""Configurations of all frames of a clip: rounds of the compiled solver, between which contacts and rows change."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.layouts import layout
from kinodyn.retarget.body import SIDES, Body
from kinodyn.retarget.contacts import Contact, intervals
from kinodyn.retarget.link_clearances import UNUSED, LinkClearances, Touching
from kinodyn.retarget.report import contact_slips
from kinodyn.retarget.targets import CORNERS, LOCKED, SWING, Targets, lock_contacts
from kinodyn.spatial import as_quaternion
from kinodyn.spatial.poses import inverse_pose

PACK = 8  # frames of a block in the layout of the core
SPEED = 12.0  # [rad/s or m/s] of joints whose description has no velocity limit
ARM_STIFFNESS = 0.6  # weight of feasible positions of arms and trunk relative to that of legs
POSTURE = 1e-3  # weight of the upright posture
RESERVE = 1e-4  # of velocity limits, which rounding must not exceed
MAX_SLIP = 0.0015  # [m] that is accepted
BRIDGES = (2, 5, 10, 20, 35)  # frames around a touch over which limbs are interpolated, attempt by attempt
YIELDING = 7  # attempts before these, in which targets lose weight
YIELD = 0.6  # of the weight of targets around violations that remains after an attempt
MAX_REPAIRS = YIELDING + len(BRIDGES)
LIFTED = 3  # frames before and after one that is lifted out of the ground
REPAIRED = 8  # frames before and after a violation that may move to repair it


class Stage(NamedTuple):
    """Iterations with one weight of locked feet, of feasible positions, and of smoothness."""

    iterations: int
    lock: float
    proximity: float
    smoothing: float
    collisions: bool = True  # whether distances of links are measured before


# First all frames take the same branch, by strong smoothing; then locks become stiffer while contacts find places that
# the robot reaches.
ROUNDS = (
    Stage(7, 3.0, 1.0, 100.0, collisions=False),
    Stage(5, 3.0, 0.3, 10.0),
    Stage(4, 3.0, 0.3, 0.1),
    Stage(4, 6.0, 0.3, 0.1),
    Stage(4, 12.0, 0.3, 0.1, collisions=False),
    Stage(5, 24.0, 0.3, 0.1),
    Stage(6, LOCKED, 0.5, 0.1),
    Stage(5, LOCKED, 1.0, 0.1, collisions=False),
)
REPAIR = Stage(12, LOCKED, 1.0, 0.1)


def _range(indices: slice) -> tuple[int, int]:
    return indices.start, indices.stop


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
        self.robot = body.robot
        self.frames = targets.positions.shape[1]
        self.padded = -(-self.frames // PACK) * PACK
        self.dofs = np.ascontiguousarray(body.v, dtype=np.int32)
        self.q = np.repeat(body.q[:, None], self.padded, axis=1)
        self.q[:7] = self._padded(self._base())
        self.z, self.u = self.q.copy(), np.zeros_like(self.q)
        self.damping = np.full(self.padded, 1e-2)
        self.moving = np.ones(self.padded, dtype=bool)
        self.priority = np.ones(self.padded)  # of targets other than locked soles, relative to their weights
        self.bounds = self._bounds(rate)
        self.point = np.zeros((len(targets.points.bodies), 3, self.padded))
        self.com = np.zeros((3, self.padded))
        self.com_target, self.com_weight = np.zeros((2, self.padded)), np.zeros(self.padded)
        self.clearances = LinkClearances(body)
        self.gradient, self.bound = self._rows(0)
        self.above = np.ones(len(targets.points.bodies), dtype=bool)
        self.above[2 * CORNERS : 2 * CORNERS + len(targets.names)] = False
        self.proximity = 0.0
        self.stiffness = self._stiffness()

    def solve(self) -> Array:
        """Solve the clip; return q (frames, nq)."""
        lock_contacts(self.targets, self.body, self.contacts, self.targets.reference, ROUNDS[0].lock)
        for k, stage in enumerate(ROUNDS):
            if k and stage.smoothing != ROUNDS[k - 1].smoothing:
                self.u[:] = 0.0  # multipliers of another objective
            if stage.collisions:
                self.avoid_collisions()
            if k:
                self.place_contacts(stage.lock, move=stage.lock < LOCKED)
            self.run(stage.iterations, proximity=stage.proximity, smoothing=stage.smoothing)
        q = self.finish()
        best: tuple[int, Array, Array, tuple[Contact, ...]] | None = None
        for attempt in range(MAX_REPAIRS + 1):
            moved = np.flatnonzero(self.moving[: self.frames])
            touching = self.clearances.confirmed(q, self.clearances.touching(q, moved))
            wrong = self.violations(touching)
            count = int(wrong.sum())
            if best is None or count < best[0]:
                best = count, q, self.point.copy(), self.contacts
            if count == 0 or attempt == MAX_REPAIRS:
                break
            self.moving[: self.frames] = np.convolve(wrong, np.ones(2 * REPAIRED + 1), "same") > 0
            self.moving[self.frames :] = self.moving[self.frames - 1]
            self.trim_contacts()
            if attempt >= YIELDING:
                self.bridge(touching, BRIDGES[attempt - YIELDING])
            else:
                self.priority[self.moving] *= YIELD if attempt else 1.0
                self.avoid_collisions()
                self.place_contacts(LOCKED, move=False)
                self.run(REPAIR.iterations, proximity=REPAIR.proximity, smoothing=REPAIR.smoothing)
            q = self.finish()
        if best is not None:
            _, q, self.point, self.contacts = best
        return self.lifted(q)

    def lifted(self, q: Array) -> Array:
        """Lift the base where points are still below the ground, smoothly over time."""
        low = np.maximum(0.0, -self.point[self.above, 2, : self.frames].min(axis=0) - 0.5 * MAX_SLIP)
        if not low.any():
            return q
        lift = maximum_filter1d(low, 2 * LIFTED + 1, mode="nearest")
        lift = uniform_filter1d(lift, 2 * LIFTED + 1, mode="nearest")
        q = q.copy()
        q[:, 2] += lift
        self.point[:, 2, : self.frames] += lift
        return q

    def violations(self, touching: Touching) -> NDArray[np.bool_]:
        """Return in which frames (frames,) contacts, ground or distances of links do not hold, after `finish`."""
        wrong = np.asarray(self.point[self.above, 2, : self.frames].min(axis=0) < -MAX_SLIP)
        wrong[[frame for frame, _, _ in touching]] = True
        for contact, slip in zip(self.contacts, contact_slips(self.paths, self.contacts), strict=True):
            if slip > MAX_SLIP:
                wrong[contact.start : contact.stop] = True
        return wrong

    def bridge(self, found: Touching, width: int) -> None:
        """Interpolate the joints of limbs that touch something over the frames in which they do, and some around.

        Interpolated positions keep joint limits and velocity limits. Legs in contact stay as they are.
        """
        frames: dict[tuple[str, str], NDArray[np.bool_]] = {}
        limbs = {("arms", side): limb for side, limb in self.body.arms.items()}
        limbs |= {("legs", side): limb for side, limb in self.body.legs.items()}
        places = self.body.places
        bodies = {key: {places[link].body for link in limb.links} for key, limb in limbs.items()}
        touching = [(t, {places[name].body for name in self.clearances.query.names[pair]}) for t, pair, _ in found]
        low = np.argwhere(self.point[:, 2, : self.frames] < -MAX_SLIP)
        arms = bodies.get(("arms", "left"), set()) | bodies.get(("arms", "right"), set())
        under = [(int(t), int(self.targets.points.bodies[k])) for k, t in low if self.above[k]]
        touching += [(t, {body}) for t, body in under if body in arms]
        for t, moved in touching:
            keys = [key for key in limbs if bodies[key] & moved and not self._stands(key, t)]
            own = [key for key in keys if key[0] == "arms"]
            for key in own or keys[:1]:
                frames.setdefault(key, np.zeros(self.frames, dtype=bool))[max(t - width, 0) : t + width + 1] = True
        by_link = {joint.child: joint for joint in self.robot.joints}
        for key, flags in frames.items():
            if key[0] == "legs":
                flags &= ~np.array([self._stands(key, t) for t in range(self.frames)])
            coordinates = [k for link in limbs[key].links for k in range(*by_link[link].q.indices(self.robot.nq))]
            self._interpolate(np.array(coordinates), flags)

    def _stands(self, key: tuple[str, str], frame: int) -> bool:
        return key[0] == "legs" and any(c.side == key[1] and c.start <= frame < c.stop for c in self.contacts)

    def _interpolate(self, coordinates: NDArray[np.intp], flags: NDArray[np.bool_]) -> None:
        """Replace feasible positions in frames by interpolation from the frames around; by constants at the ends."""
        kept = np.flatnonzero(~flags)
        if not len(kept):
            return
        time = np.arange(self.frames)
        for k in coordinates:
            self.z[k, : self.frames] = np.interp(time, kept, self.z[k, kept])
            self.z[k, self.frames :] = self.z[k, self.frames - 1]
            self.q[k], self.u[k] = self.z[k], 0.0

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
        kept = self.q.copy(), self.damping.copy()
        self.q[7:] = self.z[7:]
        self.damping[:] = 1e-4
        self.run(4, proximity=self.proximity, smoothing=0.0, base_only=True)
        result = np.ascontiguousarray(self.q[:, : self.frames].T)
        self.q[7:], self.damping = kept[0][7:], kept[1]
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
        weights = np.vstack(
            [np.full(n, POSTURE), proximity * (self.stiffness if smoothing < 1.0 else 1.0) * np.ones(n)]
        )
        gradient, bound = self.gradient, self.bound
        if base_only:
            gradient, bound = np.zeros((self.padded // PACK, 0, len(dofs), PACK)), self.bound[:0]
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
            self.moving,
            self.damping,
            self._over_time(self.targets.positions),
            self._weights(),
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
        """Linearise the distances of the nearest pairs of links at the feasible positions, in frames that move."""
        at = np.flatnonzero(self.moving)
        q = np.ascontiguousarray(self.z[:, at].T)
        q[:, 3:7] = self.q[3:7, at].T
        gradient, bound = self.clearances.rows(q)
        used, n = len(bound), len(self.dofs)
        rows = used if len(at) == self.padded else max(used, len(self.bound))
        if rows != len(self.bound):
            kept = min(rows, len(self.bound))
            before = self.gradient, self.bound
            self.gradient, self.bound = self._rows(rows)
            self.gradient[:, :kept], self.bound[:kept] = before[0][:, :kept], before[1][:kept]
        self.bound[:, at] = UNUSED
        self.bound[:used, at] = bound
        if len(at) == self.padded:
            self.gradient[:] = gradient.reshape(-1, PACK, rows, n).transpose(0, 2, 3, 1)
        else:
            self.gradient[at // PACK, :used, :, at % PACK] = gradient

    def _rows(self, count: int) -> tuple[Array, Array]:
        """Return gradients (blocks, count, dofs, frames of a block) and bounds (count, frames) of rows without use."""
        shape = self.padded // PACK, count, len(self.dofs), PACK
        return np.zeros(shape), np.full((count, self.padded), UNUSED)

    def _stiffness(self) -> Array:
        """Return relative weights (dofs,) of feasible positions: those of legs, which locked feet move, are larger."""
        by_link = {joint.child: joint for joint in self.robot.joints}
        legs = {v for leg in self.body.legs.values() for link in leg.links for v in range(*_range(by_link[link].v))}
        return np.array([1.0 if int(v) in legs else ARM_STIFFNESS for v in self.dofs])

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

    def _weights(self) -> Array:
        weights = self._padded(self.targets.weights)
        locked = weights > SWING
        return np.where(locked, weights, weights * self.priority)

    def _padded(self, rows: Array) -> Array:
        """Repeat the last frame of (..., frames) until packs are full."""
        return np.concatenate([rows, np.repeat(rows[..., -1:], self.padded - self.frames, axis=-1)], axis=-1)

    def _over_time(self, positions: Array) -> Array:
        """Bring positions (points, frames, 3) into the layout of the core."""
        return np.ascontiguousarray(self._padded(positions.transpose(0, 2, 1)))
