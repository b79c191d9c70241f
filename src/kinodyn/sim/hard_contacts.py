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
from kinodyn.dynamics.contact.constraints import plan
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.sim.common import cross
from kinodyn.sim.joint_resistance import Resistance

INACTIVE = -1.0  # as a friction coefficient: the point takes no part in this step
DEPTH_CORRECTION = 0.2  # fraction of the penetration that is corrected in one step
MAX_CORRECTION_SPEED = 0.5  # [m/s]


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
        self._points = [c.point[None] if c.corners is None else c.corners for c in self.contacts]
        sizes = [len(points) for points in self._points]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._frames = list(dict.fromkeys(contact.frame for contact in self.contacts))
        self._normal = np.array([contact.normal for contact in self.contacts])[self._owner]
        self._mu = np.array([contact.friction for contact in self.contacts])[self._owner]

    @property
    def points(self) -> int:
        """Number of contact points."""
        return len(self._owner)

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
        planned = plan(robot, self.contacts)
        rows = planned.rows
        origins = kinematics.poses(robot, q, frames=self._frames)
        p = self._positions(origins)
        height, normal = self._below(p)
        J, _ = _core.constraint_jacobian(robot, q, v, planned.records, planned.poses)
        rate = (J @ v[..., None])[..., 0].reshape(p.shape)
        away = height > dt * (2.0 * np.abs((rate * normal).sum(axis=-1)) + MAX_CORRECTION_SPEED)
        if away.all():  # no point can reach the ground in this step
            zero = np.zeros((*p.shape[:-2], 6))
            return Impulses(dict.fromkeys(self._frames, zero), np.zeros(p.shape), 0.0)
        R = _axes(normal)  # (..., points, 3, 3), rows: normal and two tangents
        J = (R @ J.reshape(*p.shape[:-2], self.points, 3, robot.nv)).reshape(*p.shape[:-2], rows, robot.nv)
        free, Y = _free_motion(robot, q, v, tau, wrenches, resistance, dt, np.swapaxes(J, -1, -2))
        before, after = (J @ v[..., None])[..., 0], (J @ free[..., None])[..., 0]
        least, friction = self._targets(height, before[..., ::3], after[..., ::3], dt)
        A = (J @ Y).reshape(*after.shape[:-1], rows * rows)
        first = np.zeros(rows) if guess is None else guess.reshape(*guess.shape[:-2], rows)
        x, error, _ = _core.contact_impulses(
            robot, A, after, least, friction, first, self.tolerance, self.points, self.max_iterations
        )
        impulses = x.reshape(p.shape)
        force = (impulses[..., None, :] @ R)[..., 0, :] / dt
        return Impulses(self._on_frames(origins, p, force), impulses, float(np.max(error, initial=0.0)))

    def _positions(self, origins: Array) -> Array:
        parts = []
        for contact, points in zip(self.contacts, self._points, strict=True):
            T = origins[..., self._frames.index(contact.frame), :, :]
            parts.append(points @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3])
        return np.concatenate(parts, axis=-2)

    def _below(self, p: Array) -> tuple[Array, Array]:
        if self.ground is not None:
            return self.ground.height_and_normal(p)
        return (p * self._normal).sum(axis=-1), np.broadcast_to(self._normal, p.shape)

    def _targets(self, height: Array, before: Array, after: Array, dt: float) -> tuple[Array, Array]:
        """Compute the least normal velocity of each point after the step, and its friction; INACTIVE if far away."""
        correction = np.minimum(DEPTH_CORRECTION * -height / dt, MAX_CORRECTION_SPEED)
        if self.restitution > 0:
            active = height <= 0
            least = np.maximum(correction, -self.restitution * before)
        else:
            active = height + dt * np.minimum(before, after) <= dt * MAX_CORRECTION_SPEED
            least = np.where(height > 0, -height / dt, correction)
        return np.where(active, least, 0.0), np.where(active, self._mu, INACTIVE)

    def _on_frames(self, origins: Array, p: Array, force: Array) -> dict[str, Array]:
        total = {frame: np.zeros((*p.shape[:-2], 6)) for frame in self._frames}
        for k, contact in enumerate(self.contacts):
            own = self._owner == k
            arm = p[..., own, :] - origins[..., None, self._frames.index(contact.frame), :3, 3]
            total[contact.frame][..., :3] += force[..., own, :].sum(axis=-2)
            total[contact.frame][..., 3:] += cross(arm, force[..., own, :]).sum(axis=-2)
        return total


def _free_motion(
    robot: Robot,
    q: Array,
    v: Array,
    tau: Array,
    wrenches: Mapping[str, ArrayLike] | None,
    resistance: Resistance,
    dt: float,
    columns: Array,
) -> tuple[Array, Array]:
    """Compute the velocities (..., nv) after a contact-free step, and M^-1 columns with the step's effective M."""
    force, inertia = resistance.implicit(robot, q, v, dt)
    M = dynamics.mass_matrix(robot, q)
    diagonal = np.arange(robot.nv)
    M[..., diagonal, diagonal] += inertia
    # damping is in both the resistance and the bias: count it once
    force += tau + robot.damping * v - dynamics.bias(robot, q, v, wrenches)
    solved = np.linalg.solve(M, np.concatenate([columns, force[..., None]], axis=-1))
    free = v + dt * solved[..., -1]
    for joint in robot.joints:
        if joint.kind == "floating":
            lin, ang = slice(joint.v.start, joint.v.start + 3), slice(joint.v.start + 3, joint.v.stop)
            free[..., lin] += dt * cross(v[..., ang], v[..., lin])  # the core integrates along fixed axes
    return free, solved[..., :-1]


def _axes(normal: Array) -> Array:
    """Complete each unit normal (..., 3) by two tangents: rows n, t1, t2 of (..., 3, 3)."""
    helper = np.where(np.abs(normal[..., :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    first = cross(normal, helper)
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    return np.stack([normal, first, cross(normal, first)], axis=-2)
