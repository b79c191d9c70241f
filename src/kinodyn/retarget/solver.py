"""Configurations of all frames of a clip: rounds of the compiled solver, between which contacts and rows change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.layouts import constant, layout
from kinodyn.retarget import support
from kinodyn.retarget.base_motion import between, lifts
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import Contact
from kinodyn.retarget.link_clearances import ROWS, LinkClearances
from kinodyn.retarget.locks import ContactLocks
from kinodyn.retarget.targets import CORNERS, LOCKED, SWING, Targets
from kinodyn.spatial import as_quaternion
from kinodyn.spatial.poses import inverse_pose

PACK = int(constant("retarget_block"))  # frames that are next to each other in gradients of rows
UNUSED = constant("retarget_unused")  # bound of a row that is not used
SPEED = 12.0  # [rad/s or m/s] of joints whose description has no velocity limit
ARM_STIFFNESS = 0.4  # weight of feasible positions of arms and trunk relative to that of legs
BALANCE = 4.0  # weight of the CoM [1/m]
POSTURE = 1e-3  # weight of the upright posture
RESERVE = 1e-4  # of velocity limits, which rounding must not exceed
BASE_SMOOTHING = 10.0  # of the base, against second differences over time
BASE_PROXIMITY = 10.0  # [1/m^2, 1/rad^2] weight of the smoothed base, which joints follow rather than jump
GLIDE = 10.0  # weight of second differences of the base in frames in which no sole is locked
MAX_LIFT = 0.01  # [m] out of the ground in these frames
MAX_SLIP = 0.0015  # [m] that is accepted
MAX_CORRECTION = 0.02  # [m] of the targets of locked corners
FREE_SHARE = 0.1  # of the weights of other points, where the base is placed over locked soles


class Stage(NamedTuple):
    """Iterations with one weight of locked feet, of feasible positions, and of smoothness."""

    iterations: int
    lock: float
    proximity: float
    smoothing: float
    collisions: bool = True  # whether distances of links are measured before
    balance: bool = False  # whether the CoM is compared with the support before
    move: bool = False  # whether contacts move to where the robot's feet are


# First all frames take the same branch, by strong smoothing; then locks become stiffer: first where the human's feet
# stand, later where the robot's feet are then, so that contacts find places that the robot reaches.
ROUNDS = (
    Stage(4, 3.0, 1.0, 100.0, collisions=False),
    Stage(3, 3.0, 0.3, 10.0, collisions=False),
    Stage(2, 3.0, 0.3, 0.1),
    Stage(2, 6.0, 0.3, 0.1, collisions=False, balance=True, move=True),
    Stage(2, 12.0, 0.3, 0.1, balance=True, move=True),
    Stage(3, 24.0, 0.3, 0.1, collisions=False, balance=True, move=True),
    Stage(3, LOCKED, 0.5, 0.1, balance=True),
    Stage(3, LOCKED, 0.5, 0.1, collisions=False),
    Stage(6, LOCKED, 1.0, 0.1),
)


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
        self.locks = ContactLocks(targets, body, contacts, rate)
        self.robot = body.robot
        self.frames = targets.positions.shape[1]
        self.padded = -(-self.frames // PACK) * PACK
        self.dofs = np.ascontiguousarray(body.v, dtype=np.int32)
        self.q = np.repeat(body.q[:, None], self.padded, axis=1)
        self.q[:7] = self._padded(self._base())
        self.z, self.u = self.q.copy(), np.zeros_like(self.q)
        self.damping = np.full(self.padded, 1e-2)
        self.moving = np.ones(self.padded, dtype=bool)
        self.placed = np.full_like(self.z[7:], np.nan)  # feasible positions for which the base was placed last
        # of targets other than locked soles, relative to their weights
        self.priority = np.ones((len(targets.positions), self.padded))
        self.bounds = self._bounds(rate)
        self.point = np.zeros((len(targets.positions), 3, self.padded))
        self.heights = np.full((body.body_count, self.padded), np.inf)
        self.correction = np.zeros((2 * CORNERS, 3, self.frames))  # of targets of locked corners [m]
        self.target, self.filled = np.empty_like(self.point), False
        self.com = np.zeros((3, self.padded))
        self.com_target, self.com_weight = np.zeros((2, self.padded)), np.zeros(self.padded)
        self.no_weight = np.zeros(self.padded)
        self.balance = np.zeros(self.frames) if balance is None else balance
        self.clearances = LinkClearances(body, self.padded)
        self.gradient = np.zeros((self.padded // PACK, ROWS, len(self.dofs), PACK), dtype=np.float32)
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
        """Solve the clip; return q (frames, nq), in which links may still touch and contacts slip; see `repairs`."""
        self.locks.apply(self.targets.reference.transpose(0, 2, 1), ROUNDS[0].lock)
        for k, stage in enumerate(ROUNDS):
            if k and stage.smoothing != ROUNDS[k - 1].smoothing:
                self.u[:] = 0.0  # multipliers of another objective
            if stage.collisions:
                self.avoid_collisions()
            if k:
                self.place_contacts(stage.lock, move=stage.move)
            if ROUNDS[k - 1].lock == stage.lock == LOCKED:
                self.correct_locks()
            if stage.balance:
                self.keep_balance()
            self.run(stage.iterations, proximity=stage.proximity, smoothing=stage.smoothing, verify=k == 0)
        return self.finish()

    @property
    def paths(self) -> Array:
        """Positions (tracked, frames, 3) of the tracked points [m], as of the last run."""
        return np.asarray(self.point[:, :, : self.frames].transpose(0, 2, 1))

    @property
    def lowest(self) -> Array:
        """Heights (frames,) of the lowest points of the robot, or bounds above zero [m], as of the last `finish`."""
        return np.asarray(self.heights[:, : self.frames].min(axis=0))

    def finish(self) -> Array:
        """Take the feasible joint positions, and place the base so that locked feet stay; return q (frames, nq).

        Frames that do not move but have other feasible positions, because of limits on the steps to those that do, are
        placed as well.
        """
        kept = self.q.copy(), self.damping.copy(), self.moving
        self.q[7:] = self.z[7:]
        self.damping[:] = 1e-4
        self.moving = self.moving | np.any(self.z[7:] != self.placed, axis=0)
        self.placed = self.z[7:].copy()
        self.run(4, proximity=self.proximity, smoothing=0.0, base_only=True)
        self._glide(kept[0][:7])
        result = np.ascontiguousarray(self.q[:, : self.frames].T)
        self.q[7:], self.damping, self.moving = kept[0][7:], kept[1], kept[2]
        return result

    def _glide(self, base: Array) -> None:
        """Let the base (7, padded) of the solution move on between frames in which locked soles, or others, place it.

        Nothing else places it there from frame to frame: it would follow what the joints lack, and jump.
        """
        n = self.frames
        given = self.locked() | ~self._solved()[:n]
        if given.all():
            return
        self.q[:7, :n] = between(base[:, :n], self.q[:7, :n], given, GLIDE)
        self.q[:7, n:] = self.q[:7, n - 1, None]
        self.run(0, proximity=self.proximity, smoothing=0.0, base_only=True)
        low = np.where(given, 0.0, np.clip(-self.lowest, 0.0, MAX_LIFT))
        if low.any():
            lift = lifts(low, given)
            self.q[2, :n] += lift
            self.raise_points(lift)

    def raise_points(self, lift: Array) -> None:
        """Raise what was measured by what the base is raised (frames,) [m]."""
        self.point[:, 2, : self.frames] += lift
        self.heights[:, : self.frames] += lift

    def locked(self) -> NDArray[np.bool_]:
        """Return in which frames (frames,) a sole, or its front edge, is locked."""
        return np.asarray((self.targets.weights[: 2 * CORNERS] > SWING).any(axis=0))

    def _solved(self) -> NDArray[np.bool_]:
        """Return which frames (padded,) are solved: blocks of which any frame moves."""
        return np.repeat(self.moving.reshape(-1, PACK).any(axis=1), PACK)

    def run(
        self, iterations: int, *, proximity: float, smoothing: float, base_only: bool = False, verify: bool = True
    ) -> None:
        """Run iterations of the compiled solver."""
        if self.proximity > 0.0 and proximity != self.proximity:
            self.u *= self.proximity / proximity
        self.proximity = proximity
        settings = np.zeros(1, dtype=layout("retarget_settings"))
        settings["row_weight"], settings["ground_weight"] = 30.0, 20.0
        settings["smoothing"], settings["base_smoothing"] = smoothing, BASE_SMOOTHING
        settings["base_proximity"] = 0.0 if base_only else BASE_PROXIMITY
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
            gradient = np.zeros((self.padded // PACK, 0, len(dofs), PACK), dtype=np.float32)
            bound = self.bound[:0]
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
            self._target(base_only),
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
        """Lock feet in contacts, with this weight: where they were, or where they are now.

        Feet on one edge, which may be inclined otherwise than the human's, are placed by the middle of their soles.
        """
        if move:
            corners = self.point[: 2 * CORNERS, :, : self.frames]
            missed = self.targets.reference.transpose(0, 2, 1) - corners
            middle = missed.reshape(2, CORNERS, 3, -1).mean(axis=1) * [[1.0], [1.0], [0.0]]
            locked = (self.targets.weights[: 2 * CORNERS] > SWING).reshape(2, CORNERS, -1)
            inclined = np.asarray(locked.any(axis=1) & ~locked.all(axis=1))
            self.locks.apply(corners + np.repeat(middle * inclined[:, None], CORNERS, axis=0), weight)
        else:
            self.locks.set_weight(weight)

    def correct_locks(self) -> None:
        """Move the targets of locked corners by what these miss, so that they do not depend on other targets.

        This is the method of multipliers (D. P. Bertsekas, 1982, chapter 2): the corrections are the multipliers of the
        locks, divided by their weights. Contacts that joint limits do not allow would let them grow without bound.
        """
        locked = self.targets.weights[: 2 * CORNERS, None] > SWING
        missed = self.targets.positions[: 2 * CORNERS].transpose(0, 2, 1) - self.point[: 2 * CORNERS, :, : self.frames]
        corrected = np.clip(self.correction + missed, -MAX_CORRECTION, MAX_CORRECTION)
        self.correction = np.where(locked, corrected, 0.0)

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
        if not base_only and self.priority.min() == 1.0:
            return weights
        locked = weights > SWING
        share = np.where(locked.any(axis=0), FREE_SHARE, 1.0) if base_only else 1.0
        return np.where(locked, weights, weights * self.priority * share)

    def _padded(self, rows: Array) -> Array:
        """Repeat the last frame of (..., frames) until packs are full."""
        return np.concatenate([rows, np.repeat(rows[..., -1:], self.padded - self.frames, axis=-1)], axis=-1)

    def _target(self, base_only: bool) -> Array:
        """Return targets (tracked, 3, padded) in the layout of the core; only those of the soles change."""
        changed = slice(2 * CORNERS if self.filled else None)
        self.target[changed, :, : self.frames] = self.targets.positions[changed].transpose(0, 2, 1)
        if not base_only:
            self.target[: 2 * CORNERS, :, : self.frames] += self.correction
        self.target[changed, :, self.frames :] = self.target[changed, :, self.frames - 1, None]
        self.filled = True
        return self.target
