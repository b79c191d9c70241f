"""What resists in the joints: damping, dry friction, and stops where the limits are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.compile import COORDINATES
from kinodyn.model.robot import Robot

FAR = 1e300  # stands for a limit that is not there: the core takes finite numbers only
MARGIN = 4.0  # a joint's inertia may be this much smaller than M_jj when others move along


@dataclass(frozen=True)
class Stops:
    """Stops of the joints: springs and dampers that begin at the limits and push only.

    Beyond its limit a joint feels -k x - d v with x how far it is beyond, never a pull. k and d are such that the
    joint alone, with the inertia M_jj that it has at the neutral configuration, swings with `frequency` [rad/s] and
    `damping_ratio`; so a joint that is pressed by the torque tau gives way by tau / (M_jj frequency^2).
    """

    frequency: float = 200.0
    damping_ratio: float = 1.0

    def __post_init__(self) -> None:
        for name in ("frequency", "damping_ratio"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise InputError(f"{name} of the stops must be a number above 0, got {value!r}")


@dataclass(frozen=True, eq=False)
class Resistance:
    """Friction and stops of a robot, as arrays by v index and as the core takes them."""

    friction: Array  # (nv,)
    stoppable: Array  # (nv,) speed that friction could take from a joint in one step
    slow: float
    stop_q: NDArray[np.intp]  # (k,) q index of each stop
    stop_v: NDArray[np.intp]  # (k,) v index
    numbers: Array  # (k, 4): lower, upper, stiffness, damping
    rough: Array  # friction and stoppable speed of those that have friction, as the core takes them
    plan: bytes

    @classmethod
    def of(cls, robot: Robot, dt: float, stops: Stops | None, friction: bool, slow: float) -> Resistance:
        """Collect what resists."""
        inertia = np.diag(dynamics.mass_matrix(robot, robot.neutral()))
        forces = robot.friction if friction else np.zeros(robot.nv)
        stoppable = np.where(inertia > 0, MARGIN * dt * forces / np.where(inertia > 0, inertia, 1.0), FAR)
        places = _limited(robot) if stops is not None else np.zeros((0, 2), dtype=np.intp)
        numbers = np.zeros((len(places), 4))
        if stops is not None:
            own = inertia[places[:, 1]]
            numbers[:, 0] = np.clip(robot.limits.lower[places[:, 0]], -FAR, FAR)
            numbers[:, 1] = np.clip(robot.limits.upper[places[:, 0]], -FAR, FAR)
            numbers[:, 2] = own * stops.frequency**2
            numbers[:, 3] = 2.0 * stops.damping_ratio * own * stops.frequency
        some = np.flatnonzero(forces)
        integers = [len(places), len(some), *places.ravel(), *some]
        plan = np.array(integers, dtype=np.int32).tobytes()
        rough = np.stack([forces, stoppable], axis=-1)[some].ravel()
        return cls(forces, stoppable, slow, places[:, 0], places[:, 1], numbers, rough, plan)

    def ahead(self, robot: Robot, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
        """Give force and inertia (..., nv) so that the step feels force - inertia * acceleration, as the core does."""
        speed = np.abs(v)
        slope = self.friction / np.maximum(speed, self.slow)
        force = -(robot.damping + slope) * v
        inertia = dt * (robot.damping + np.where(speed < self.stoppable, slope, 0.0))
        if len(self.numbers):
            rate = v[..., self.stop_v]
            position = q[..., self.stop_q] + dt * rate
            lower, upper, k, d = self.numbers.T
            below, above = k * (lower - position) - d * rate, k * (position - upper) + d * rate
            low = (position < lower) & (below > 0)
            high = (position > upper) & (above > 0)
            force[..., self.stop_v] += np.where(low, below, 0.0) - np.where(high, above, 0.0)
            inertia[..., self.stop_v] += np.where(low | high, dt * (d + dt * k), 0.0)
        return force, inertia


def _limited(robot: Robot) -> NDArray[np.intp]:
    """List (q index, v index) of the joints that have a limit."""
    places = [
        (joint.q.start, joint.v.start)
        for joint in robot.joints
        if joint.mimic is None
        and COORDINATES[joint.kind] == 1
        and np.isfinite([robot.limits.lower[joint.q.start], robot.limits.upper[joint.q.start]]).any()
    ]
    return np.array(places, dtype=np.intp).reshape(-1, 2)
