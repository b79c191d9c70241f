"""An unknown payload within bounds, and the base class of the adaptive and the robust controller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import positive
from kinodyn.control.controller import TorqueController
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.pd import joint_inertia
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@check_types
@displayed
@dataclass(frozen=True)
class Payload:
    """Bounds of an unknown payload on a link.

    Attributes
    ----------
    link : str
        The link that carries it.
    mass : float
        Maximum mass [kg].
    radius : float
        All of it lies within this distance of the link's origin [m].
    """

    link: str
    mass: float
    radius: float

    def __post_init__(self) -> None:
        positive("mass of the payload", self.mass)
        positive("radius of the payload", self.radius)

    def bounds(self) -> tuple[Array, Array]:
        """Compute bounds of the inertial parameters.

        Returns
        -------
        lower, upper : (10,) array
            Of mass [kg], mass * CoM [kg m], inertia xx xy yy xz yz zz about the link's origin [kg m^2].
        """
        first = self.mass * self.radius
        second = first * self.radius
        moments = [second, second / 2, second, second / 2, second / 2, second]
        upper = np.array([self.mass, first, first, first, *moments])
        lower = -upper
        lower[[0, 4, 6, 9]] = 0.0
        return lower, upper

    @check_types
    def columns(self, robot: Robot) -> slice:
        """Return its ten columns in the regressor of a robot.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        slice
        """
        if self.link not in robot.parameter_links:
            raise unknown_name("moving link", self.link, robot.parameter_links)
        start = 10 * robot.parameter_links.index(self.link)
        return slice(start, start + 10)


class SlidingController(TorqueController):
    """Base class for control by the sliding variable s = e' + (K / D) e and a model linear in inertial parameters.

    s = v_r - v, with the reference velocity v_r = v_ref + (K / D) e. J.-J. E. Slotine and W. Li, "On the adaptive
    control of robot manipulators", 1987.
    """

    def __init__(
        self,
        robot: Robot,
        target: JointTarget,
        gains: Gains,
        payload: Payload,
        true_robot: Robot | None,
        torque_limits: ArrayLike | None,
    ) -> None:
        super().__init__(robot, torque_limits)
        if any(joint.kind in ("ball", "floating") for joint in robot.joints):
            raise InputError("adaptive and robust control need a fixed base and joints of one axis each")
        if not isinstance(payload, Payload):
            raise InputError(f"payload must be a control.Payload, got {type(payload).__name__}")
        self.reference = JointReference(robot, target)
        inertia = joint_inertia(robot, self.reference.at(0.0).position)
        self.stiffness, self.damping = require_gains(gains, "gains").for_inertia(inertia, "the joints")
        if not (self.damping > 0).all():
            raise InputError("the damping of the gains must be positive")
        self.payload, self._columns = payload, payload.columns(robot)
        self.true_robot = _check_true_robot(robot, true_robot)

    def errors(self, t: float, state: State) -> tuple[Array, Array, Array, Array]:
        """Compute the error e, s, v_r and its rate a_r, each (..., nv)."""
        q_ref, v_ref, a_ref = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)
        slope = self.stiffness / self.damping
        v_r = v_ref + slope * error
        a_r = a_ref + slope * (v_ref - state.v)
        return error, v_r - state.v, v_r, a_r

    def model(self, state: State, v_r: Array, a_r: Array) -> tuple[Array, Array]:
        """Compute M a_r + C v_r + g of the robot alone (..., nv), and the regressor of the payload (..., nv, 10).

        The Coriolis forces C(q, v) v_r are bilinear and symmetric in v and v_r: (c(v + v_r) - c(v - v_r)) / 4.
        """
        v, zero = state.v, np.zeros_like(v_r)
        rates = np.stack([v + v_r, v - v_r, zero])
        Y = dynamics.regressor(self.robot, state.q, rates, np.stack([zero, zero, a_r]))
        Y = 0.25 * (Y[0] - Y[1]) + Y[2]
        robot = self.robot
        tau = Y @ robot.inertial_parameters + robot.armature * a_r + robot.damping * v_r
        return tau, Y[..., self._columns]

    def kinetic(self, state: State, s: Array) -> Array:
        """Compute s^T M s / 2 (...) with the true mass matrix."""
        assert self.true_robot is not None
        M = dynamics.mass_matrix(self.true_robot, state.q)
        energy: Array = 0.5 * (s * matvec(M, s)).sum(axis=-1)
        return energy


def _check_true_robot(robot: Robot, true_robot: Robot | None) -> Robot | None:
    if true_robot is not None and (
        not isinstance(true_robot, Robot) or true_robot.parameter_links != robot.parameter_links
    ):
        raise InputError("true_robot must be a Robot with the same links as the model")
    return true_robot
