"""Whole-body tracking of the walking references by inverse dynamics."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from kinodyn.arrays import Array
from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.control.result import ControlResult
from kinodyn.model.state import State
from kinodyn.tasks import ComTask, FrameTask, MomentumTask, PostureTask
from kinodyn.walking.biped import Biped
from kinodyn.walking.reference import FootReference
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.upper_body import UpperBody


class WholeBodyTracker:
    """The tasks and contacts of a walking robot, solved by `control.InverseDynamicsQP`.

    Tasks: height of the CoM and acceleration of the CoM along the ground, orientation of the trunk, pose of the swing
    foot, posture, angular momentum, and those of the upper body.
    """

    def __init__(self, body: Biped, settings: GaitSettings, dt: float, upper_body: UpperBody | None = None) -> None:
        self.body, gains, robot = body, settings.tracking, body.robot
        trunk = (0.0, 0.0, 0.0, *3 * [gains.trunk_weight])
        momentum = (0.0, 0.0, 0.0, *3 * [gains.momentum_weight])
        self._com = ComTask(np.zeros(3), weights=gains.com_weight, name="CoM")
        self._trunk = FrameTask(robot.joints[0].child, body.base, weights=trunk, name="trunk")
        posture = PostureTask(body.q, weights=gains.posture_weight)
        angular = MomentumTask(weights=momentum, name="angular momentum")
        self._swing = {
            side: FrameTask(foot.frame, foot.frame_pose(np.eye(4)), weights=gains.swing_weight, name=f"{side} swing")
            for side, foot in body.feet.items()
        }
        self._com.frequency, self._trunk.frequency = gains.com_frequency, gains.trunk_frequency
        posture.frequency, angular.frequency = gains.posture_frequency, gains.momentum_frequency
        for task in self._swing.values():
            task.frequency = gains.swing_frequency
        self._contacts = {side: foot.contact(settings.friction) for side, foot in body.feet.items()}
        tasks = [self._com, self._trunk, posture, angular, *self._swing.values()]
        self.qp = InverseDynamicsQP(robot, tasks, contacts=list(self._contacts.values()), dt=dt)
        if upper_body is not None:
            upper_body.add_to(self.qp)

    def track_com(self, position: Array, velocity: Array, acceleration: Array) -> None:
        """Set the reference of the CoM, (3,) each [m, m/s, m/s^2]."""
        self._com.track(position, velocity, acceleration)

    def track_trunk(self, heading: float, rate: float, acceleration: float) -> None:
        """Keep the trunk upright at a heading [rad, rad/s, rad/s^2]."""
        T, velocity, change = np.eye(4), np.zeros(6), np.zeros(6)
        T[:3, :3] = _rot_z(heading) @ self.body.base[:3, :3]
        velocity[5], change[5] = rate, acceleration
        self._trunk.track(T, velocity, change)

    def stand_on(self, side: str, max_force: float) -> None:
        """Use a foot as a contact with at most this normal force [N]."""
        contact = self.qp.contacts[self._contacts[side].name]
        contact.active, contact.maximum = True, max_force
        self._swing[side].enabled = False

    def swing(self, side: str, reference: FootReference) -> None:
        """Move a foot through the air."""
        self.qp.contacts[self._contacts[side].name].active = False
        self._swing[side].enabled = True
        pose = self.body.feet[side].frame_pose(reference.pose)
        self._swing[side].track(pose, reference.velocity, reference.acceleration)

    def solve(self, state: State) -> ControlResult:
        """Compute the torques."""
        return self.qp.solve(state)


def _rot_z(angle: float) -> Array:
    """Compute a rotation about z, faster than `spatial.rot_z` for one angle."""
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
