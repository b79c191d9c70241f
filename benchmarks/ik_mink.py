"""mink with DAQP in the whole-body loop."""

from __future__ import annotations

import mink
import numpy as np

import mujoco_model
import pinocchio_model
from ik_scene import COM, DT, FEET, FOOT, HAND, HANDS, POSTURE, Scene
from setups import Array


class Mink:
    """mink's `solve_ik` with the feet as equality constraints, or as tasks with a large weight."""

    def __init__(self, scene: Scene, *, hard: bool) -> None:
        self.scene = scene
        robot, limits = scene.robot, scene.robot.limits
        self.model = mujoco_model.build(pinocchio_model.build(robot.description), (*FEET, *HANDS))
        for name in robot.joint_names:
            joint = self.model.joint(name)
            joint.range[:] = limits.lower[robot.joint(name).q][0], limits.upper[robot.joint(name).q][0]
            self.model.jnt_limited[joint.id] = True
        velocities = {name: float(limits.velocity[robot.joint(name).v][0]) for name in robot.joint_names}
        self.limits = [mink.ConfigurationLimit(self.model), mink.VelocityLimit(self.model, velocities)]
        self.start = scene.start.copy()
        self.start[3:7] = scene.start[[6, 3, 4, 5]]  # MuJoCo's quaternions are w first
        feet = [self.frame(foot, FOOT) for foot in FEET]
        hands = [self.frame(hand, HAND) for hand in HANDS]
        com = mink.ComTask(np.sqrt(COM))
        com.set_target(scene.com)
        posture = mink.PostureTask(self.model, np.sqrt(POSTURE))
        posture.set_target(self.start)
        self.tasks = [*hands, com, posture, *([] if hard else feet)]
        self.constraints = feet if hard else None
        self.configuration = mink.Configuration(self.model)
        self.reset()

    def frame(self, name: str, weight: float) -> mink.FrameTask:
        task = mink.FrameTask(name, "site", position_cost=np.sqrt(weight), orientation_cost=np.sqrt(weight))
        task.set_target(mink.SE3.from_matrix(self.scene.poses[name]))
        return task

    def reset(self) -> None:
        self.configuration.update(self.start)

    def step(self) -> None:
        v = mink.solve_ik(self.configuration, self.tasks, DT, "daqp", limits=self.limits, constraints=self.constraints)
        self.configuration.integrate_inplace(v, DT)

    def position(self) -> Array:
        q = np.array(self.configuration.q)
        q[3:7] = q[[4, 5, 6, 3]]
        return q
