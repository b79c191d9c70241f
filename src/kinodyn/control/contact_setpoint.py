"""Setpoints of the contacts of a controller: active or not, bounds and desired force."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers, positive, reals
from kinodyn.control.cones import Patch
from kinodyn.display import displayed
from kinodyn.dynamics.contact import Contact, Loop
from kinodyn.dynamics.contact.constraints import Constraint
from kinodyn.dynamics.contact.dynamics import gains_of
from kinodyn.errors import InputError
from kinodyn.limits.bounds import UNLIMITED
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_pose


@displayed
class ContactSetpoint:
    """The setpoint of one contact or loop. Assign to its attributes to change it between solves.

    Parameters
    ----------
    robot, contact, stabilise
        The robot, the contact or loop, and the initial `stabilise`.

    Attributes
    ----------
    contact : Contact or Loop
    active : bool
        Whether it constrains the robot; switching takes microseconds.
    minimum, maximum : float
        Bounds [N] of the normal force; `maximum` is ramped down before lift-off and up after touchdown.
    force : (6,) or (3,)
        Desired force on the robot in world axes, for a surface followed by the moment about the contact's point. Its
        weight is `weight` times the controller's `force_weight`. None: zero.
    weight : float
        Weight of the difference to the desired force.
    friction : float
        Coefficient of friction.
    normal : (3,)
        Normal of the ground in the world; update it when a slope becomes known.
    target : (4, 4) or None
        Pose of the frame that `stabilise` maintains; None: its current pose.
    stabilise : float or (stiffness, damping)
        Rate [1/s] of the feedback that stops a moving contact, and returns it to its target if it has one.
    """

    @check_types
    def __init__(self, robot: Robot, contact: Constraint, stabilise: float | tuple[float, float]) -> None:
        if not isinstance(contact, Contact | Loop):
            raise InputError(f"contacts must be Contact or Loop objects, got {contact!r}")
        self.robot, self.contact, self.name = robot, contact, contact.name
        self.version = 0
        self.frame = robot.frame_index(contact.frame)
        self.other = -1 if isinstance(contact, Contact) else robot.frame_index(contact.other)
        self.patch: Patch | None = None  # computed at the first solve, and again when friction or normal change
        self._active = True
        self._minimum, self._maximum, self._weight = 0.0, UNLIMITED, 1.0
        self._force: Array | None = None
        self._target = contact.target if isinstance(contact, Contact) else None
        self._rates = gains_of(stabilise)

    def __repr__(self) -> str:
        return f"ContactSetpoint({self.name!r}, {'active' if self.active else 'not active'})"

    @property
    def active(self) -> bool:
        """Whether it constrains the robot."""
        return self._active

    @active.setter
    def active(self, value: bool) -> None:
        if bool(value) != self._active:
            self._active = bool(value)
            self.version += 1

    @property
    def minimum(self) -> float:
        """Minimum normal force [N]."""
        return self._minimum

    @minimum.setter
    def minimum(self, value: float) -> None:
        self.bound(value, self._maximum)

    @property
    def maximum(self) -> float:
        """Maximum normal force [N]."""
        return np.inf if self._maximum >= UNLIMITED else self._maximum

    @maximum.setter
    def maximum(self, value: float) -> None:
        self.bound(self._minimum, value)

    @property
    def force_bounds(self) -> tuple[float, float]:
        """Both bounds of the normal force [N], as the core takes them: 1e30 for no maximum."""
        return self._minimum, self._maximum

    def bound(self, minimum: float, maximum: float) -> None:
        """Set both bounds [N] of the normal force.

        Parameters
        ----------
        minimum
            Minimum normal force [N].
        maximum
            Maximum normal force [N].
        """
        least, most = reals("minimum", minimum), reals("maximum", maximum)
        if least.ndim or most.ndim or not 0 <= least <= most:
            raise InputError(
                f"normal force of {self.name!r} must be bounded by 0 <= minimum <= maximum, got {minimum!r} and "
                f"{maximum!r}"
            )
        bounds = float(least), min(float(most), UNLIMITED)
        if bounds != (self._minimum, self._maximum):
            self._minimum, self._maximum = bounds
            self.version += 1

    @property
    def force(self) -> Array | None:
        """Desired force."""
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
        """Weight of the difference to the desired force."""
        return self._weight

    @weight.setter
    def weight(self, value: float) -> None:
        positive(f"weight of {self.name!r}", value)
        self._weight = float(value)
        self.version += 1

    @property
    def friction(self) -> float:
        """Coefficient of friction."""
        return self._touching().friction

    @friction.setter
    def friction(self, value: float) -> None:
        self._renew(value, self._touching().normal)

    @property
    def normal(self) -> Array:
        """Normal (3,) of the ground in the world."""
        return self._touching().normal

    @normal.setter
    def normal(self, value: ArrayLike) -> None:
        self._renew(self._touching().friction, value)

    def reshape(self, corners: ArrayLike) -> None:
        """Replace the corners of the contact patch, of a foot that the ground bears only in part.

        Parameters
        ----------
        corners
            (n, 3) in the frame [m].
        """
        old = self._touching()
        self._renew(old.friction, old.normal, corners)

    def _renew(self, friction: float, normal: ArrayLike, corners: ArrayLike | None = None) -> None:
        """Replace the contact, rather than change it: contacts may be shared."""
        old = self._touching()
        shape = old.corners if corners is None else corners
        same = {"kind": old.kind, "point": old.point, "corners": shape, "name": old.name}
        self.contact = Contact(old.frame, friction=friction, normal=normal, **same)  # type: ignore[arg-type]
        self.patch = None
        self.version += 1

    @property
    def target(self) -> Array | None:
        """Pose at which the frame is to stay."""
        return self._target

    @target.setter
    def target(self, value: MatrixLike | None) -> None:
        self._touching()
        self._target = None if value is None else as_pose(value, f"target of contact {self.name!r}")
        self.version += 1

    @property
    def stabilise(self) -> tuple[float, float]:
        """Stiffness [1/s^2] and damping [1/s] of the feedback."""
        return float(self._rates[0]), float(self._rates[1])

    @stabilise.setter
    def stabilise(self, value: float | tuple[float, float]) -> None:
        self._rates = gains_of(value)
        self.version += 1

    def _touching(self) -> Contact:
        if isinstance(self.contact, Loop):
            raise InputError(f"{self.name!r} is a loop, not a contact")
        return self.contact
