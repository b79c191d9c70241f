"""The kinematic Hessian: the derivative of the Jacobian, on every robot of the zoo; Pinocchio and robotics-toolbox."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest

import kinodyn as kd
from kinodyn.arrays import Array, Reference
from kinodyn.model.robot import Robot

from ..laws import Close, Draw, N, Rate, frames

K = kd.kinematics
REFERENCES: tuple[Reference, ...] = ("local_world_aligned", "local", "world")


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_hessian_times_v_is_the_rate_of_the_jacobian(
    robot: Robot, states: Draw, assert_close: Close, reference: Reference
) -> None:
    q, v, _, _ = states(robot, N)
    for frame in frames(robot):
        H = K.hessian(robot, q, frame, reference=reference)
        assert_close(np.einsum("nijk,nk->nij", H, v), K.jacobian_dot(robot, q, v, frame, reference=reference), 1e-12)


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_last_axis_of_the_hessian_is_that_of_the_derivative(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate, reference: Reference
) -> None:
    q, _, _, _ = states(robot, N)
    frame = robot.frame_names[-1]
    H = K.hessian(robot, q, frame, reference=reference)
    for k, step in enumerate(np.eye(robot.nv)):
        dJ = rate(lambda t, e=step: K.jacobian(robot, robot.integrate(q, t * e), frame, reference=reference))
        assert_close(H[..., k], dJ, 1e-8)


PINOCCHIO = {"local_world_aligned": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL, "world": pin.WORLD}


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize(
    ("name", "base"), [("ur5_robot", "fixed"), ("kinova", "fixed"), ("talos", "fixed"), ("talos", "floating")]
)
def test_the_hessian_is_that_of_pinocchio(name: str, base: str, reference: Reference, assert_close: Close) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name, base=base)
    path = str(robot.description.source)
    model = pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    data = model.createData()
    converter = kd.convert.pinocchio(robot, model)
    joint = model.njoints - 1
    link = next(frame.name for frame in model.frames if frame.parentJoint == joint and is_body_of_joint(frame))
    for q in robot.random(5, seed=1):
        pin.computeJointKinematicHessians(model, data, converter.q_to(q))
        given = pin.getJointKinematicHessian(model, data, joint, PINOCCHIO[reference])
        expected = given.ravel().reshape(given.shape, order="F")  # its memory is in the order of Fortran
        B = converter.v_to(q, np.eye(robot.nv)).T
        H = K.hessian(robot, q, link, reference=reference)
        assert_close(H, np.einsum("ijk,jl,km->ilm", expected, B, B), 1e-13)


def is_body_of_joint(frame: pin.Frame) -> bool:
    """Return whether the frame is that of the link that a joint moves."""
    return bool(frame.type == pin.FrameType.BODY and frame.placement.isIdentity(1e-12))


def hessian_of_a_chain(J: Array) -> Array:
    """Compute the Hessian of a chain from its Jacobian, with the axis of the derivative first.

    J. Haviland and P. Corke, "Manipulator differential kinematics, part 2", 2023.
    """
    n = J.shape[1]
    H = np.zeros((n, 6, n))
    for k in range(n):
        for j in range(k, n):
            H[k, :3, j] = H[j, :3, k] = np.cross(J[3:, k], J[:3, j])
            H[k, 3:, j] = np.cross(J[3:, k], J[3:, j])
    return H


@pytest.mark.parametrize("name", ["puma560", "scara"])
def test_the_hessian_of_a_chain_follows_from_its_jacobian(name: str, assert_close: Close) -> None:
    robot = kd.load(name)
    frame = robot.frame_names[-1]
    for q in robot.random(5):
        H = np.moveaxis(K.hessian(robot, q, frame), -1, -3)
        assert_close(H, hessian_of_a_chain(K.jacobian(robot, q, frame)), 1e-13)


def test_the_hessian_is_that_of_robotics_toolbox(assert_close: Close) -> None:
    toolbox = pytest.importorskip("roboticstoolbox")
    theirs = toolbox.models.DH.Puma560()
    links = [kd.DH(a=link.a, d=link.d, alpha=link.alpha) for link in theirs.links]
    robot = kd.from_dh(links)
    for q in robot.random(5):
        H = np.moveaxis(K.hessian(robot, q, robot.frame_names[-1]), -1, -3)
        assert_close(H, theirs.hessian0(q), 1e-12)
