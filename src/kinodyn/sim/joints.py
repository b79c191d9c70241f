"""What resists in the joints: damping, dry friction, and stops where the limits are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn import dynamics
from kinodyn.compiling import COORDINATES
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.robot import Robot

FAR = 1e300  # stands for a limit that is not there: the core takes finite numbers only


@dataclass(frozen=True)
class Stops:
    """Stops of the joints: springs and dampers that begin at the limits and push only.

    Beyond its limit a joint feels -k x - d v with x how far it is beyond, never a pull. k and d are such that the
    joint alone, with the inertia M_jj that it has at the start of the run, swings with `frequency` [rad/s] and
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
    slow: float
    stop_q: Array  # (k,) q index of each stop
    stop_v: Array  # (k,) v index
    numbers: Array  # (k, 4): lower, upper, stiffness, damping
    plan: bytes

    @classmethod
    def of(cls, robot: Robot, q: Array, stops: Stops | None, friction: bool, slow: float) -> Resistance:
        """Collect what resists; q (..., nq), the start, gives the inertias for the stops."""
        rough = robot.friction if friction else np.zeros(robot.nv)
        places = _limited(robot) if stops is not None else np.zeros((0, 2), dtype=int)
        numbers = np.zeros((len(places), 4))
        if stops is not None and len(places):
            M = dynamics.mass_matrix(robot, q.reshape(-1, robot.nq)).mean(axis=0)
            inertia = np.diag(M)[places[:, 1]]
            numbers[:, 0] = np.clip(robot.limits.lower[places[:, 0]], -FAR, FAR)
            numbers[:, 1] = np.clip(robot.limits.upper[places[:, 0]], -FAR, FAR)
            numbers[:, 2] = inertia * stops.frequency**2
            numbers[:, 3] = 2.0 * stops.damping_ratio * inertia * stops.frequency
        with_friction = np.flatnonzero(rough)
        integers = [len(places), len(with_friction), *places.ravel(), *with_friction]
        plan = np.array(integers, dtype=np.int32).tobytes()
        return cls(rough, slow, places[:, 0], places[:, 1], numbers, plan)

    def ahead(self, robot: Robot, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
        """Give force and inertia (..., nv) so that the step feels force - inertia * acceleration, as the core does."""
        slope = self.friction / np.maximum(np.abs(v), self.slow)
        force, inertia = -(robot.damping + slope) * v, dt * (robot.damping + slope)
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


def _limited(robot: Robot) -> Array:
    """List (q index, v index) of the joints that have a limit."""
    places = [
        (joint.q.start, joint.v.start)
        for joint in robot.joints
        if joint.mimic is None
        and COORDINATES[joint.kind] == 1
        and np.isfinite([robot.limits.lower[joint.q.start], robot.limits.upper[joint.q.start]]).any()
    ]
    return np.array(places, dtype=int).reshape(-1, 2)
