"""Configurations of all frames of a clip: rounds of the compiled solver, between which contacts and rows change."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, maximum_filter1d, minimum_filter1d, uniform_filter1d

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.layouts import layout
from kinodyn.retarget import support
from kinodyn.retarget.body import SIDES, Body
from kinodyn.retarget.contacts import Contact, intervals
from kinodyn.retarget.link_clearances import ROWS, LinkClearances, Touching
from kinodyn.retarget.locks import ContactLocks
from kinodyn.retarget.report import contact_slips
from kinodyn.retarget.targets import CORNERS, LOCKED, SWING, Targets
from kinodyn.spatial import as_quaternion
from kinodyn.spatial.poses import inverse_pose

PACK = 8  # frames of a block in the layout of the core
UNUSED = -1e6  # bound of a row that is not used
SPEED = 12.0  # [rad/s or m/s] of joints whose description has no velocity limit
ARM_STIFFNESS = 0.6  # weight of feasible positions of arms and trunk relative to that of legs
BALANCE = 3.0  # weight of the CoM [1/m]
POSTURE = 1e-3  # weight of the upright posture
RESERVE = 1e-4  # of velocity limits, which rounding must not exceed
MAX_SLIP = 0.0015  # [m] that is accepted
# frames around a touch over which limbs are interpolated, or arms spread, attempt by attempt
BRIDGES = ((2, False), (8, True), (5, False), (10, False), (20, True), (20, False), (35, False), (40, True))
SPREAD = 2  # frames before and after a touch in which arms are spread
PUSHES = (0.0, 0.004, 0.008, 0.015, 0.02, 0.03, 0.03)  # [m] by which links that touch must move apart
YIELDING = len(PUSHES)  # attempts before bridges, in which targets lose weight
YIELD = 0.6  # of the weight of targets around violations that remains after an attempt
MAX_REPAIRS = YIELDING + len(BRIDGES)
GROUND_REPAIRS = 3  # attempts to lift points out of the ground, before the base is lifted
MIN_PART = 3  # frames of a part of a contact that is kept
FREE_SHARE = 0.1  # of the weights of other points, where the base is placed over locked soles
LIFTED = 3  # frames before and after one that is lifted out of the ground
REPAIRED = 8  # frames before and after a violation that may move to repair it


class Stage(NamedTuple):
    """Iterations with one weight of locked feet, of feasible positions, and of smoothness."""

    iterations: int
    lock: float
    proximity: float
    smoothing: float
    collisions: bool = True  # whether distances of links are measured before
    exact: bool = False  # whether links that touch are found by their shapes before
    balance: bool = False  # whether the CoM is compared with the support before


# First all frames take the same branch, by strong smoothing; then locks become stiffer while contacts find places that
# the robot reaches.
ROUNDS = (
    Stage(7, 3.0, 1.0, 100.0, collisions=False),
    Stage(5, 3.0, 0.3, 10.0),
    Stage(4, 3.0, 0.3, 0.1),
    Stage(4, 6.0, 0.3, 0.1, balance=True),
    Stage(4, 12.0, 0.3, 0.1, collisions=False, balance=True),
    Stage(5, 24.0, 0.3, 0.1, balance=True),
    Stage(6, LOCKED, 0.5, 0.1, exact=True, balance=True),
    Stage(5, LOCKED, 1.0, 0.1, collisions=False),
)
REPAIR = Stage(12, LOCKED, 1.0, 0.1)


class _Candidate(NamedTuple):
    """A result with violations, to which repairs may return."""

    violations: int  # frames
    q: Array
    locks: ContactLocks
    soles: Array  # targets (8, frames, 3) of the corners of soles [m], and their weights (8, frames)
    weights: Array


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
    balance
        How much (frames,) the CoM is kept over the support, from 0 to 1; None not at all.
    """

    def __init__(
        self, body: Body, targets: Targets, contacts: tuple[Contact, ...], rate: float, balance: Array | None = None
    ) -> None:
        self.body, self.targets = body, targets
        self.locks = ContactLocks(targets, body, contacts)
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
        self.point = np.zeros((len(targets.positions), 3, self.padded))
        self.heights = np.full((body.body_count, self.padded), np.inf)
        self.com = np.zeros((3, self.padded))
        self.com_target, self.com_weight = np.zeros((2, self.padded)), np.zeros(self.padded)
        self.no_weight = np.zeros(self.padded)
        self.balance = np.zeros(self.frames) if balance is None else balance
        self.clearances = LinkClearances(body, self.padded)
        self.gradient = np.zeros((self.padded // PACK, ROWS, len(self.dofs), PACK))
        self.bound = np.full((ROWS, self.padded), UNUSED)
        self.above = np.ones(len(targets.points.bodies), dtype=bool)
        self.above[2 * CORNERS : 2 * CORNERS + len(targets.names)] = False
        self.proximity = 0.0
        self.stiffness = self._stiffness()

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Contacts that are kept."""
        return self.locks.contacts

    def solve(self) -> Array:
        """Solve the clip; return q (frames, nq)."""
        self.locks.apply(self.targets.reference, ROUNDS[0].lock)
        for k, stage in enumerate(ROUNDS):
            if k and stage.smoothing != ROUNDS[k - 1].smoothing:
                self.u[:] = 0.0  # multipliers of another objective
            if stage.exact:
                q = self.feasible().T
                self.clearances.keep_apart(q, self.clearances.touching(q, np.arange(self.frames)))
            if stage.collisions:
                self.avoid_collisions()
            if k:
                self.place_contacts(stage.lock, move=stage.lock < LOCKED)
            if stage.balance:
                self.keep_balance()
            self.run(stage.iterations, proximity=stage.proximity, smoothing=stage.smoothing, verify=k == 0)
        return self.lifted(self.repaired(self.finish()))

    def repaired(self, q: Array) -> Array:
        """Solve frames with violations again until there are none; return the best q (frames, nq)."""
        best: _Candidate | None = None
        touching, before = Touching(), np.full_like(q, np.nan)
        for attempt in range(MAX_REPAIRS + 1):
            moved = np.any(q != before, axis=1)
            touching = [entry for entry in touching if not moved[entry[0]]]
            touching += self.clearances.touching(q, np.flatnonzero(moved))
            before = q
            wrong, low = self.violations(touching), np.asarray(self.lowest < -MAX_SLIP)
            count = int(wrong.sum())
            if best is None or count < best.violations:
                soles = slice(0, 2 * CORNERS)
                places = self.targets.positions[soles].copy(), self.targets.weights[soles].copy()
                best = _Candidate(count, q, self.locks, *places)
            if count == 0 and (attempt >= GROUND_REPAIRS or not low.any()):
                return q
            if attempt >= YIELDING and best.violations < count:
                q, touching = best.q, self.take(best)
                wrong = self.violations(touching)
            if attempt < MAX_REPAIRS:
                self.moving[: self.frames] = maximum_filter1d(wrong | low, 2 * REPAIRED + 1, mode="constant")
                self.moving[self.frames :] = self.moving[self.frames - 1]
                q = self.repair(q, touching, attempt)
        self.trim_contacts()  # what slips is no contact
        return q

    def take(self, candidate: _Candidate) -> Touching:
        """Return to an earlier result; list what touches there."""
        self.locks = candidate.locks
        self.targets.positions[: 2 * CORNERS] = candidate.soles
        self.targets.weights[: 2 * CORNERS] = candidate.weights
        for rows in (self.q, self.z):
            rows[:, : self.frames] = candidate.q.T
            rows[:, self.frames :] = candidate.q[-1:].T
        self.u[:] = 0.0
        self.run(0, proximity=self.proximity, smoothing=0.0, base_only=True)  # positions of the points
        return self.clearances.touching(candidate.q, np.arange(self.frames))

    def repair(self, q: Array, touching: Touching, attempt: int) -> Array:
        """Solve the frames that move again: with less weight of their targets, or interpolated over time."""
        self.trim_contacts()
        if attempt >= YIELDING:
            self.bridge(touching, *BRIDGES[attempt - YIELDING])
        else:
            self.priority[self.moving] *= YIELD if attempt else 1.0
            self.clearances.keep_apart(q, touching, PUSHES[attempt])
            self.avoid_collisions()
            self.place_contacts(LOCKED, move=False)
            self.run(REPAIR.iterations, proximity=REPAIR.proximity, smoothing=REPAIR.smoothing)
        return self.finish()

    def lifted(self, q: Array) -> Array:
        """Lift the base where points are still below the ground, smoothly over time."""
        low = np.maximum(0.0, -self.lowest - 0.5 * MAX_SLIP)
        if not low.any():
            return q
        lift = maximum_filter1d(low, 2 * LIFTED + 1, mode="nearest")
        lift = uniform_filter1d(lift, 2 * LIFTED + 1, mode="nearest")
        q = q.copy()
        q[:, 2] += lift
        self.point[:, 2, : self.frames] += lift
        self.heights[:, : self.frames] += lift
        return q

    def violations(self, touching: Touching) -> NDArray[np.bool_]:
        """Return in which frames (frames,) contacts or distances of links do not hold, after `finish`."""
        wrong = np.zeros(self.frames, dtype=bool)
        wrong[[frame for frame, _ in touching]] = True
        for contact, slip in zip(self.contacts, contact_slips(self.paths, self.contacts), strict=True):
            if slip > MAX_SLIP:
                wrong[contact.start : contact.stop] = True
        return wrong

    def bridge(self, found: Touching, width: int, spread: bool) -> None:
        """Interpolate the joints of limbs that touch something over the frames in which they do, and some around.

        With `spread`, arms are brought into a posture away from the body there. Joint limits and velocity limits are
        kept. Legs in contact stay as they are.
        """
        frames: dict[tuple[str, str], NDArray[np.bool_]] = {}
        limbs = {("arms", side): limb for side, limb in self.body.arms.items()}
        limbs |= {("legs", side): limb for side, limb in self.body.legs.items()}
        places = self.body.places
        bodies = {key: {places[link].body for link in limb.links} for key, limb in limbs.items()}
        touching = [(t, {places[name].body for name in self.clearances.names[pair]}) for t, pair in found]
        arms = bodies.get(("arms", "left"), set()) | bodies.get(("arms", "right"), set())
        low = np.argwhere(self.heights[:, : self.frames] < -MAX_SLIP)
        touching += [(int(t), {int(body)}) for body, t in low if int(body) in arms]
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
            if spread and key[0] == "arms":
                self._spread(np.array(coordinates), flags, width)
            else:
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

    def _spread(self, coordinates: NDArray[np.intp], flags: NDArray[np.bool_], width: int) -> None:
        """Blend feasible positions into a posture away from the body, over `width` frames or as many as speeds need."""
        core = minimum_filter1d(flags.astype(float), 2 * max(width - SPREAD, 0) + 1, mode="nearest") > 0.0
        away = distance_transform_edt(~core) if core.any() else np.full(self.frames, np.inf)
        change = self.body.spread[coordinates, None] - self.z[coordinates, : self.frames]
        for span in width * np.array([1, 2, 4, 8]):
            share = np.clip(1.0 - away / span, 0.0, 1.0)
            share = share * share * (3.0 - 2.0 * share)
            z = self.z[coordinates, : self.frames] + share * change
            if (np.abs(np.diff(z, axis=1)) <= self.bounds[2, coordinates, None]).all():
                break
        else:
            return
        self.z[coordinates, : self.frames] = z
        self.z[coordinates, self.frames :] = z[:, -1:]
        self.q[coordinates], self.u[coordinates] = self.z[coordinates], 0.0

    @property
    def paths(self) -> Array:
        """Positions (tracked, frames, 3) of the tracked points [m], as of the last run."""
        return np.asarray(self.point[:, :, : self.frames].transpose(0, 2, 1))

    @property
    def lowest(self) -> Array:
        """Heights (frames,) of the lowest points of the robot, or bounds above zero [m], as of the last `finish`."""
        return np.asarray(self.heights[:, : self.frames].min(axis=0))

    def trim_contacts(self) -> None:
        """Reduce contacts that slip to the frames in which their corners stay at one place."""
        slips = contact_slips(self.paths, self.contacts)
        if (slips <= MAX_SLIP).all():
            return
        corners = slice(0, 2 * CORNERS)
        misses = np.linalg.norm(self.paths[corners] - self.targets.positions[corners], axis=2)
        kept: list[Contact] = []
        for contact, slip in zip(self.contacts, slips, strict=True):
            kept += self._good_parts(contact, misses) if slip > MAX_SLIP else [contact]
        self.locks = ContactLocks(self.targets, self.body, tuple(kept))

    @staticmethod
    def _good_parts(contact: Contact, misses: Array) -> list[Contact]:
        """Divide a contact into the parts in which its corners miss (8, frames) their place by little."""
        first = CORNERS * SIDES.index(contact.side)
        miss = misses[first : first + CORNERS, contact.start : contact.stop].copy()
        flat = slice(contact.flat[0] - contact.start, contact.flat[1] - contact.start)
        miss[:2, : flat.start] = miss[:2, flat.stop :] = 0.0
        parts = []
        for begin, end in intervals(miss.max(axis=0) < 0.5 * MAX_SLIP):
            start, stop = begin + contact.start, end + contact.start
            level = max(start, contact.flat[0]), min(stop, contact.flat[1])
            if stop - start >= MIN_PART:
                level = level if level[1] > level[0] else (start, start)
                parts.append(replace(contact, start=start, stop=stop, flat=level))
        return parts

    def finish(self) -> Array:
        """Take the feasible joint positions, and place the base so that locked feet stay; return q (frames, nq)."""
        kept = self.q.copy(), self.damping.copy()
        self.q[7:] = self.z[7:]
        self.damping[:] = 1e-4
        self.run(4, proximity=self.proximity, smoothing=0.0, base_only=True)
        result = np.ascontiguousarray(self.q[:, : self.frames].T)
        self.q[7:], self.damping = kept[0][7:], kept[1]
        return result

    def run(
        self, iterations: int, *, proximity: float, smoothing: float, base_only: bool = False, verify: bool = True
    ) -> None:
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
        settings["verify"] = verify
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
            self._weights(base_only),
            self.com_target,
            self.no_weight if base_only else self.com_weight,
            gradient,
            bound,
            self.bounds,
            np.ascontiguousarray(weights[:, : len(dofs)]),
            self.point,
            self.heights,
            self.com,
        )

    def place_contacts(self, weight: float, *, move: bool) -> None:
        """Lock feet in contacts, with this weight: where they were, or where they are now."""
        before = self.targets.positions[: 2 * CORNERS]
        locked = (self.targets.weights[: 2 * CORNERS] != SWING)[..., None]
        places = np.where(locked, self.paths[: 2 * CORNERS] if move else before, self.targets.reference)
        self.locks.apply(places, weight)

    def keep_balance(self) -> None:
        """Pull the CoM to the nearest place over the locked soles, in frames in which it belongs there."""
        at = np.flatnonzero(self.balance)
        self.com_weight[:] = 0.0
        corners = self.targets.positions[: 2 * CORNERS, at, :2].transpose(1, 0, 2)
        reach = support.bounds(corners, (self.targets.weights[: 2 * CORNERS, at] > SWING).T, support.MARGIN)
        com = self.com[:2, at].T
        outside = ~support.is_within(com, reach)
        at = at[outside]
        self.com_target[:, at] = support.nearest_within(com[outside], reach[outside]).T
        self.com_weight[at] = BALANCE * self.balance[at]

    def avoid_collisions(self) -> None:
        """Linearise the distances of the nearest pairs of links at the feasible positions, in frames that move."""
        self.clearances.rows(self.feasible(), np.flatnonzero(self.moving), self.gradient, self.bound)

    def feasible(self) -> Array:
        """Return configurations (nq, padded) with the base as it is and the joints within limits."""
        return np.concatenate([self.q[:7], self.z[7:]])

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

    def _weights(self, base_only: bool) -> Array:
        """Return weights (tracked, padded) of points. Locked soles alone place the base where there are any."""
        weights = self._padded(self.targets.weights)
        locked = weights > SWING
        share = np.where(locked.any(axis=0), FREE_SHARE, 1.0) if base_only else 1.0
        return np.where(locked, weights, weights * self.priority * share)

    def _padded(self, rows: Array) -> Array:
        """Repeat the last frame of (..., frames) until packs are full."""
        return np.concatenate([rows, np.repeat(rows[..., -1:], self.padded - self.frames, axis=-1)], axis=-1)

    def _over_time(self, positions: Array) -> Array:
        """Bring positions (points, frames, 3) into the layout of the core."""
        return np.ascontiguousarray(self._padded(positions.transpose(0, 2, 1)))
