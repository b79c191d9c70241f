"""Feedback of the divergent component of motion (DCM): the acceleration of the CoM that balances the robot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.polygon import nearest
from kinodyn.model.state import State
from kinodyn.walking.biped import Biped
from kinodyn.walking.planner import Planner
from kinodyn.walking.reference import Reference

# Factor on the frequency of the filter of the CoM's height while steps change: a foot that lands far away reaches the
# ground only if the hips are lower by then.
RECOVERY_HEIGHT = 3.0


class CoMCommand(NamedTuple):
    """Command of the CoM for one tick.

    Attributes
    ----------
    position, velocity, acceleration : (3,) array
        Along the ground, where the CoM is measured; vertically, the reference [m, m/s, m/s^2].
    dcm, zmp : (2,) array
        Measured DCM, and ZMP within the feet that is demanded [m].
    """

    position: Array
    velocity: Array
    acceleration: Array
    dcm: Array
    zmp: Array


class CoMFeedback:
    """Moves the zero moment point (ZMP) within the feet by the error of the DCM, as in `balance.dcm_feedback`.

    Parameters
    ----------
    body, planner
    dt
        Control period [s].
    """

    def __init__(self, body: Biped, planner: Planner, dt: float) -> None:
        self.body, self.planner, self.settings, self.dt = body, planner, planner.settings, dt
        self._height = (self.body.com_height, 0.0)  # filtered reference: height and its rate

    @property
    def ground_height(self) -> float:
        """Filtered height of the ground under the feet [m]."""
        return self._height[0] - self.body.com_height

    def __call__(self, state: State, com_velocity: Array, reference: Reference, lower: float = 0.0) -> CoMCommand:
        """Compute the command of a tick.

        Parameters
        ----------
        state
        com_velocity : (3,)
            Filtered velocity of the CoM [m/s].
        reference
        lower
            By how much the CoM is to be lower than the reference [m].

        Returns
        -------
        CoMCommand
        """
        omega, (x, y, _), (vx, vy, _) = self.body.omega, state.com.tolist(), com_velocity.tolist()
        dcm = np.array([x + vx / omega, y + vy / omega])
        demanded = reference.zmp + (1.0 + self.settings.dcm_gain) * (dcm - reference.dcm)
        zmp = nearest(reference.phase.polygon, demanded)
        px, py = self._with_hip_strategy(dcm, zmp, reference).tolist()
        z, vz, az = self._filter_height(reference, lower)
        stiffness = omega**2  # of the pendulum: acceleration for each metre from the ZMP
        if self.planner.terrain is not None:
            stiffness = (self.body.weight / self.body.robot.mass + az) / (
                float(state.com[2]) - self._support_height(reference, zmp)
            )
            ratio = omega**2 / stiffness
            asked = np.array([x, y]) + ratio * (demanded - [x, y])
            px, py = self._with_hip_strategy(dcm, nearest(reference.phase.polygon, asked), reference).tolist()
        # along the ground the CoM is only accelerated, as the ZMP demands
        acceleration = np.array([stiffness * (x - px), stiffness * (y - py), az])
        return CoMCommand(np.array([x, y, z]), np.array([vx, vy, vz]), acceleration, dcm, zmp)

    def _support_height(self, reference: Reference, zmp: Array) -> float:
        """Return the height [m] of the ground at the ZMP, between the feet that stand."""
        feet = list(reference.phase.feet.values())
        height, first, last = feet[0].z, feet[0], feet[-1]
        if first is not last:
            between = last.position - first.position
            share = min(max(float((zmp - first.position) @ between) / max(float(between @ between), 1e-9), 0.0), 1.0)
            height += share * (last.z - first.z)
        return height + self.planner.ground.map_offset(reference.phase)

    def _with_hip_strategy(self, dcm: Array, zmp: Array, reference: Reference) -> Array:
        """Demand a ZMP beyond the feet while no planned step captures the robot: the trunk has to swing."""
        if self.planner.dcm_margin >= 0:
            return zmp
        if reference.phase.swing is None:
            missing = dcm - nearest(reference.phase.polygon, dcm)
        else:  # what the foot cannot reach is far ahead of it in every step; only the rest is the hips' part
            missing = self.planner.dcm_deficit
        distance = float(np.hypot(*missing))
        return zmp + missing * min(1.0, self.settings.hip_offset / max(distance, 1e-9))

    def _filter_height(self, reference: Reference, lower: float) -> tuple[float, float, float]:
        """Filter the height of the ground under the feet: height, velocity, acceleration of the CoM."""
        z, vz = self._height
        w = self.settings.tracking.height_frequency
        if self.planner.terrain is None and self.planner.recovering:
            w *= RECOVERY_HEIGHT
        target, rate, feedforward = (
            float(value[2]) for value in (reference.com, reference.com_velocity, reference.com_acceleration)
        )
        az = feedforward + w * w * (target - lower - z) + 2.0 * w * (rate - vz)
        self._height = (z + self.dt * vz, vz + self.dt * az)
        return z, vz, az
