"""The native simulator: the C++ core integrates the robot, contacts are solved here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, numbers, positive
from kinodyn.display import displayed
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import InputError
from kinodyn.identification.columns import labels
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot
from kinodyn.sim.hard_contacts import HardContacts
from kinodyn.sim.imu import Imu, ImuFromMotion
from kinodyn.sim.joint_resistance import JointStops, Resistance
from kinodyn.sim.protocol import Diverged, Simulator
from kinodyn.sim.terrain_mesh import terrain_mesh

Integrator = Literal["semi-implicit", "rk4"]
Wrenches = Mapping[str, ArrayLike]


class ContactLaw(Protocol):
    """Contacts whose forces are a function of the state: `contact.SoftContacts`, or a user's own."""

    def wrenches(
        self, robot: Robot, q: Array, v: Array, anchors: Array | None = None
    ) -> tuple[Mapping[str, Array], Array | None]:
        """Compute wrenches frame -> (..., 6), "local_world_aligned", and the friction state for the next call."""
        ...


@displayed
class NativeSimulator(Simulator):
    """Simulates a robot, or a batch of robots, with the native engine.

    `integrator="semi-implicit"` updates velocities first and positions with the new velocities; damping, Coulomb
    friction and stops are implicit, so that they are stable at any stiffness. "rk4" is the classic fourth-order method,
    on the manifold (H. Munthe-Kaas 1999).

    Parameters
    ----------
    robot
    dt
        Time step [s].
    integrator
        "semi-implicit" or "rk4".
    contacts
        None; `contact.SoftContacts` or another `ContactLaw`; `sim.HardContacts`, or a list of `contact.Contact` for
        hard contacts with the ground z = 0.
    stops
        Stops at the joint position limits; None lets joints move beyond them.
    friction
        Whether the Coulomb friction of the joints acts.
    friction_velocity
        Joint speed above which friction has its full value; below, it is proportional to the speed [rad/s or m/s].
    max_rate
        Velocity above which a run is stopped as diverged [rad/s or m/s].

    Attributes
    ----------
    contact_error : float
        Change of velocity in the last Gauss-Seidel sweep over hard contacts in the last step [m/s].

    Examples
    --------
    >>> import kinodyn as kd
    >>> simulator = kd.sim.NativeSimulator(kd.load("planar2r"))
    >>> simulator.step([0.1, 0.0], steps=10)
    >>> round(simulator.time, 6)
    0.01
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        *,
        dt: float = 1e-3,
        integrator: Integrator = "semi-implicit",
        contacts: ContactLaw | HardContacts | Sequence[Contact] | None = None,
        stops: JointStops | None = JointStops(),  # noqa: B008, a constant
        friction: bool = True,
        friction_velocity: float = 1e-3,
        max_rate: float = 1e4,
    ) -> None:
        self.robot, self.dt, self.integrator = robot, positive("dt", dt), integrator
        self.contacts, self.time = _contacts(contacts), 0.0
        if isinstance(self.contacts, HardContacts) and integrator != "semi-implicit":
            raise InputError('hard contacts have impacts, which need integrator="semi-implicit"')
        slow = positive("friction_velocity", friction_velocity)
        self.max_rate = positive("max_rate", max_rate)
        self._time_step = np.array([(self.dt, self.max_rate, slow)], dtype=layout("time_step")).view(float)
        self.resistance = Resistance.from_robot(robot, self.dt, stops, friction, slow)
        self._imu = ImuFromMotion(robot.gravity) if robot.base == "floating" else None
        self._forces: dict[str, Array] = {}
        self._anchors: Array | None = None
        self.reset()

    @property
    def terrain(self) -> dict[str, Array]:
        """Uneven ground as triangles: "vertices" (n, 3) [m] and "faces" (m, 3); empty where it is level."""
        return terrain_mesh(getattr(self.contacts, "ground", None))

    @property
    def q(self) -> Array:
        return self._q

    @property
    def v(self) -> Array:
        return self._v

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        robot = self.robot
        start = robot.neutral() if q is None else q
        rates = np.zeros(robot.nv) if v is None else numbers("v", v, robot.nv)
        self._q = robot.integrate(start, 0.0 * rates)  # checks q, and broadcasts it with v
        self._q[...] = start
        self._v = np.zeros((*self._q.shape[:-1], robot.nv))
        self._v[...] = rates
        self.time, self._anchors, self.contact_error = 0.0, None, 0.0
        self._forces = {}
        if self._imu is not None:
            self._imu.reset(self._q, self._v)

    def step(self, tau: ArrayLike, wrenches: Wrenches | None = None, *, steps: int = 1) -> None:
        if self.contacts is None:
            self._advance(tau, wrenches, steps)
            return
        for _ in range(steps):
            forces: Mapping[str, Array]
            if isinstance(self.contacts, HardContacts):
                forces = self._impulses(self.contacts, tau, wrenches)
            else:
                forces, self._anchors = self.contacts.wrenches(self.robot, self._q, self._v, self._anchors)
            self._forces = dict(forces)
            self._advance(tau, added(wrenches, forces), 1)

    def _impulses(self, hard: HardContacts, tau: ArrayLike, wrenches: Wrenches | None) -> dict[str, Array]:
        torques = np.asarray(tau, dtype=float)
        found = hard.solve(
            self.robot, self._q, self._v, torques, wrenches, self.resistance, self.dt, guess=self._anchors
        )
        self._anchors, self.contact_error = found.impulses, found.error
        return found.wrenches

    def contact_forces(self) -> dict[str, Array]:
        return dict(self._forces)

    def read_imu(self) -> Imu:
        """Return the mean reading (..., 3) of the base's IMU since the previous call; needs a floating base."""
        if self._imu is None:
            raise InputError(f"robot {self.robot.name!r} has a fixed base, which carries no IMU")
        return self._imu.read(self.time, self._q, self._v)

    def _advance(self, tau: ArrayLike, wrenches: Wrenches | None, steps: int) -> None:
        integer("steps", steps, 0, 2**31 - 1)
        resistance = self.resistance
        q, v, done, diverged_dof = _core.integrate_dynamics(
            self.robot,
            self._q,
            self._v,
            tau,
            self._time_step,
            resistance.friction_joints,
            resistance.friction_numbers,
            resistance.stop_joints,
            resistance.stop_numbers,
            steps,
            self.integrator == "rk4",
            wrenches,
        )
        fewest = int(done.min(initial=steps)) if done.ndim else int(done)
        if 0 < fewest < steps:  # the whole batch stops when its first member diverges
            self._advance(tau, wrenches, fewest)
        elif fewest == steps:
            self._q, self._v = q, v
            self.time += steps * self.dt
        if fewest < steps:
            self._raise_diverged(done, diverged_dof, fewest)

    def _raise_diverged(self, done: Array, diverged_dof: Array, fewest: int) -> None:
        index = int(np.flatnonzero((done.ravel() == fewest) & (diverged_dof.ravel() >= 0))[0])
        dof = int(diverged_dof.flat[index])
        rate = self._v.reshape(-1, self.robot.nv)[index, dof]
        where = "" if done.ndim == 0 else f"simulation {tuple(map(int, np.unravel_index(index, done.shape)))}: "
        reason = f"{where}its rate, {rate:.3g} before, exceeds max_rate = {self.max_rate:.3g}"
        reason += "; a smaller dt, lower gains or softer contacts may help"
        raise Diverged(self.time, labels(self.robot).v[dof], reason)


def added(wrenches: Wrenches | None, more: Mapping[str, Array]) -> Mapping[str, ArrayLike]:
    """Add two sets of wrenches by frame."""
    if not wrenches:
        return more
    result: dict[str, ArrayLike] = dict(wrenches)
    for frame, wrench in more.items():
        result[frame] = np.asarray(result[frame], dtype=float) + wrench if frame in result else wrench
    return result


def _contacts(given: ContactLaw | HardContacts | Sequence[Contact] | None) -> ContactLaw | HardContacts | None:
    if given is None or isinstance(given, HardContacts):
        return given
    if isinstance(given, Sequence):
        return HardContacts(given)
    if not hasattr(given, "wrenches"):
        raise InputError(f"contacts must be SoftContacts, HardContacts or a list of Contact, got {given!r}")
    return given
