"""Compliant contact: points of a robot on springs and dampers, with bristle friction.

Normal force: a spring and a damper that never pull, f = max(0, k d + c d'). The force vanishes where damper and spring
cancel, before the point leaves the ground (T. Schwager and T. Poeschel, "Coefficient of restitution and linear-dashpot
model revisited", 2007). The damping does not grow with the load, as in the model of Hunt and Crossley (1975), so that
one bound on the time step holds for stance and touchdown.

Friction: a bristle with the same spring and damper connects each point to an anchor in the ground. Its stretch is
projected onto the disc of Coulomb's law, and the anchor follows. Below the limit this is a spring: there is no creep,
and no sign of a velocity that could chatter (P. Dupont, V. Hayward, B. Armstrong and F. Altpeter, "Single state
elastoplastic friction models", 2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers, positive, reals
from kinodyn.display import displayed
from kinodyn.dynamics.contact.ground import Ground, Plane
from kinodyn.dynamics.contact.points import least_effective_mass, sole_points
from kinodyn.errors import InputError
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot

STIFFNESS, DAMPING = 3e4, 200.0  # of each point, for a humanoid of 70 kg on eight points at steps of 1 ms
# Stiffness dt^2 / m and damping dt / m, with m the least effective mass at the points. Semi-implicit Euler is stable
# while the first + 2 times the second < 4; this leaves room for configurations with a smaller effective mass.
_RELATIVE_STIFFNESS, _RELATIVE_DAMPING = 0.1, 0.65


@displayed
class SoftContacts:
    """Compliant contacts between points of the robot and the ground.

    The defaults suit a humanoid of 70 kg at time steps of 1 ms; `from_robot` derives them for a robot and a time step.

    Parameters
    ----------
    points : mapping of frame -> (n, 3)
        Contact points in each frame [m].
    ground : Ground, optional
        A `Plane`, a `HeightField`, or any object with `height_and_normal`; by default the plane z = 0.
    stiffness : float or (..., points)
        Stiffness at each point [N/m], above 0, normal and tangential.
    damping : float or (..., points)
        Damping at each point [N s/m], 0 or more.
    friction : float or (..., points)
        Coefficient of friction, 0 or more.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> feet = kd.contact.SoftContacts.from_robot(robot, ["left_sole", "right_sole"])
    >>> q, v = robot.configuration("standing"), np.zeros(robot.nv)
    >>> q[2] -= 0.002
    >>> wrenches, anchors = feet.wrenches(robot, q, v)
    >>> a = kd.dynamics.forward(robot, q, v, kd.dynamics.gravity(robot, q), wrenches=wrenches)
    """

    @check_types
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
            raise InputError(f"points must map frames to positions (n, 3), at least one, got {points!r}")
        places = {frame: numbers(f"points of {frame!r}", where, 3) for frame, where in points.items()}
        for frame, where in places.items():
            if where.ndim != 2 or len(where) == 0:
                raise InputError(f"points of {frame!r} must have shape (n, 3), at least one, got {where.shape}")
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
            raise InputError(f"stiffness must be positive, got {stiffness!r}")
        self._carriers = [frame for frame, where in places.items() for _ in where]
        self._points = np.repeat(np.arange(len(counts), dtype=np.int32), counts).view(layout("soft_point"))
        self._local = np.vstack(list(places.values())).ravel()

    @classmethod
    @check_types
    def from_robot(
        cls,
        robot: Robot,
        frames: Sequence[str],
        ground: Ground | None = None,
        *,
        friction: ArrayLike = 0.7,
        dt: float = 1e-3,
        q: ArrayLike | None = None,
    ) -> SoftContacts:
        """Create contacts at the `sole_points` of frames, as stiff as a time step allows.

        Stiffness and damping of each frame follow from the least effective mass at its points, the inverse of the
        largest eigenvalue of J M^-1 J^T.

        Parameters
        ----------
        robot : Robot
        frames : sequence of str
        ground : Ground, optional
            By default the plane z = 0.
        friction : float or (..., points)
            Coefficient of friction.
        dt : float
            Time step of the simulation [s].
        q : (..., nq), optional
            Configurations at which the effective mass is computed, for a batch the smallest; by default neutral.

        Returns
        -------
        SoftContacts
        """
        if len(frames) == 0:
            raise InputError(f"frames must be a list of names, at least one, got {frames!r}")
        positive("dt", dt)
        points = {frame: sole_points(robot, frame) for frame in frames}
        at = robot.neutral() if q is None else q
        mass = np.concatenate(
            [np.full(len(p), least_effective_mass(robot, frame, p, at)) for frame, p in points.items()]
        )
        stiffness, damping = _RELATIVE_STIFFNESS * mass / dt**2, _RELATIVE_DAMPING * mass / dt
        return cls(points, ground, stiffness=stiffness, damping=damping, friction=friction)

    def wrenches(
        self, robot: Robot, q: ArrayLike, v: ArrayLike, anchors: ArrayLike | None = None
    ) -> tuple[dict[str, Array], Array]:
        """Compute the wrenches on the frames for `dynamics.forward`, and the anchors for the next call.

        Parameters
        ----------
        robot : Robot
        q, v : (..., nq), (..., nv)
        anchors : (..., points, 3), optional
            Those of the last call [m]; by default no bristle is stretched.

        Returns
        -------
        wrenches : dict of frame -> (..., 6)
            [N, N m] in world axes, about the origin of the frame.
        anchors : (..., points, 3)
        """
        _, moved, total = self._run(robot, q, v, anchors)
        return {frame: total[..., k, :] for k, frame in enumerate(self.frames)}, moved

    def forces(self, robot: Robot, q: ArrayLike, v: ArrayLike, anchors: ArrayLike | None = None) -> Array:
        """Compute the ground reaction force at each point.

        Parameters
        ----------
        robot : Robot
        q, v : (..., nq), (..., nv)
        anchors : (..., points, 3), optional
            As for `wrenches`.

        Returns
        -------
        (..., points, 3)
            [N], in world axes.
        """
        return self._run(robot, q, v, anchors)[0]

    def positions(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the positions of the points in the world.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        (..., points, 3)
            [m], in the order of `points`.
        """
        p = _core.point_motion(robot, q, np.zeros(robot.nv), self._local, self._carriers).position
        return p.reshape(*p.shape[:-1], self.size, 3)

    def _run(self, robot: Robot, q: ArrayLike, v: ArrayLike, anchors: ArrayLike | None) -> tuple[Array, Array, Array]:
        """Return forces, anchors and wrenches (..., frames, 6), computed by the core."""
        motion = _core.point_motion(robot, q, v, self._local, self._carriers)
        flat = motion.position.shape
        positions = motion.position.reshape(*flat[:-1], self.size, 3)
        plane = type(self.ground) is Plane  # a subclass may define another surface
        if isinstance(self.ground, Plane) and plane:
            height, normal = self.ground.heights(positions), self.ground.normal  # one for all
        else:
            height, normal = self.ground.height_and_normal(positions)
            normal = normal.reshape(flat)
        attached = motion.position if anchors is None else self._anchors(anchors)
        return _core.soft_forces(
            robot,
            *motion,
            height,
            normal,
            attached,
            self.stiffness,
            self.damping,
            self.friction,
            self._points,
            len(self.frames),
            plane,
        )

    def _anchors(self, anchors: ArrayLike) -> Array:
        array = reals("anchors", anchors)
        if array.shape[-2:] != (self.size, 3):
            raise InputError(f"anchors must have shape (..., {self.size}, 3) as the last call did, got {array.shape}")
        return array.reshape(*array.shape[:-2], 3 * self.size)

    def _constant(self, what: str, value: ArrayLike) -> Array:
        array = numbers(what, value)
        try:
            array = np.broadcast_to(array, (*array.shape[:-1], self.size))
        except ValueError as cause:
            raise InputError(f"{what} must be a number or (..., {self.size}), got shape {array.shape}") from cause
        if (array < 0).any():
            raise InputError(f"{what} must be nonnegative, got {value!r}")
        return np.array(array, order="C")

    def __repr__(self) -> str:
        return f"SoftContacts({self.size} points on {', '.join(self.frames)}, {self.ground!r})"
