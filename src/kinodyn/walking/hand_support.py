"""A hand that leans on a table, a rail or a wall for a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import nonnegative, numbers, positive
from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.display import displayed
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import InputError
from kinodyn.model.state import State
from kinodyn.spatial import interpolate
from kinodyn.tasks import FrameTask

CLEARANCE = 0.1  # [m] along the normal: the hand first moves to this distance from the surface, then straight to it
DESCENT_FRACTION = 0.3  # fraction of the approach that is left for moving along the normal
CONTACT_TOLERANCES = (0.03, 0.3)  # [m, rad] from the target, within which a force is one of the surface
PRESSING_SPEED = 0.05  # [m/s] at which the target moves into the surface until it is felt
MIN_FORCE = 5.0  # [N] normal force from which on the hand touches
LOADING_TIME = 0.3  # [s] in which the support takes its load
APPROACH_WEIGHT, APPROACH_FREQUENCY = 5.0, 12.0  # of the task that leads the hand, [rad/s]


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class HandSupport:
    """A contact of a hand that supports the robot from `start` to `end`.

    In the time `approach` before `start` the hand moves to a point 10 cm off the surface, then along the normal to the
    target of the contact, and on until it feels the surface. Then the contact force takes part in the balance, within
    friction and `max_force`. At `end` the hand is released.

    Attributes
    ----------
    contact : contact.Contact
        With `target`, the pose of the frame in the world where it touches, `normal`, the direction in which the surface
        pushes, `friction`, and `kind` or `corners`.
    start, end : float
        Times of contact [s].
    approach : float
        Duration of the approach [s].
    via : (n, 3)
        Positions of the frame in the world to pass on the approach, around the edge of a table [m].
    max_force : float
        Largest normal force [N].
    """

    contact: Contact
    start: float
    end: float = np.inf
    approach: float = 1.0
    via: ArrayLike = ()
    max_force: float = 150.0

    def __post_init__(self) -> None:
        if not isinstance(self.contact, Contact):
            raise InputError(f"contact must be a contact.Contact, got {self.contact!r}")
        if self.contact.target is None or np.ndim(self.contact.target) != 2:
            raise InputError(f"contact {self.contact.name!r} needs a target: the pose (4, 4) where the hand touches")
        via = numbers("via", self.via, 3) if len(np.asarray(self.via)) else np.zeros((0, 3))
        if via.ndim != 2:
            raise InputError(f"via must be positions (n, 3), got shape {via.shape}")
        object.__setattr__(self, "via", via)
        nonnegative("start", self.start)
        positive("approach", self.approach)
        positive("max_force", self.max_force)
        if not self.end > self.start:
            raise InputError(f"end must be after start, {self.start:g} s, got {self.end!r}")


class SupportPhase:
    """The states of a support: waiting, approaching, bearing load, released."""

    def __init__(self, support: HandSupport) -> None:
        self.support, self.frame = support, support.contact.frame
        target = np.asarray(support.contact.target)
        self._target, self._normal = target, support.contact.normal
        self._task = FrameTask(self.frame, target, weights=APPROACH_WEIGHT, name=f"approach of {support.contact.name}")
        self._task.frequency = APPROACH_FREQUENCY
        self._task.enabled = False
        self._qp: InverseDynamicsQP | None = None
        self._start: Array | None = None  # pose of the frame when the approach begins
        self._loaded_since = np.inf

    def add_to(self, qp: InverseDynamicsQP) -> None:
        """Add the approach and the contact to a controller; both are switched off."""
        qp.add(self._task, self.support.contact)
        qp.contacts[self.support.contact.name].active = False
        self._qp = qp

    def update(self, t: float, state: State, force: Array | None) -> None:
        """Switch the task and the contact.

        Parameters
        ----------
        t
            [s]
        state
            Measured state.
        force
            Measured wrench (6,) on the frame; None if it is not measured.
        """
        assert self._qp is not None
        support, contact = self.support, self._qp.contacts[self.support.contact.name]
        begin = support.start - support.approach
        if t < begin or t >= support.end:
            self._task.enabled = contact.active = False
            return
        if self._start is None:
            self._start = np.array(state.pose(self.frame))
        touches = force is None or (float(self._normal @ force[:3]) > MIN_FORCE and self._is_near(state))
        if self._loaded_since == np.inf and t >= support.start and touches:
            self._loaded_since = t
        self._task.enabled = self._loaded_since == np.inf
        contact.active = not self._task.enabled
        if contact.active:
            share = min(1.0, (t - self._loaded_since + 0.05 * LOADING_TIME) / LOADING_TIME)
            contact.maximum = share * support.max_force
        else:
            self._task.track(self._approach((t - begin) / support.approach, max(t - support.start, 0.0)))

    def _is_near(self, state: State) -> bool:
        """Return whether the hand is where the surface is expected, up to its height."""
        T = state.pose(self.frame)
        offset = T[:3, 3] - self._target[:3, 3]
        along = offset - (offset @ self._normal) * self._normal
        cosine = 0.5 * (float(np.einsum("ij,ij", T[:3, :3], self._target[:3, :3])) - 1.0)
        return bool(np.linalg.norm(along) < CONTACT_TOLERANCES[0] and cosine > np.cos(CONTACT_TOLERANCES[1]))

    def _approach(self, fraction: float, late: float) -> Array:
        """Return the target pose (4, 4) at a fraction of the approach, or `late` seconds after its end."""
        assert self._start is not None
        points = self._points()
        s = min(fraction / (1.0 - DESCENT_FRACTION), 1.0) * (len(points) - 1)
        k = min(int(s), len(points) - 2)
        T: Array = np.array(interpolate(points[k], points[k + 1], _smooth(s - k)))
        descent = CLEARANCE * _smooth((fraction - 1.0 + DESCENT_FRACTION) / DESCENT_FRACTION) + PRESSING_SPEED * late
        T[:3, 3] -= descent * self._normal
        return T

    def _points(self) -> list[Array]:
        """List the poses (4, 4) of the approach; at a via point the hand already has the orientation of the target."""
        assert self._start is not None
        points = [self._start]
        for position in (*np.asarray(self.support.via), self._target[:3, 3] + CLEARANCE * self._normal):
            T = self._target.copy()
            T[:3, 3] = position
            points.append(T)
        return points


def _smooth(x: float) -> float:
    """Return the quintic step from 0 at x = 0 to 1 at x = 1 with velocity and acceleration zero at both ends."""
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
