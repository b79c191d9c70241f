"""SDF against Drake, where it is installed: poses and dynamics of the same text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description import parse_sdf

from .sdf_texts import SdfText
from .test_sdf import random_tree

plant_module = pytest.importorskip("pydrake.multibody.plant")


def drake(text: str) -> Any:
    from pydrake.multibody.parsing import Parser

    plant = plant_module.MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    return plant


def scalar_joints(seed: int) -> str:
    """Return a fixed-base tree without ball joints and mimics, whose coordinates both libraries share."""
    given = random_tree(2 * seed)
    joints = [
        replace(joint, mimic=None, kind="fixed" if joint.kind == "ball" else joint.kind) for joint in given.joints
    ]
    limited = [replace(joint, lower=-1.5, upper=2.0) if joint.kind == "revolute" else joint for joint in joints]
    return SdfText(replace(given, joints=tuple(limited)), seed).text


@pytest.mark.parametrize("seed", range(6))
def test_drake_reads_the_same_robot(seed: int) -> None:
    text = scalar_joints(seed)
    robot, plant = kd.Robot(parse_sdf(text)), drake(text)
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(seed)
    for q in robot.random(5, seed=seed):
        v, a = rng.normal(size=(2, robot.nv))
        order = [plant.GetJointByName(name).position_start() for name in robot.joint_names]
        theirs = np.zeros((3, robot.nv))
        theirs[:, order] = q, v, a
        plant.SetPositions(context, theirs[0])
        plant.SetVelocities(context, theirs[1])
        for frame in robot.description.frames:
            T = plant.GetFrameByName(frame.name).CalcPoseInWorld(context).GetAsMatrix4()
            np.testing.assert_allclose(kd.kinematics.pose(robot, q, frame.name), T, atol=1e-9)
        tau = inverse_dynamics(plant, context, theirs[2])[order]
        np.testing.assert_allclose(kd.dynamics.inverse(robot, q, v, a), tau, atol=1e-9 * max(1.0, np.abs(tau).max()))


def inverse_dynamics(plant: Any, context: Any, a: np.ndarray) -> np.ndarray:
    """Return the torques of the joints; gravity and damping are forces to Drake."""
    from pydrake.multibody.tree import MultibodyForces

    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    return np.asarray(plant.CalcInverseDynamics(context, a, forces))
