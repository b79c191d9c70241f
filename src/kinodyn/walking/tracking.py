"""Whole-body tracking of the walking references by inverse dynamics."""

from __future__ import annotations

from dataclasses import replace
from math import cos, sin

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.foot import Foot
from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.control.result import ControlResult
from kinodyn.dynamics.contact import Contact
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.spatial import rot_x, rot_y
from kinodyn.spatial.lie import exp_rotation_vector, log_rotation
from kinodyn.tasks import ComTask, FrameTask, MomentumTask, PostureTask
from kinodyn.walking.biped import Biped
from kinodyn.walking.leg_reach import LegReach
from kinodyn.walking.passive_joints import passive_joints, with_rigid_passive_joints
from kinodyn.walking.reference import FootReference
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.upper_body import UpperBody

SOLE_FRACTION = 0.96  # of the outline, which the centre of pressure does not leave: at its edges a light foot tips
EDGES = ("sole", "toe", "heel")  # of a foot, on which it may stand
KNEE_BRAKING = 200.0  # [rad/s^2] before the limits of a knee: that of a swing leg stops at more than the default
ANKLE_MARGIN = 0.06  # [rad] that the ankle of a swing foot keeps from its limits
Support = tuple[tuple[float, float], ...] | None


class WholeBodyTracker:
    """The tasks and contacts of a walking robot, solved by `control.InverseDynamicsQP`.

    Tasks: height of the CoM and acceleration of the CoM along the ground, orientation of the trunk, pose of the swing
    foot, posture, angular momentum, and those of the upper body.
    """

    def __init__(self, body: Biped, settings: GaitSettings, dt: float, upper_body: UpperBody | None = None) -> None:
        self.body, gains, robot = body, settings.tracking, body.robot
        T_world_trunk = body.T_world_trunk
        self._R_upright = T_world_trunk[:3, :3]
        trunk = (0.0, 0.0, 0.0, *3 * [gains.trunk_weight])
        momentum = (0.0, 0.0, 0.0, *3 * [gains.momentum_weight])
        swing = np.array([*3 * [gains.swing_weight], *3 * [gains.swing_rotation_weight]])
        com = (gains.com_weight, gains.com_weight, gains.height_weight)
        self._com = ComTask(np.zeros(3), weights=com, name="CoM")
        self._trunk = FrameTask(body.trunk, T_world_trunk, weights=trunk, name="trunk")
        self._posture = posture = PostureTask(body.q, weights=_posture_weights(robot, gains.posture_weight))
        angular = MomentumTask(weights=momentum, name="angular momentum")
        self._swing = {
            side: FrameTask(
                foot.frame, foot.frame_pose(np.eye(4)), weights=swing * foot.controlled, name=f"{side} swing"
            )
            for side, foot in body.feet.items()
        }
        self._com.frequency, self._trunk.frequency = gains.com_frequency, gains.trunk_frequency
        posture.frequency, angular.frequency = gains.posture_frequency, gains.momentum_frequency
        tilt = np.array([*3 * [0.0], *3 * [gains.heel_weight]])
        self._tilt = {
            side: FrameTask(foot.frame, foot.frame_pose(np.eye(4)), weights=tilt * foot.controlled, name=f"{side} heel")
            for side, foot in body.feet.items()
        }
        for task in self._swing.values():
            task.frequency = gains.swing_frequency
        for task in self._tilt.values():
            task.frequency = gains.heel_frequency
        self._friction, self._leg_weight, self._clear_edges = settings.friction, gains.leg_posture_weight, False
        self._ankles = {side: [_range(robot, joint) for joint in joints] for side, joints in body.ankles.items()}
        self._reach = {side: LegReach(robot, knee, body.q) for side, knee in body.knees.items()}
        self._contacts = {
            (side, edge): _contact(foot, edge, settings.friction) for side, foot in body.feet.items() for edge in EDGES
        }
        self._supports: dict[tuple[str, str], Support] = dict.fromkeys(self._contacts)
        tasks = [self._com, self._trunk, posture, angular, *self._swing.values(), *self._tilt.values()]
        braking = {knee.joint.name: KNEE_BRAKING for knee in body.knees.values()}
        model = with_rigid_passive_joints(robot)
        self.qp = InverseDynamicsQP(model, tasks, contacts=list(self._contacts.values()), dt=dt, braking=braking)
        if upper_body is not None:
            upper_body.add_to(self.qp)

    def prepare_for_terrain(self) -> None:
        """Leave the posture of the legs to feet, CoM and trunk, and keep inclined swing feet above edges.

        Over terrain legs are far from the posture of the stance: it would hold back the CoM all the time. Legs that
        leave a rotation of their foot free need it: nothing else holds the foot in that direction.
        """
        self._clear_edges = True
        if any(foot.free for foot in self.body.feet.values()):
            return
        weights = self._posture.row_weights(self.body.robot)
        for joint in self.body.leg_joints:
            weights[joint.v] = self._leg_weight
        self._posture.weights = weights

    def track_com(self, position: Array, velocity: Array, acceleration: Array) -> None:
        """Set the reference of the CoM, (3,) each [m, m/s, m/s^2]."""
        self._com.track(position, velocity, acceleration)

    def track_trunk(self, heading: float, rate: float, acceleration: float, angles: Array) -> None:
        """Keep the trunk at a heading [rad, rad/s, rad/s^2], and at roll, pitch and yaw (3,) relative to it [rad]."""
        roll, pitch, yaw = angles.tolist()
        T, velocity, change = np.eye(4), np.zeros(6), np.zeros(6)
        leaning = self._R_upright
        if roll or pitch:
            leaning = rot_y(pitch) @ rot_x(roll) @ leaning
        T[:3, :3] = _rot_z(heading + yaw) @ leaning
        velocity[5], change[5] = rate, acceleration
        self._trunk.track(T, velocity, change)

    def stand_on(self, side: str, max_force: float, edge: str = "sole", support: Support = None) -> None:
        """Use a foot as a contact with at most this normal force [N]: its sole, or the edge of its toe or heel.

        `support` is the part of the sole that the ground bears, as in `Footstep`.
        """
        if support != self._supports[side, edge]:
            self._supports[side, edge] = support
            self.qp.contacts[self._contacts[side, edge].name].reshape(self._corners(side, edge, support))
        for name in EDGES:
            contact = self.qp.contacts[self._contacts[side, name].name]
            contact.active = name == edge
            if contact.active:
                contact.bound(0.0, max_force)
        self._swing[side].enabled = self._tilt[side].enabled = False

    def roll(self, side: str, reference: FootReference, state: State) -> None:
        """Turn a foot that stands on an edge as its ankle needs it."""
        pose, velocity, acceleration, limited = self._within_ankle(side, reference, state, free=True)
        self._tilt[side].enabled = limited
        self._tilt[side].track(pose, velocity, acceleration)

    def _corners(self, side: str, edge: str, support: Support) -> Array:
        """Return the corners (n, 3) of a contact on a part of a sole."""
        foot = self.body.feet[side]
        borne = foot if support is None else replace(foot, corners=np.array(support))
        contact = _contact(borne, edge, self._friction)
        assert contact.corners is not None
        return contact.corners

    def swing(self, side: str, reference: FootReference, state: State) -> None:
        """Move a foot through the air, as far as its leg reaches and as its ankle can incline it."""
        for name in EDGES:
            self.qp.contacts[self._contacts[side, name].name].active = False
        self._swing[side].enabled, self._tilt[side].enabled = True, False
        pose, velocity, acceleration, _ = self._within_ankle(side, reference, state)
        frame = self.body.feet[side].frame
        self._swing[side].track(*self._reach[side].reduce(state, frame, pose, velocity, acceleration))

    def _within_ankle(
        self, side: str, reference: FootReference, state: State, *, free: bool = False
    ) -> tuple[Array, Array, Array, bool]:
        """Return pose, velocity and acceleration of a foot's frame that its ankle allows, and whether that limits them.

        Where a joint of the ankle would pass its limits, the foot inclines with the shank. A `free` foot keeps its
        orientation otherwise.
        """
        foot, velocity, acceleration = self.body.feet[side], reference.velocity, reference.acceleration
        R = state.pose(foot.frame)[:3, :3] @ foot.T_frame_sole[:3, :3]
        rates = state.jacobian(foot.frame)[3:] @ state.v
        limited, error = False, np.zeros(3) if free else log_rotation(reference.pose[:3, :3] @ R.T)
        if free:
            velocity, acceleration = np.concatenate([np.zeros(3), rates]), np.zeros(6)
        for joint, axis, low, high in self._ankles[side]:
            about = state.pose(joint.child)[:3, :3] @ axis
            q, turn = float(state.q[joint.q.start]), float(error @ about)
            excess = turn - min(max(turn, low - q), high - q)
            if excess:
                limited, error = True, error - excess * about
                still = float(rates @ about) - float(state.v[joint.v.start]) - float(velocity[3:] @ about)
                velocity = np.concatenate([velocity[:3], velocity[3:] + still * about])
                change = float(acceleration[3:] @ about)
                acceleration = np.concatenate([acceleration[:3], acceleration[3:] - change * about])
        T = reference.pose.copy()
        if limited or free:
            T[:3, :3] = exp_rotation_vector(error) @ R
        if limited and self._clear_edges:  # its lowest point stays as high as planned
            T[2, 3] += _lowest(foot, reference.pose) - _lowest(foot, T)
        return foot.frame_pose(T), velocity, acceleration, limited

    def solve(self, state: State) -> ControlResult:
        """Compute the torques."""
        return self.qp.solve(state)


