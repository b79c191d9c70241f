"""kinodyn's own simulator: the core advances the robot, contacts are computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import InputError
from kinodyn.identification.columns import labels
from kinodyn.model.robot import Robot
from kinodyn.sim.common import positive
from kinodyn.sim.hard import HardContacts
from kinodyn.sim.joints import Resistance, Stops
from kinodyn.sim.protocol import Diverged
from kinodyn.sim.relief import triangles

Integrator = Literal["semi-implicit", "rk4"]
Wrenches = Mapping[str, ArrayLike]
MAX_RATE = 1e4
SLOW = 1e-3


class ContactLaw(Protocol):
    """Contacts whose forces follow from the state: `kinodyn.dynamics.contact.SoftContacts`, or one's own."""

    def wrenches(
        self, robot: Robot, q: Array, v: Array, anchors: Array | None = None
    ) -> tuple[Mapping[str, Array], Array | None]:
        """Give wrenches frame -> (..., 6), aligned reference, and the state of the friction for the next call."""
        ...


class NativeSimulator:
    """A robot, or a batch of them, moved by kinodyn's own dynamics.

    `integrator="semi-implicit"` steps velocities first and positions along the new ones; damping, dry friction and
    stops are taken as they will be at the end of the step, so that they are stable however stiff. "rk4" is the
    classic fourth-order method, on the manifold (H. Munthe-Kaas 1999).

    Parameters
    ----------
    robot
    dt
        Step of time [s].
    integrator
    contacts
        None; `contact.SoftContacts` or another law of its kind; `sim.HardContacts`, or a list of `contact.Contact` that
        touch the ground z = 0 hard.
    stops
        Stops at the limits of the joints; None lets joints move beyond.
    friction
        Whether the dry friction of the joints acts: full above the speed `slow` [rad/s or m/s], in proportion below.
    max_rate
        A run is stopped as diverged when a velocity exceeds this [rad/s or m/s].

    Attributes
    ----------
    contact_error : float
        How much the last sweep over hard contacts still changed a velocity in the last step [m/s].
    """

    def __init__(
        self,
        robot: Robot,
        *,
        dt: float = 1e-3,
        integrator: Integrator = "semi-implicit",
        contacts: ContactLaw | HardContacts | Sequence[Contact] | None = None,
        stops: Stops | None = Stops(),  # noqa: B008, a constant
        friction: bool = True,
        slow: float = SLOW,
        max_rate: float = MAX_RATE,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
        if integrator not in ("semi-implicit", "rk4"):
            raise InputError(f'integrator must be "semi-implicit" or "rk4", got {integrator!r}')
        self.robot, self.dt, self.integrator = robot, positive("dt", dt), integrator
        self.contacts, self.time = _contacts(contacts), 0.0
        if isinstance(self.contacts, HardContacts) and integrator != "semi-implicit":
            raise InputError('hard contacts have impacts, which only integrator="semi-implicit" can step over')
        self._settings = np.array([self.dt, positive("max_rate", max_rate), positive("slow", slow)])
        self.resistance = Resistance.of(robot, self.dt, stops, friction, slow)
        self._forces: dict[str, Array] = {}
        self._anchors: Array | None = None
        self.reset()

    @property
    def terrain(self) -> dict[str, Array]:
        """What stands out of the level ground, as triangles: "vertices" (n, 3) [m] and "faces" (m, 3)."""
        return triangles(getattr(self.contacts, "ground", None))

    @property
    def q(self) -> Array:
        """Configuration (..., nq)."""
        return self._q

    @property
    def v(self) -> Array:
        """Velocity (..., nv)."""
        return self._v

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Go back to time 0, at q (..., nq) and v (..., nv), which broadcast; by default neutral and at rest."""
        robot = self.robot
        start = robot.neutral() if q is None else q
        rates = np.zeros(robot.nv) if v is None else numbers("v", v, robot.nv)
        self._q = robot.integrate(start, 0.0 * rates)  # checks q, and makes the batch that they share
        self._q[...] = start
        self._v = np.zeros((*self._q.shape[:-1], robot.nv))
        self._v[...] = rates
        self.time, self._anchors, self.contact_error = 0.0, None, 0.0
        self._forces = {}

    def step(self, tau: ArrayLike, wrenches: Wrenches | None = None, *, steps: int = 1) -> None:
        """Advance by `steps` times dt under constant torques (..., nv) and external wrenches; raises Diverged."""
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
        """Tell the wrench (..., 6) of the contacts on each frame over the last step, aligned reference."""
        return dict(self._forces)

    def _advance(self, tau: ArrayLike, wrenches: Wrenches | None, steps: int) -> None:
        resistance = self.resistance
        q, v, done = _core.integrate_dynamics(
            self.robot,
            self._q,
            self._v,
            tau,
            self._settings,
            resistance.rough,
            resistance.numbers.ravel(),
            resistance.plan,
            steps,
            self.integrator == "rk4",
            wrenches,
            None,
        )
        fewest = int(done[..., 0].min(initial=steps))
        if 0 < fewest < steps:  # all of a batch go as far as the first that runs away
            self._advance(tau, wrenches, fewest)
        elif fewest == steps:
            self._q, self._v = q, v
            self.time += steps * self.dt
        if fewest < steps:
            self._raise_diverged(done, fewest)

    def _raise_diverged(self, done: Array, fewest: int) -> None:
        rows = done.reshape(-1, 2)
        index = int(np.flatnonzero((rows[:, 0] == fewest) & (rows[:, 1] >= 0))[0])
        dof = int(rows[index, 1])
        rate = self._v.reshape(-1, self.robot.nv)[index, dof]
        where = "" if done.ndim == 1 else f"simulation {tuple(map(int, np.unravel_index(index, done.shape[:-1])))}: "
        reason = f"{where}its rate, {rate:.3g} before, left the range of {self._settings[1]:.3g} that max_rate allows"
        reason += "; a smaller dt, lower gains or softer contacts may help"
        raise Diverged(self.time, labels(self.robot).v[dof], reason)


def added(wrenches: Wrenches | None, more: Mapping[str, Array]) -> Mapping[str, ArrayLike]:
    """Add up two sets of wrenches."""
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
