"""Soft contacts: points of a robot that press into the ground like springs and stick to it by bristles.

Normal force: a spring and a damper that never pull, f = max(0, k d + c d'). The force ends when damper and spring
balance, before the point is out of the ground, so that nothing sticks (T. Schwager and T. Poeschel, "Coefficient of
restitution and linear-dashpot model revisited", 2007). Its damping does not grow with the load, as it does where it is
multiplied by the depth (Hunt and Crossley 1975), so that one bound on the time step holds for a stance and a landing.

Friction: each point has an anchor in the ground to which a bristle of the same spring and damper ties it. The stretch
of the bristle is mapped back onto the disc of Coulomb's law when it would leave it, and the anchor follows. Below the
limit this is a spring: nothing creeps, and there is no sign of a velocity to chatter (P. Dupont, V. Hayward,
B. Armstrong and F. Altpeter, "Single state elastoplastic friction models", 2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.contact.ground import Ground, Plane
from kinodyn.contact.points import lightest, sole_points
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.robot import Robot
from kinodyn.spatial.checks import numbers

STIFFNESS, DAMPING = 3e4, 200.0  # of each point, for a humanoid of 70 kg on eight points at steps of 1 ms
_TINY = 1e-300
# Shares of m / dt^2 and m / dt, with m the least mass that a push on the points can feel. A step of the semi-implicit
# Euler method is stable while stiffness share + 2 damping share < 4; this leaves room for lighter postures.
_SHARE_OF_STIFFNESS, _SHARE_OF_DAMPING = 0.1, 0.65
_TURN = np.zeros((3, 9))  # w @ _TURN is the matrix of w x, row by row
_TURN[0, [5, 7]] = _TURN[1, [6, 2]] = _TURN[2, [1, 3]] = -1.0, 1.0


class SoftContacts:
    """Points of the robot that may touch the ground, and how springy, damped and rough it is.

    Parameters
    ----------
    points
        For each frame the places (n, 3) in it that may touch [m].
    ground
        `Plane()`, a `HeightField`, or anything with their `height_and_normal`.
    stiffness
        Of the ground at each point [N/m], above 0; along the ground as much as across it.
    damping
        Of the ground at each point [N s/m], 0 or more.
    friction
        Coefficient of friction, 0 or more. All three are numbers, or arrays (..., points).

    The defaults suit a humanoid of 70 kg at steps of 1 ms; `of` derives them for a robot and a time step.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> feet = kd.contact.SoftContacts.of(robot, ["left_sole", "right_sole"])
    >>> q, v = robot.configuration("standing"), np.zeros(robot.nv)
    >>> q[2] -= 0.002
    >>> wrenches, anchors = feet.wrenches(robot, q, v)
    >>> a = kd.dynamics.forward(robot, q, v, kd.dynamics.gravity(robot, q), wrenches=wrenches)
    """

    def __init__(
        self,
        points: Mapping[str, ArrayLike],
        ground: Ground | None = None,
        *,
        stiffness: ArrayLike = STIFFNESS,
        damping: ArrayLike = DAMPING,
        friction: ArrayLike = 0.7,
    ) -> None:
        if not isinstance(points, Mapping) or not points:
            raise InputError(f"points must map frames to places (n, 3), at least one, got {points!r}")
        places = {frame: numbers(f"points of {frame!r}", where, 3) for frame, where in points.items()}
        for frame, where in places.items():
            if where.ndim != 2 or len(where) == 0:
                raise InputError(f"points of {frame!r} have shape {where.shape}; give (n, 3), at least one")
        self.frames = list(places)
        self.points = places
        self.ground: Ground = Plane() if ground is None else ground
        if not callable(getattr(self.ground, "height_and_normal", None)):
            raise InputError(f"ground must have a method height_and_normal, got {ground!r}")
        counts = [len(where) for where in places.values()]
        self.size = sum(counts)
        self.stiffness = self._constant("stiffness", stiffness)
        self.damping = self._constant("damping", damping)
        self.friction = self._constant("friction", friction)
        if not (self.stiffness > 0).all():
            raise InputError(f"stiffness must be above 0, got {stiffness!r}")
        self._owner = np.repeat(np.arange(len(counts)), counts)
        self._local = np.concatenate([np.vstack(list(places.values())), np.ones((self.size, 1))], axis=1)[..., None]
        self._sum = (np.arange(len(counts))[:, None] == self._owner).astype(float)

    @classmethod
    def of(
        cls,
        robot: Robot,
        frames: Sequence[str],
        ground: Ground | None = None,
        *,
        friction: ArrayLike = 0.7,
        dt: float = 1e-3,
        q: ArrayLike | None = None,
    ) -> SoftContacts:
        """Make contacts of the undersides of frames' collision shapes, as stiff as steps of dt [s] allow.

        The undersides are `sole_points`. Stiffness and damping follow from the least mass that a push on the points
        feels, the inverse of the greatest eigenvalue of J M^-1 J^T, at q (..., nq): by default the neutral
        configuration, of a batch the lightest.
        """
        if isinstance(frames, str) or not frames:
            raise InputError(f"frames must be a list of names, at least one, got {frames!r}")
        if not isinstance(dt, int | float) or not 0 < dt < np.inf:
            raise InputError(f"dt must be a time above 0, got {dt!r}")
        points = {frame: sole_points(robot, frame) for frame in frames}
        mass = lightest(robot, points, robot.neutral() if q is None else q)
        stiffness, damping = _SHARE_OF_STIFFNESS * mass / dt**2, _SHARE_OF_DAMPING * mass / dt
        return cls(points, ground, stiffness=stiffness, damping=damping, friction=friction)

    def wrenches(
        self, robot: Robot, q: ArrayLike, v: ArrayLike, anchors: ArrayLike | None = None
    ) -> tuple[dict[str, Array], Array]:
        """Compute the wrenches on the frames, ready for `dynamics.forward`, and the anchors for the next call.

        Parameters
        ----------
        q, v
            (..., nq), (..., nv)
        anchors
            (..., points, 3) as the last call gave them [m]; None: nothing is stretched yet.

        Returns
        -------
        wrenches : dict of frame -> (..., 6)
            In the aligned reference.
        anchors : (..., points, 3)
        """
        T, p, rate = self._motion(robot, q, v)
        force, anchors = self._law(p, rate, anchors)
        arm = p - T[..., self._owner, :3, 3]
        both = np.empty((*force.shape[:-1], 6))
        both[..., :3] = force
        _cross(arm, force, both[..., 3:])
        total = self._sum @ both
        return {frame: total[..., k, :] for k, frame in enumerate(self.frames)}, anchors

    def forces(
        self, robot: Robot, q: ArrayLike, v: ArrayLike, anchors: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Compute the force (..., points, 3) of the ground on each point [N], world axes, and the next anchors."""
        _, p, rate = self._motion(robot, q, v)
        return self._law(p, rate, anchors)

    def positions(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute where the points are in the world: (..., points, 3) [m], in the order of `points`."""
        T = kinematics.poses(robot, q, frames=self.frames)
        result: Array = (T[..., self._owner, :3, :] @ self._local)[..., 0]
        return result

    def _motion(self, robot: Robot, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array]:
        """Poses of the frames, places and velocities (..., points, 3) of the points."""
        T = kinematics.poses(robot, q, frames=self.frames)
        twists = [kinematics.velocity(robot, q, v, frame) for frame in self.frames]
        batch = twists[0].shape[:-1]
        # rows 0-2 take a place in the frame to the world, rows 3-5 to its velocity
        maps = np.empty((*batch, len(twists), 6, 4))
        maps[..., :3, :] = T[..., :3, :]
        for k, twist in enumerate(twists):
            maps[..., k, 3:, 3] = twist[..., :3]
            turn = (twist[..., 3:] @ _TURN).reshape(*batch, 3, 3)
            maps[..., k, 3:, :3] = turn @ T[..., k, :3, :3]
        motion = (maps[..., self._owner, :, :] @ self._local)[..., 0]
        return T, motion[..., :3], motion[..., 3:]

    def _law(self, p: Array, rate: Array, anchors: ArrayLike | None) -> tuple[Array, Array]:
        """Forces at places that move at a rate, and where the anchors are then; all (..., points, 3)."""
        k, c = self.stiffness, self.damping
        height, n = self.ground.height_and_normal(p)
        rising = np.einsum("...i,...i", rate, n)
        pressure = np.maximum(-k * height - c * rising, 0.0) * (height < 0.0)
        force = pressure[..., None] * n
        limit = self.friction * pressure
        stretch = np.zeros_like(p) if anchors is None else p - self._anchors(anchors)
        stretch -= np.einsum("...i,...i", stretch, n)[..., None] * n
        stretch *= np.minimum(1.0, limit / (k * _norm(stretch) + _TINY))[..., None]
        pull = k[..., None] * stretch + c[..., None] * (rate - rising[..., None] * n)
        force -= pull * np.minimum(1.0, limit / (_norm(pull) + _TINY))[..., None]
        return force, p - stretch

    def _anchors(self, anchors: ArrayLike) -> Array:
        array = np.asarray(anchors, dtype=float)
        if array.shape[-2:] != (self.size, 3):
            raise InputError(f"anchors has shape {array.shape}; give (..., {self.size}, 3) as the last call did")
        if not np.isfinite(array.sum()):
            raise InputError("anchors has a value that is NaN or infinite; give what the last call gave, or None")
        return array

    def _constant(self, what: str, value: ArrayLike) -> Array:
        array = numbers(what, value)
        try:
            array = np.broadcast_to(array, (*array.shape[:-1], self.size))
        except ValueError as cause:
            raise InputError(f"{what} has shape {array.shape}; give a number or (..., {self.size})") from cause
        if (array < 0).any():
            raise InputError(f"{what} must not be negative, got {value!r}")
        return np.ascontiguousarray(array)

    def __repr__(self) -> str:
        return f"SoftContacts({self.size} points on {', '.join(self.frames)}, {self.ground!r})"


def _norm(x: Array) -> Array:
    result: Array = np.sqrt(np.einsum("...i,...i", x, x))
    return result


def _cross(a: Array, b: Array, out: Array) -> None:
    """Write a x b; numpy.cross takes five times as long on a few points."""
    ax, ay, az, bx, by, bz = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    out[..., 0] = ay * bz - az * by
    out[..., 1] = az * bx - ax * bz
    out[..., 2] = ax * by - ay * bx
