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

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.dynamics.contact.ground import Ground, Plane
from kinodyn.dynamics.contact.points import lightest, sole_points
from kinodyn.errors import InputError
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot

STIFFNESS, DAMPING = 3e4, 200.0  # of each point, for a humanoid of 70 kg on eight points at steps of 1 ms
# Shares of m / dt^2 and m / dt, with m the least mass that a push on the points can feel. A step of the semi-implicit
# Euler method is stable while stiffness share + 2 damping share < 4; this leaves room for lighter postures.
_SHARE_OF_STIFFNESS, _SHARE_OF_DAMPING = 0.1, 0.65


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
        self._carriers = [frame for frame, where in places.items() for _ in where]
        self._points = np.repeat(np.arange(len(counts), dtype=np.int32), counts).view(layout("soft_point"))
        self._local = np.vstack(list(places.values())).ravel()

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

        The undersides are `sole_points`. Stiffness and damping follow, for each frame, from the least mass that a push
        on its points feels, the inverse of the greatest eigenvalue of J M^-1 J^T, at q (..., nq): by default the
        neutral configuration, of a batch the lightest. A light hand so gets softer ground than a foot.
        """
        if isinstance(frames, str) or not frames:
            raise InputError(f"frames must be a list of names, at least one, got {frames!r}")
        if not isinstance(dt, int | float) or not 0 < dt < np.inf:
            raise InputError(f"dt must be a time above 0, got {dt!r}")
        points = {frame: sole_points(robot, frame) for frame in frames}
        at = robot.neutral() if q is None else q
        mass = np.concatenate([np.full(len(p), lightest(robot, frame, p, at)) for frame, p in points.items()])
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
        _, moved, total = self._run(robot, q, v, anchors)
        return {frame: total[..., k, :] for k, frame in enumerate(self.frames)}, moved

    def forces(self, robot: Robot, q: ArrayLike, v: ArrayLike, anchors: ArrayLike | None = None) -> Array:
        """Compute the force (..., points, 3) of the ground on each point [N], in world axes."""
        return self._run(robot, q, v, anchors)[0]

    def positions(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute where the points are in the world: (..., points, 3) [m], in the order of `points`."""
        p = _core.point_motion(robot, q, np.zeros(robot.nv), self._local, self._carriers).position
        return p.reshape(*p.shape[:-1], self.size, 3)

    def _run(self, robot: Robot, q: ArrayLike, v: ArrayLike, anchors: ArrayLike | None) -> tuple[Array, Array, Array]:
        """Forces, anchors and wrenches (..., frames, 6); the core places the points and applies the law."""
        motion = _core.point_motion(robot, q, v, self._local, self._carriers)
        flat = motion.position.shape
        places = motion.position.reshape(*flat[:-1], self.size, 3)
        plane = type(self.ground) is Plane  # and no child of it, that may say otherwise where the ground is
        if isinstance(self.ground, Plane) and plane:
            height, normal = self.ground.heights(places), self.ground.normal  # one for all
        else:
            height, normal = self.ground.height_and_normal(places)
            normal = normal.reshape(flat)
        held = motion.position if anchors is None else self._anchors(anchors)
        return _core.soft_forces(
            robot,
            *motion,
            height,
            normal,
            held,
            self.stiffness,
            self.damping,
            self.friction,
            self._points,
            len(self.frames),
            plane,
        )

    def _anchors(self, anchors: ArrayLike) -> Array:
        array = np.asarray(anchors, dtype=float)
        if array.shape[-2:] != (self.size, 3):
            raise InputError(f"anchors has shape {array.shape}; give (..., {self.size}, 3) as the last call did")
        return array.reshape(*array.shape[:-2], 3 * self.size)

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
