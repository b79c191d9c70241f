"""Placo in the whole-body loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pinocchio as pin
import placo

from ik_scene import COM, DT, FEET, FOOT, HAND, HANDS, POSTURE, Scene
from kinodyn.description.types import Description
from kinodyn.description.urdf_writer import write_urdf
from setups import Array


class Placo:
    """Placo's solver with hard tasks for the feet, or with soft ones of a large weight."""

    def __init__(self, scene: Scene, *, hard: bool) -> None:
        self.scene = scene
        with TemporaryDirectory() as folder:
            path = Path(folder, "robot.urdf")
            write_urdf(without_shapes(scene.robot.description), path)
            self.robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
        self.solver = solver = placo.KinematicsSolver(self.robot)
        self.reset()
        solver.dt = DT
        solver.enable_joint_limits(True)
        solver.enable_velocity_limits(True)
        for foot in FEET:
            solver.add_frame_task(foot, scene.poses[foot]).configure(foot, "hard" if hard else "soft", FOOT, FOOT)
        for hand in HANDS:
            solver.add_frame_task(hand, scene.poses[hand]).configure(hand, "soft", HAND, HAND)
        solver.add_com_task(scene.com).configure("com", "soft", COM)
        posture = solver.add_joints_task()
        posture.set_joints(scene.joints())
        posture.configure("posture", "soft", POSTURE)

    def reset(self) -> None:
        T_world_base = pin.XYZQUATToSE3(self.scene.start[:7]).homogeneous
        self.robot.set_T_world_fbase(T_world_base)
        for name, position in self.scene.joints().items():
            self.robot.set_joint(name, position)
        self.robot.update_kinematics()

    def step(self) -> None:
        self.solver.solve(True)
        self.robot.update_kinematics()

    def position(self) -> Array:
        q: Array = self.scene.start.copy()
        q[:7] = pin.SE3ToXYZQUAT(pin.SE3(self.robot.get_T_world_fbase()))
        for name in self.scene.robot.joint_names:
            q[self.scene.robot.joint(name).q] = self.robot.get_joint(name)
        return q


def without_shapes(description: Description) -> Description:
    """Remove shapes, and the floating joint, which Placo adds itself."""
    free = next(joint for joint in description.joints if joint.kind == "floating")
    return replace(
        description,
        links=tuple(replace(link, visuals=(), collisions=()) for link in description.links if link.name != free.parent),
        joints=tuple(joint for joint in description.joints if joint is not free),
    )
