"""Passive joint forces: damping, Coulomb friction, and stops at the position limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.display import displayed
from kinodyn.layouts import layout
from kinodyn.model.compile import COORDINATES
from kinodyn.model.robot import Robot

NO_LIMIT = 1e300  # the core takes finite numbers only
INERTIA_MARGIN = 4.0  # the effective inertia of a joint may be this much smaller than M_jj when others move along


@check_types
@displayed
@dataclass(frozen=True)
class JointStops:
    """Spring-damper stops at the joint position limits, which only push.

    A joint that is beyond its limit by x feels -k x - d v. k and d give the joint alone, with its inertia M_jj at the
    neutral configuration, the natural frequency and damping ratio below; a torque tau against the stop displaces it by
    tau / (M_jj frequency^2).

    Attributes
    ----------
    frequency : float
        Natural frequency [rad/s].
    damping_ratio : float
        1 is critically damped.
    """

    frequency: float = 200.0
    damping_ratio: float = 1.0

    def __post_init__(self) -> None:
        for name in ("frequency", "damping_ratio"):
            value = getattr(self, name)
            positive(f"{name} of the joint stops", value)


@dataclass(frozen=True, eq=False)
class Resistance:
    """Friction and stops of a robot, as arrays by v index and in the layout of the core."""

    friction: Array  # (nv,)
    stoppable: Array  # (nv,) speed that friction can remove from a joint in one step
    slow: float  # speed below which friction is viscous
    stop_joints: np.ndarray  # (k,) with iq and iv, the q and v index of each joint with stops
    stops: np.ndarray  # (k,) with lower, upper, stiffness, damping
    friction_joints: np.ndarray  # (m,) with iv, the v index of each joint with friction
    friction_laws: np.ndarray  # (m,) with force, stopping_speed

    @classmethod
    def from_robot(cls, robot: Robot, dt: float, stops: JointStops | None, friction: bool, slow: float) -> Resistance:
        """Collect the passive joint forces of a robot."""
        inertia = np.diag(dynamics.mass_matrix(robot, robot.neutral()))
        forces = robot.friction if friction else np.zeros(robot.nv)
        stoppable = np.where(inertia > 0, INERTIA_MARGIN * dt * forces / np.where(inertia > 0, inertia, 1.0), NO_LIMIT)
        stop_joints = np.array(_limited(robot) if stops is not None else [], dtype=layout("joint_stop"))
        laws = np.zeros(len(stop_joints), dtype=layout("joint_stop_law"))
        if stops is not None:
            iq, own = stop_joints["iq"], inertia[stop_joints["iv"]]
            laws["lower"] = np.clip(robot.limits.lower[iq], -NO_LIMIT, NO_LIMIT)
            laws["upper"] = np.clip(robot.limits.upper[iq], -NO_LIMIT, NO_LIMIT)
            laws["stiffness"] = own * stops.frequency**2
            laws["damping"] = 2.0 * stops.damping_ratio * own * stops.frequency
        rough = np.flatnonzero(forces)
        friction_joints = np.zeros(len(rough), dtype=layout("joint_friction"))
        friction_joints["iv"] = rough
        friction_laws = np.zeros(len(rough), dtype=layout("joint_friction_law"))
        friction_laws["force"], friction_laws["stopping_speed"] = forces[rough], stoppable[rough]
        return cls(
            friction=forces,
            stoppable=stoppable,
            slow=slow,
            stop_joints=stop_joints,
            stops=laws,
            friction_joints=friction_joints,
            friction_laws=friction_laws,
        )

    @cached_property
    def _stop_columns(self) -> tuple[Array, ...]:
        """Contiguous columns of the stops: v indices, q indices, bounds, stiffness, damping."""
        joints = [np.ascontiguousarray(self.stop_joints[name]) for name in ("iv", "iq")]
        return *joints, *(np.ascontiguousarray(self.stops[name]) for name in ("lower", "upper", "stiffness", "damping"))

    @cached_property
    def stop_numbers(self) -> Array:
        """`stops` as one row of numbers, a view."""
        return self.stops.view(float)

    @cached_property
    def friction_numbers(self) -> Array:
        """`friction_laws` as one row of numbers, a view."""
        return self.friction_laws.view(float)

    def implicit(self, robot: Robot, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
        """Linearise at the end of the step, as the core does: force and inertia (..., nv) of force - inertia * a."""
        speed = np.abs(v)
        slope = self.friction / np.maximum(speed, self.slow)
        force = -(robot.damping + slope) * v
        inertia = dt * (robot.damping + np.where(speed < self.stoppable, slope, 0.0))
        if len(self.stops):
            iv, iq, lower, upper, k, d = self._stop_columns
            rate = v[..., iv]
            position = q[..., iq] + dt * rate
            if not ((position < lower) | (position > upper)).any():
                return force, inertia
            below, above = k * (lower - position) - d * rate, k * (position - upper) + d * rate
            low = (position < lower) & (below > 0)
            high = (position > upper) & (above > 0)
            force[..., iv] += np.where(low, below, 0.0) - np.where(high, above, 0.0)
            inertia[..., iv] += np.where(low | high, dt * (d + dt * k), 0.0)
        return force, inertia


def _limited(robot: Robot) -> list[tuple[int, int]]:
    """List (q index, v index) of the joints with a position limit."""
    return [
        (joint.q.start, joint.v.start)
        for joint in robot.joints
        if joint.mimic is None
        and COORDINATES[joint.kind] == 1
        and np.isfinite([robot.limits.lower[joint.q.start], robot.limits.upper[joint.q.start]]).any()
    ]
