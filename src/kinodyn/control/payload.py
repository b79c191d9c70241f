"""A load of which only bounds are known, and what the adaptive and the robust controller share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.control.checks import positive
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.pd import joint_inertia
from kinodyn.control.plant import apply
from kinodyn.control.protocol import Loop
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@dataclass(frozen=True)
class Payload:
    """A load on a link: at most `mass` [kg], all of it within `radius` [m] of the link's origin."""

    link: str
    mass: float
    radius: float

    def __post_init__(self) -> None:
        positive("mass of the payload", self.mass)
        positive("radius of the payload", self.radius)

    def bounds(self) -> tuple[Array, Array]:
        """Give lower and upper bounds (10,) of its parameters: mass, mass * com, inertia xx xy yy xz yz zz."""
        m, arm = self.mass, self.mass * self.radius
        turning = arm * self.radius
        upper = np.array([m, arm, arm, arm, turning, turning / 2, turning, turning / 2, turning / 2, turning])
        lower = -upper
        lower[[0, 4, 6, 9]] = 0.0
        return lower, upper

    def columns(self, robot: Robot) -> slice:
        """Find its ten columns in the regressor of a robot."""
        if self.link not in robot.parameter_links:
            raise unknown_name("moving link", self.link, robot.parameter_links)
        start = 10 * robot.parameter_links.index(self.link)
        return slice(start, start + 10)


class SlidingLoop(Loop):
    """A loop about s = e' + (K / D) e, whose model is linear in the inertial parameters.

    s is the rate by which the joints miss v_r = v_ref + (K / D) e. J.-J. E. Slotine and W. Li, "On the adaptive
    control of robot manipulators", 1987.
    """

    def __init__(
        self,
        robot: Robot,
        target: JointTarget,
        gains: Gains,
        payload: Payload,
        truth: Robot | None,
        torque_limits: ArrayLike | None,
    ) -> None:
        super().__init__(robot, torque_limits)
        if any(joint.kind in ("ball", "floating") for joint in robot.joints):
            raise InputError("adaptive and robust control need joints of a single axis and a fixed base")
        if not isinstance(payload, Payload):
            raise InputError(f"payload must be a control.Payload, got {type(payload).__name__}")
        self.reference = JointReference(robot, target)
        inertia = joint_inertia(robot, self.reference.at(0.0).place)
        self.stiffness, self.damping = require_gains(gains, "gains").against(inertia, "the joints")
        if not (self.damping > 0).all():
            raise InputError("the damping of the gains must be above 0")
        self.payload, self._columns = payload, payload.columns(robot)
        self.truth = _same_joints(robot, truth)

    def errors(self, t: float, state: State) -> tuple[Array, Array, Array, Array]:
        """Compute e, s, v_r and its rate a_r, each (..., nv)."""
        q_ref, v_ref, a_ref = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)
        slope = self.stiffness / self.damping
        v_r = v_ref + slope * error
        a_r = a_ref + slope * (v_ref - state.v)
        return error, v_r - state.v, v_r, a_r

    def model(self, state: State, v_r: Array, a_r: Array) -> tuple[Array, Array]:
        """Compute M a_r + C v_r + g of the robot without load (..., nv), and the regressor of the load (..., nv, 10).

        The Coriolis forces C(q, v) v_r are symmetric in v and v_r, hence a quarter of c(v + v_r) - c(v - v_r).
        """
        v, still = state.v, np.zeros_like(v_r)
        rates = np.stack([v + v_r, v - v_r, still])
        Y = dynamics.regressor(self.robot, state.q, rates, np.stack([still, still, a_r]))
        Y = 0.25 * (Y[0] - Y[1]) + Y[2]
        robot = self.robot
        tau = Y @ robot.inertial_parameters + robot.armature * a_r + robot.damping * v_r
        return tau, Y[..., self._columns]

    def kinetic(self, state: State, s: Array) -> Array:
        """Compute s^T M s / 2 (...) with the true mass matrix."""
        assert self.truth is not None
        M = dynamics.mass_matrix(self.truth, state.q)
        energy: Array = 0.5 * (s * apply(M, s)).sum(axis=-1)
        return energy


def _same_joints(robot: Robot, truth: Robot | None) -> Robot | None:
    if truth is not None and (not isinstance(truth, Robot) or truth.parameter_links != robot.parameter_links):
        raise InputError("truth must be a Robot with the same links")
    return truth
