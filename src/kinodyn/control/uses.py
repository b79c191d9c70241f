"""How a controller uses the contacts of a robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.control.cones import REACH, Patch, patch
from kinodyn.dynamics.contact import Contact, Loop
from kinodyn.dynamics.contact.constraints import DIRECTIONS, Constraint
from kinodyn.dynamics.contact.dynamics import gains_of
from kinodyn.errors import InputError
from kinodyn.limits.joints import ENDLESS
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_pose

HEAD = 42  # numbers before the cone


class ContactUse:
    """What a controller may do with one contact or loop. Assign to change it between ticks.

    Attributes
    ----------
    contact : Contact or Loop
    active : bool
        Whether it holds the robot at all; switching costs next to nothing.
    minimum, maximum : float
        Bounds [N] of the normal force; `maximum` is ramped down before a foot lifts and up after it has landed.
    force : (6,) or (3,)
        The force that is wished for, on the robot, in world axes: of a surface with the moment about the contact's
        point. It counts with `weight`, times the controller's `force_weight`.
    friction : float
    normal : (3,)
        Of the ground, in the world: of a slope as soon as it is known.
    target : (4, 4) or None
        Where the frame is to stay, for `stabilise`; None: no matter where.
    stabilise : float or (stiffness, damping)
        Rate [1/s] at which a place that moves is stopped, and brought back to its target if it has one.
    """

    def __init__(self, robot: Robot, contact: Constraint, stabilise: float | tuple[float, float]) -> None:
        if not isinstance(contact, Contact | Loop):
            raise InputError(f"contacts must be Contact or Loop objects, got {contact!r}")
        self.robot, self.contact, self.name = robot, contact, contact.name
        self.version = 0
        self.frame = robot.frame_index(contact.frame)
        self.other = -1 if isinstance(contact, Contact) else robot.frame_index(contact.other)
        self._patch: Patch | None = None
        self.active = True
        self._minimum, self._maximum, self._weight = 0.0, ENDLESS, 1.0
        self._force: Array | None = None
        self._target = contact.target if isinstance(contact, Contact) else None
        self._rates = gains_of(stabilise)

    def __repr__(self) -> str:
        return f"ContactUse({self.name!r}, {'active' if self.active else 'not active'})"

    @property
    def minimum(self) -> float:
        """Give the least normal force [N]."""
        return self._minimum

    @minimum.setter
    def minimum(self, value: float) -> None:
        self.bound(value, self._maximum)

    @property
    def maximum(self) -> float:
        """Give the largest normal force [N]."""
        return np.inf if self._maximum >= ENDLESS else self._maximum

    @maximum.setter
    def maximum(self, value: float) -> None:
        self.bound(self._minimum, value)

    def bound(self, minimum: float, maximum: float) -> None:
        """Set both bounds [N] of the normal force."""
        if not 0 <= minimum <= maximum:
            raise InputError(
                f"normal force of {self.name!r} must be bounded by 0 <= minimum <= maximum, got {minimum!r} and "
                f"{maximum!r}"
            )
        bounds = float(minimum), min(float(maximum), ENDLESS)
        if bounds != (self._minimum, self._maximum):
            self._minimum, self._maximum = bounds
            self.version += 1

    @property
    def force(self) -> Array | None:
        """Give the force that is wished for."""
        return self._force

    @force.setter
    def force(self, value: ArrayLike | None) -> None:
        if isinstance(self.contact, Loop):
            raise InputError(f"{self.name!r} is a loop: no force can be wished for")
        size = 6 if self.contact.kind == "surface" or self.contact.corners is not None else 3
        self._force = None if value is None else np.array(numbers(f"force of {self.name!r}", value, size))
        self.version += 1

    @property
    def weight(self) -> float:
        """Give the weight of the wish for a force."""
        return self._weight

    @weight.setter
    def weight(self, value: float) -> None:
        if not 0 < value < np.inf:
            raise InputError(f"weight of {self.name!r} must be above 0, got {value!r}")
        self._weight = float(value)
        self.version += 1

    @property
    def friction(self) -> float:
        """Give the coefficient of friction."""
        return self._touching().friction

    @friction.setter
    def friction(self, value: float) -> None:
        self._renew(value, self._touching().normal)

    @property
    def normal(self) -> Array:
        """Give the direction of the world from which the ground pushes."""
        return self._touching().normal

    @normal.setter
    def normal(self, value: ArrayLike) -> None:
        self._renew(self._touching().friction, value)

    def _renew(self, friction: float, normal: ArrayLike) -> None:
        """Take another contact in place of the one there was: contacts may be shared with others."""
        old = self._touching()
        same = {"kind": old.kind, "point": old.point, "corners": old.corners, "name": old.name}
        self.contact = Contact(old.frame, friction=friction, normal=normal, **same)  # type: ignore[arg-type]
        self._patch = None
        self.version += 1

    @property
    def target(self) -> Array | None:
        """Give the pose at which the frame is to stay."""
        return self._target

    @target.setter
    def target(self, value: MatrixLike | None) -> None:
        self._touching()
        self._target = None if value is None else as_pose(value, f"target of contact {self.name!r}")
        self.version += 1

    @property
    def stabilise(self) -> tuple[float, float]:
        """Give stiffness [1/s^2] and damping [1/s] of its place."""
        return float(self._rates[0]), float(self._rates[1])

    @stabilise.setter
    def stabilise(self, value: float | tuple[float, float]) -> None:
        self._rates = gains_of(value)
        self.version += 1

    def _touching(self) -> Contact:
        if isinstance(self.contact, Loop):
            raise InputError(f"{self.name!r} is a loop, not a contact")
        return self.contact


class SupportSlot:
    """One contact's place among the numbers."""

    def __init__(self, use: ContactUse, place: int, q: Array) -> None:
        self.use, self.place = use, place
        contact = use.contact
        self.touches = isinstance(contact, Contact)
        if isinstance(contact, Contact):
            R = kinematics.pose(use.robot, q.reshape(-1, q.shape[-1])[0], contact.frame)[:3, :3]
            self.patch = use._patch = use._patch or patch(contact, contact.normal @ R)
        else:
            mask = sum(1 << DIRECTIONS.index(word) for word in contact.directions)
            own = np.concatenate([contact.T_frame[:3, 3], contact.T_frame[:3, :3].ravel()])
            self.patch = Patch(mask, own, REACH, np.zeros((0, bin(mask).count("1"))))
        self.rows = bin(self.patch.mask).count("1")
        self.size = HEAD + self.patch.cone.size
        self.version = -1

    def integers(self) -> list[int]:
        """Return both frames, kept directions, rows of the cone, place, whether it is active and whether it touches."""
        use, shape = self.use, self.patch
        return [use.frame, use.other, shape.mask, len(shape.cone), self.place, int(use.active), int(self.touches)]

    def constraints(self) -> int:
        """Return the number of inequalities."""
        return len(self.patch.cone) + 1 if self.touches else 0

    def batch(self) -> tuple[int, ...]:
        """Return the batch shape of what is wished for."""
        use = self.use
        shapes = [()] if use.target is None else [use.target.shape[:-2]]
        return np.broadcast_shapes(*shapes, () if use.force is None else use.force.shape[:-1])

    def write(self, into: Array) -> None:
        """Write everything to `into` (..., all numbers)."""
        use, own = self.use, self.patch.place
        x = into[..., self.place : self.place + self.size]
        x[..., :12] = own
        stiffness, damping = use.stabilise
        if isinstance(use.contact, Loop):
            T = use.contact.T_other
            x[..., 12:15], x[..., 15:24] = T[:3, 3], T[:3, :3].ravel()
            x[..., 26:42] = 0.0
        else:
            self._write_target(x)
            stiffness = stiffness if use.target is not None else 0.0
            x[..., 26:29] = use.contact.normal
            x[..., 29], x[..., 30] = use._minimum, use._maximum
            x[..., 33:39] = 0.0
            if use.force is not None:
                x[..., 33 : 33 + use.force.shape[-1]] = use.force
            x[..., 39:42] = use.contact.point
        x[..., 24], x[..., 25], x[..., 31], x[..., 32] = stiffness, damping, use.weight, self.patch.length
        x[..., HEAD:] = self.patch.cone.ravel()
        self.version = use.version

    def _write_target(self, x: Array) -> None:
        own = self.patch.place
        T = np.eye(4) if self.use.target is None else self.use.target
        R = T[..., :3, :3]
        x[..., 12:15] = T[..., :3, 3] + R @ own[:3]
        x[..., 15:24] = (R @ own[3:].reshape(3, 3)).reshape(*R.shape[:-2], 9)
