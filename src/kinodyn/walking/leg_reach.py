"""Swing feet within reach: a leg that would become straight shortens the motion of its foot, not the rest of the body.

Where the reference of a swing foot is farther from the hip than the leg is long, inverse dynamics would lower the whole
body to reach it, because the knee cannot extend further.
"""

from __future__ import annotations

from math import sqrt, tanh

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.knees import Knee
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.sim.common import cross

MIN_BEND = 0.14  # [rad] that a knee keeps from straight and from its limit
ROOM = (0.02, 0.05)  # of the longest leg, in which its extension is slowed down: least and most
MAX_DROP = 0.15  # of the longest leg, by which a body is lowered for its foot to reach the ground
ROOM_TIME = 0.05  # [s] of extension at the speed of the reference, that this room is for


class LegReach:
    """Reduces the reference of a swing foot to what its leg reaches.

    Up to `longest` - d the distance r from hip to ankle stays; beyond, it is `longest` - d + d tanh(1 + (r - `longest`)
    / d), which never exceeds `longest` and has a continuous derivative. The faster the leg extends, the larger is d: a
    knee that is almost straight turns fast. A leg that is lifted from the ground shortens, and keeps its motion.

    Parameters
    ----------
    robot
    knee
        The knee of the leg, as `balance.knees.find_knee` returns it.
    q
        Configuration (nq,) at which the leg is measured.

    Attributes
    ----------
    longest : float
        [m]
    """

    def __init__(self, robot: Robot, knee: Knee, q: Array) -> None:
        self.hip, self.ankle = knee.hip, knee.ankle
        if knee.joint.kind == "prismatic":
            straight = q.copy()
            straight[knee.joint.q] = knee.straight
            hip, ankle = (kinematics.pose(robot, straight, link)[:3, 3] for link in (knee.hip, knee.ankle))
            self.longest = float(np.linalg.norm(ankle - hip)) * float(np.cos(0.5 * MIN_BEND))  # as with equal halves
            return
        hip, middle, ankle = (
            kinematics.pose(robot, q, link)[:3, 3] for link in (knee.hip, knee.joint.child, knee.ankle)
        )
        thigh, shank = float(np.linalg.norm(middle - hip)), float(np.linalg.norm(ankle - middle))
        low, high = (float(bound[knee.joint.q.start]) for bound in (robot.limits.lower, robot.limits.upper))
        nearest = min(max(knee.straight, low), high)
        bend = MIN_BEND + abs(nearest - knee.straight)
        self.longest = sqrt(thigh**2 + shank**2 + 2.0 * thigh * shank * np.cos(bend))

    def missing_height(self, state: State, frame: str, pose: Array, shift: Array) -> float:
        """Compute by how much the hip has to be lower for the leg to reach a pose of the foot.

        Parameters
        ----------
        state
            Measured state: where the hip is.
        frame
            Frame of the foot.
        pose
            Of that frame (4, 4).
        shift
            By how much the hip will have moved by then (3,) [m].

        Returns
        -------
        float
            [m], at most 15 % of the leg; 0 within reach.
        """
        T, ankle, hip = state.pose(frame), state.pose(self.ankle)[:3, 3], state.pose(self.hip)[:3, 3]
        dx, dy, dz = (hip + shift - pose[:3, 3] - pose[:3, :3] @ (T[:3, :3].T @ (ankle - T[:3, 3]))).tolist()
        length = (1.0 - 0.5 * ROOM[0]) * self.longest  # up to which a slow foot follows its reference
        reach = sqrt(max(length**2 - dx * dx - dy * dy, 0.0))
        return float(min(max(dz - reach, 0.0), MAX_DROP * self.longest))

    def reduce(
        self, state: State, frame: str, pose: Array, velocity: Array, acceleration: Array
    ) -> tuple[Array, Array, Array]:
        """Reduce a reference of the foot.

        Parameters
        ----------
        state
            Measured state: where the hip is.
        frame
            Frame of the foot.
        pose, velocity, acceleration
            Reference of that frame: (4, 4), twist (6,) and its rate (6,) in world axes.

        Returns
        -------
        tuple of 3 arrays
            The same, moved along the line from hip to ankle; unchanged within reach.
        """
        T, ankle, hip = state.pose(frame), state.pose(self.ankle)[:3, 3], state.pose(self.hip)[:3, 3]
        arm = pose[:3, :3] @ (T[:3, :3].T @ (ankle - T[:3, 3]))
        leg = pose[:3, 3] + arm - hip
        r = sqrt(float(leg @ leg))
        if r <= (1.0 - ROOM[1]) * self.longest:
            return pose, velocity, acceleration
        n = leg / r
        hip_velocity = state.jacobian(self.hip)[:3] @ state.v
        speed = float(n @ (velocity[:3] + cross(velocity[3:], arm) - hip_velocity))
        room = min(max(ROOM_TIME * speed, ROOM[0] * self.longest), ROOM[1] * self.longest)
        excess = r - self.longest + room
        if excess <= 0.0:
            return pose, velocity, acceleration
        saturated = tanh(excess / room)
        slope = 1.0 - saturated**2  # of the reduced length over the length
        reduced_pose, reduced_velocity, reduced_acceleration = pose.copy(), velocity.copy(), acceleration.copy()
        reduced_pose[:3, 3] += (room * saturated - excess) * n
        reduced_velocity[:3] -= (1.0 - slope) * speed * n
        bending = 2.0 * saturated * slope / room * speed**2
        reduced_acceleration[:3] -= ((1.0 - slope) * float(n @ acceleration[:3]) + bending) * n
        return reduced_pose, reduced_velocity, reduced_acceleration
