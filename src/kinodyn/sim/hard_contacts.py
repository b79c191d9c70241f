"""Hard contacts: non-penetration, impacts and Coulomb friction by implicit time stepping.

The velocities after a step and the contact impulses in it are solved for together: no contact point penetrates the
ground, normal impulses only push, friction stays in its cone and opposes sliding. There is no event detection: an
impact is a large impulse in one step. J. J. Moreau, "Unilateral contact and dry friction in finite freedom dynamics",
1988; D. E. Stewart and J. C. Trinkle, "An implicit time-stepping scheme for rigid body dynamics with inelastic
collisions and Coulomb friction", 1996.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core, dynamics, kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import InputError
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot
from kinodyn.sim.joint_resistance import Resistance

FAR = 1e30  # [m], where there is no ground: the core takes finite numbers only


class Ground(Protocol):
    """What hard contacts require of the ground; the types of `kinodyn.dynamics.contact` offer it."""

    def height_and_normal(self, p: ArrayLike) -> tuple[Array, Array]:
        """Return the heights (...) of points (..., 3) above the ground, and its unit normals (..., 3) there."""
        ...


class Impulses(NamedTuple):
    """Contact forces of one step: wrenches by frame (..., 6), and impulses [N s] that warm-start the next step."""

    wrenches: dict[str, Array]
    impulses: Array  # (..., points, 3)
    error: float


@displayed
class HardContacts:
    """Contact points that cannot penetrate the ground.

    A contact without corners is a single point, so `kind="surface"` needs corners. With restitution e, a point that
    hits the ground with normal velocity u leaves it with -e u. Without restitution, a point that would penetrate the
    ground in a step ends the step on it. Each step solves for the impulses by projected Gauss-Seidel.

    Parameters
    ----------
    contacts
        Points and patches, each with its friction coefficient.
    ground
        Anything with `height_and_normal`; None is the plane through the world origin across each contact's normal.
    restitution
        From 0 to 1, one for all contacts.
    max_iterations, tolerance
        Maximum number of Gauss-Seidel sweeps in one step, and the change of velocity [m/s] below which they end.
    """

    @check_types
    def __init__(
        self,
        contacts: Sequence[Contact],
        *,
        ground: Ground | None = None,
        restitution: float = 0.0,
        max_iterations: int = 500,
        tolerance: float = 1e-9,
    ) -> None:
        self.contacts = tuple(contacts)
        if not self.contacts or not all(isinstance(contact, Contact) for contact in self.contacts):
            raise InputError("contacts must be a list of contact.Contact objects, at least one")
        for contact in self.contacts:
            if contact.kind == "surface" and contact.corners is None:
                raise InputError(f'contact {contact.name!r} is a surface; give its corners=, or kind="point"')
        if not isinstance(restitution, int | float | np.number) or not 0 <= restitution <= 1:
            raise InputError(f"restitution must be from 0 to 1, got {restitution!r}")
        self.ground, self.restitution = ground, float(restitution)
        self.max_iterations, self.tolerance = int(max_iterations), float(tolerance)
        points = [c.point[None] if c.corners is None else c.corners for c in self.contacts]
        owner = np.repeat(np.arange(len(points)), [len(each) for each in points])
        self._frames = list(dict.fromkeys(contact.frame for contact in self.contacts))
        self._carrier = np.array([self._frames.index(self.contacts[k].frame) for k in owner])
        self._places, self._local = self._carrier.astype(float), np.concatenate(points)
        self._normal = np.array([contact.normal for contact in self.contacts])[owner]
        self._mu = np.array([contact.friction for contact in self.contacts])[owner]
        self._no_height, self._no_impulse = np.zeros(len(owner)), np.zeros((len(owner), 3))
        self._settings = np.zeros(1, dtype=layout("hard_contact_settings"))
        self._settings["restitution"], self._settings["tolerance"] = self.restitution, self.tolerance
        self._settings["max_sweeps"], self._settings["plane"] = self.max_iterations, ground is None

    @property
    def points(self) -> int:
        """Number of contact points."""
        return len(self._mu)

    def solve(
        self,
        robot: Robot,
        q: Array,
        v: Array,
        tau: Array,
        wrenches: Mapping[str, ArrayLike] | None,
        resistance: Resistance,
        dt: float,
        guess: Array | None = None,
    ) -> Impulses:
        """Solve for the contact impulses of one time step.

        Parameters
        ----------
        robot
        q, v
            State at the start of the step, (..., nq) and (..., nv).
        tau
            Joint torques (..., nv).
        wrenches
            External wrenches, frame -> (..., 6), or None.
        resistance
            Passive joint forces.
        dt
            Time step [s].
        guess
            Impulses of the previous step (..., points, 3), which warm-start the solver.

        Returns
        -------
        Impulses
        """
        height, normal = self._no_height, self._normal
        if self.ground is not None:
            height, normal = self.ground.height_and_normal(self._positions(robot, q))
            height = np.minimum(height, FAR)
        force, inertia = resistance.implicit(robot, q, v, dt)
        # damping is in both the resistance and the bias: count it once
        force += tau + robot.damping * v - dynamics.bias(robot, q, v, wrenches)
        settings = self._settings.copy()
        settings["dt"] = dt
        found = _core.hard_contacts(
            robot,
            q,
            v,
            dynamics.mass_matrix(robot, q),
            inertia,
            force,
            self._places,
            self._local,
            normal,
            height,
            self._mu,
            self._no_impulse if guess is None else guess,
            self._frames,
            settings,
        )
        total = {frame: found.wrench[..., k, :] for k, frame in enumerate(self._frames)}
        return Impulses(total, found.impulse, float(np.max(found.change, initial=0.0)))

    def _positions(self, robot: Robot, q: Array) -> Array:
        T = kinematics.poses(robot, q, frames=self._frames)[..., self._carrier, :, :]
        p: Array = (T[..., :3, :3] @ self._local[..., None])[..., 0] + T[..., :3, 3]
        return p
