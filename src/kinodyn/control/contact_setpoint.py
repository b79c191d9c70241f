"""How a controller uses the contacts of a robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.control.cones import Patch
from kinodyn.dynamics.contact import Contact, Loop
from kinodyn.dynamics.contact.constraints import Constraint
from kinodyn.dynamics.contact.dynamics import gains_of
from kinodyn.errors import InputError
from kinodyn.limits.bounds import UNLIMITED
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_pose


class ContactSetpoint:
    """What a controller may do with one contact or loop. Assign to change it between ticks.

    Parameters
    ----------
    robot, contact, stabilise
        The robot, the contact or loop, and the initial `stabilise`.

    Attributes
    ----------
    contact : Contact or Loop
    active : bool
        Whether it holds the robot at all; switching costs next to nothing.
    minimum, maximum : float
        Bounds [N] of the normal force; `maximum` is ramped down before lift-off and up after touchdown.
    force : (6,) or (3,)
        Desired force on the robot in world axes, of a surface with the moment about the contact's point. It counts with
        `weight`, times the controller's `force_weight`. None: zero.
    weight : float
        Weight of the difference to the desired force.
    friction : float
        Coefficient of friction.
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
        self.patch: Patch | None = None  # found at the first tick, and anew when friction or normal change
        self._active = True
        self._minimum, self._maximum, self._weight = 0.0, UNLIMITED, 1.0
        self._force: Array | None = None
        self._target = contact.target if isinstance(contact, Contact) else None
        self._rates = gains_of(stabilise)

    def __repr__(self) -> str:
        return f"ContactSetpoint({self.name!r}, {'active' if self.active else 'not active'})"

    @property
    def active(self) -> bool:
        """Tell whether it holds the robot."""
        return self._active

    @active.setter
    def active(self, value: bool) -> None:
        if bool(value) != self._active:
            self._active = bool(value)
            self.version += 1

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
        return np.inf if self._maximum >= UNLIMITED else self._maximum

    @maximum.setter
    def maximum(self, value: float) -> None:
        self.bound(self._minimum, value)

    @property
    def force_bounds(self) -> tuple[float, float]:
        """Give both bounds of the normal force [N], as the core takes them: 1e30 for no maximum."""
        return self._minimum, self._maximum

    def bound(self, minimum: float, maximum: float) -> None:
        """Set both bounds [N] of the normal force.

        Parameters
        ----------
        minimum
            Least normal force [N].
        maximum
            Largest normal force [N].
        """
        if not 0 <= minimum <= maximum:
            raise InputError(
                f"normal force of {self.name!r} must be bounded by 0 <= minimum <= maximum, got {minimum!r} and "
                f"{maximum!r}"
            )
        bounds = float(minimum), min(float(maximum), UNLIMITED)
        if bounds != (self._minimum, self._maximum):
            self._minimum, self._maximum = bounds
            self.version += 1

    @property
    def force(self) -> Array | None:
        """Give the desired force."""
        return self._force

    @force.setter
    def force(self, value: ArrayLike | None) -> None:
        if isinstance(self.contact, Loop):
            raise InputError(f"{self.name!r} is a loop, which has no desired force")
        size = 6 if self.contact.kind == "surface" or self.contact.corners is not None else 3
        self._force = None if value is None else np.array(numbers(f"force of {self.name!r}", value, size))
        self.version += 1

    @property
    def weight(self) -> float:
        """Give the weight of the difference to the desired force."""
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
        self.patch = None
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