def _range(robot: Robot, joint: JointInfo) -> tuple[JointInfo, Array, float, float]:
    """Return a joint, its axis (3,) in its link, and the range [rad] that a swing foot uses of it."""
    axis = next(written.axis for written in robot.description.joints if written.name == joint.name)
    low, high = float(robot.limits.lower[joint.q.start]), float(robot.limits.upper[joint.q.start])
    spare = min(ANKLE_MARGIN, 0.25 * (high - low))
    return joint, np.asarray(axis, dtype=float), low + spare, high - spare


def _posture_weights(robot: Robot, weight: float) -> Array | float:
    """Return the weights of a posture that joints without a motor do not serve."""
    passive = passive_joints(robot)
    if not passive:
        return weight
    weights = np.full(robot.nv, weight)
    weights[:6] = 0.0
    for joint in passive:
        weights[joint.v] = 0.0
    return weights


def _contact(foot: Foot, edge: str, friction: float) -> Contact:
    """Make the contact of a sole, or of the line that a foot rolls over when its heel or its toes have left the ground.

    The ends of the line are where the outline is 5 % of its length behind the tip, so that round toes have a width.
    """
    if edge == "sole":
        return foot.contact(friction, part=SOLE_FRACTION)
    x = foot.corners[:, 0]
    tip, other = (x.max(), x.min()) if edge == "toe" else (x.min(), x.max())
    chord = _width_at(foot.corners, tip + 0.05 * (other - tip))
    line = np.array([[tip, y, 0.0] for y in chord])
    points = line @ foot.T_frame_sole[:3, :3].T + foot.T_frame_sole[:3, 3]
    return Contact(foot.frame, corners=points, friction=friction, name=f"{foot.side} {edge}")


def _lowest(foot: Foot, T_world_sole: Array) -> float:
    """Return the height of the lowest point of a sole above its origin [m]."""
    return float((foot.corners @ T_world_sole[2, :2]).min())


def _width_at(outline: Array, x: float) -> tuple[float, float]:
    """Find the least and the largest y of a convex outline (n, 2) at x [m]."""
    following = np.roll(outline, -1, axis=0)
    crossing = (outline[:, 0] - x) * (following[:, 0] - x) <= 0
    a, b = outline[crossing], following[crossing]
    run = b[:, 0] - a[:, 0]
    share = np.divide(x - a[:, 0], run, out=np.zeros(len(a)), where=np.abs(run) > 1e-12)
    y = a[:, 1] + share * (b[:, 1] - a[:, 1])
    return float(y.min()), float(y.max())


def _rot_z(angle: float) -> Array:
    """Compute a rotation about z, faster than `spatial.rot_z` for one angle."""
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
