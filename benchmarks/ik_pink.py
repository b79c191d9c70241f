"""Pink with DAQP in the whole-body loop."""

from __future__ import annotations

import numpy as np
import pink
import pinocchio as pin

import pinocchio_model
from ik_scene import COM, DT, FEET, FOOT, HAND, HANDS, POSTURE, Scene
from setups import Array

NO_LIMIT = 1e20  # Pink's value for infinity


class Pink:
    """Pink's `solve_ik` with the feet as equality constraints, or as tasks with a large weight."""

    def __init__(self, scene: Scene, *, hard: bool) -> None:
        self.scene = scene
        self.model = pinocchio_model.build(scene.robot.description)
        limits = scene.robot.limits
        self.model.lowerPositionLimit = np.maximum(limits.lower, -NO_LIMIT)
        self.model.upperPositionLimit = np.minimum(limits.upper, NO_LIMIT)
        self.model.velocityLimit = np.minimum(limits.velocity, NO_LIMIT)
        self.data = self.model.createData()
        feet = [self.frame(foot, FOOT) for foot in FEET]
        hands = [self.frame(hand, HAND) for hand in HANDS]
        com = pink.tasks.ComTask(np.sqrt(COM))
        com.set_target(scene.com)
        posture = pink.tasks.PostureTask(np.sqrt(POSTURE))
        posture.set_target(scene.start)
        self.tasks = [*hands, com, posture, *([] if hard else feet)]
        self.constraints = feet if hard else None
        self.reset()

    def frame(self, name: str, weight: float) -> pink.tasks.FrameTask:
        task = pink.tasks.FrameTask(name, position_cost=np.sqrt(weight), orientation_cost=np.sqrt(weight))
        task.set_target(pin.SE3(self.scene.poses[name]))
        return task

    def reset(self) -> None:
        self.configuration = pink.Configuration(self.model, self.data, self.scene.start.copy())

    def step(self) -> None:
        v = pink.solve_ik(
            self.configuration, self.tasks, DT, solver="daqp", constraints=self.constraints, safety_break=False
        )
        self.configuration.integrate_inplace(v, DT)

    def position(self) -> Array:
        return np.array(self.configuration.q)
