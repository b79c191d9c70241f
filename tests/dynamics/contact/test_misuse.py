"""What is wrong with contacts is said: names, numbers, contradictions, robots without inertia."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link
from kinodyn.errors import InputError, SingularError, UnknownNameError
from kinodyn.model.robot import Robot

Contact, Loop = kd.contact.Contact, kd.contact.Loop


@pytest.fixture(scope="module")
def standing() -> tuple[Robot, Array, Array]:
    robot = kd.load("humanoid")
    return robot, robot.configuration("standing"), np.zeros(robot.nv)


def shifted(T: Array, z: float) -> Array:
    result = np.array(T)
    result[2, 3] += z
    return result


def test_unknown_frames_are_named_with_what_could_be_meant(standing: tuple[Robot, Array, Array]) -> None:
    robot, q, still = standing
    for wrong in (Contact("left_soul"), Loop("left_palm", "right_plam"), Loop("left_plam", "right_palm")):
        for call in (
            lambda wrong: kd.contact.dynamics(robot, q, still, still, [wrong]),
            lambda wrong: kd.contact.impact(robot, q, still, [wrong]),
            lambda wrong: kd.contact.jacobian(robot, q, [wrong]),
            lambda wrong: kd.contact.projected(robot, q, still, [wrong]),
            lambda wrong: kd.contact.constraint_error(robot, q, [wrong]),
            lambda wrong: kd.contact.project(robot, q, [wrong]),
        ):
            with pytest.raises(UnknownNameError, match="left_sole|right_palm|left_palm"):
                call(wrong)


def test_invalid_numbers_are_rejected(standing: tuple[Robot, Array, Array]) -> None:
    robot, q, still = standing
    foot = Contact("left_sole")
    for friction in (0.0, -0.5, np.nan, np.inf):
        with pytest.raises(InputError, match="friction of contact 'left_sole' must be a positive number"):
            Contact("left_sole", friction=friction)
    with pytest.raises(InputError, match="friction must be a number, got 'much'"):
        Contact("left_sole", friction="much")  # type: ignore[arg-type]
    for arguments in ({"point": [0, np.nan, 0]}, {"corners": [[0, 0]]}, {"corners": []}, {"normal": [0, 0, 0]}):
        with pytest.raises(InputError):
            Contact("left_sole", **arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ties frame 'left_palm' to itself"):
        Loop("left_palm", "left_palm")
    for stabilise in (-1.0, np.nan, (1.0, -1.0), (1.0, 2.0, 3.0)):
        with pytest.raises(InputError, match="stabilise"):
            kd.contact.dynamics(robot, q, still, still, [foot], stabilise=stabilise)  # type: ignore[arg-type]
    for restitution in (-0.1, 1.1, np.nan, [0.5, 2.0]):
        with pytest.raises(InputError, match="restitution must be from 0 to 1"):
            kd.contact.impact(robot, q, still, [foot], restitution=restitution)
    for name in ("q", "v", "tau"):
        state = {"q": q, "v": still, "tau": still}
        state[name] = state[name] * np.nan
        with pytest.raises(InputError, match=rf"{name}\[0\] is not finite"):
            kd.contact.dynamics(robot, **state, contacts=[foot])
    with pytest.raises(InputError, match="tolerance"):
        kd.contact.project(robot, q, [foot.satisfied_at(robot, q)], tolerance=0.0)


def test_projection_needs_a_target(standing: tuple[Robot, Array, Array]) -> None:
    robot, q, _ = standing
    for function in (kd.contact.constraint_error, kd.contact.project):
        with pytest.raises(InputError, match=r"'left_sole' has no target.*satisfied_at"):
            function(robot, q, [Contact("left_sole")])


def test_contradictory_targets_are_reported_with_their_residual(standing: tuple[Robot, Array, Array]) -> None:
    robot, q, still = standing
    T = kd.kinematics.pose(robot, q, "left_sole")
    up, down = (Contact("left_sole", target=shifted(T, z), name=f"at {z}") for z in (0.01, -0.03))
    a, forces = kd.contact.dynamics(robot, q, still, still, [up, down], stabilise=10.0)
    assert not forces.consistent and forces.rank == 6
    # each wants its own: 1 m/s^2 and -3 m/s^2; halfway misses both by 2
    np.testing.assert_allclose(kd.kinematics.jacobian(robot, q, "left_sole")[2] @ a, -1.0, atol=1e-9)
    np.testing.assert_allclose(forces.residual[[2, 8]], [2.0, -2.0], atol=1e-9)
    np.testing.assert_allclose(np.delete(forces.residual, [2, 8]), 0.0, atol=1e-9)
    _, forces = kd.contact.dynamics(robot, q, still, still, [up, down])  # without stabilisation they agree
    assert forces.consistent and forces.rank == 6
    found = kd.contact.project(robot, q, [up, down])
    assert not found.success and found.error == pytest.approx(0.02, rel=1e-3)


def test_points_of_a_turning_foot_cannot_all_stay(standing: tuple[Robot, Array, Array]) -> None:
    robot, q, still = standing
    patch = Contact("left_sole", corners=[[0.1, 0.05, 0], [0.1, -0.05, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0]])
    v = np.random.default_rng(0).normal(size=robot.nv)
    _, forces = kd.contact.dynamics(robot, np.stack([q, q]), np.stack([v, still]), still, [patch])
    np.testing.assert_array_equal(forces.rank, [6, 6])
    np.testing.assert_array_equal(forces.consistent, [False, True])


def test_a_frame_that_cannot_move_needs_no_force() -> None:
    arm = kd.load("panda", base="fixed")
    q, still = arm.neutral(), np.zeros(arm.nv)
    a, forces = kd.contact.dynamics(arm, q, still, still, [Contact(arm.frame_names[0])])
    assert forces.rank == 0 and forces.consistent
    np.testing.assert_array_equal(forces.vector, 0.0)
    np.testing.assert_allclose(a, kd.dynamics.forward(arm, q, still, still), rtol=1e-9, atol=1e-9)


def test_light_links_do_not_hide_heavy_ones() -> None:
    """Rows that turn a speck of dust are 1e12 times those of the trunk; both count."""
    dust = Inertia(1e-6, np.zeros(3), np.eye(3) * 1e-12)
    trunk = Inertia(50.0, np.zeros(3), np.eye(3))
    links = (Link("world"), Link("trunk", trunk), Link("dust", dust))
    joints = (
        Joint("base", "floating", "world", "trunk"),
        Joint("j", "continuous", "trunk", "dust", kd.spatial.pose([0.5, 0.0, 0.0])),
    )
    robot = Robot(Description("dusty", links, joints))
    q, still = robot.neutral(), np.zeros(robot.nv)
    a, forces = kd.contact.dynamics(robot, q, still, still, [Contact("trunk"), Contact("dust")])
    assert forces.rank == 7 and forces.consistent
    np.testing.assert_allclose(a, 0.0, atol=1e-9)
    assert forces.vector[[2, 8]].sum() == pytest.approx(robot.mass * 9.81, rel=1e-9)


def test_a_joint_without_inertia_is_named() -> None:
    links = (Link("ground"), Link("arm", Inertia(1.0, np.array([0.5, 0, 0]), np.eye(3) * 0.1)), Link("nothing"))
    joints = (Joint("j1", "continuous", "ground", "arm"), Joint("j2", "continuous", "arm", "nothing"))
    robot = Robot(Description("empty hand", links, joints))
    q, still = np.zeros((3, 2)), np.zeros(2)
    tip = Contact("arm", kind="point", point=[1.0, 0.0, 0.0])
    for call in (
        lambda: kd.contact.dynamics(robot, q, still, still, [tip]),
        lambda: kd.contact.impact(robot, q, still, [tip]),
        lambda: kd.contact.project(robot, q + 0.1, [tip.satisfied_at(robot, q[0])]),
    ):
        with pytest.raises(SingularError, match="nothing"):
            call()


def test_a_changed_contact_takes_effect(standing: tuple[Robot, Array, Array]) -> None:
    robot, q, _ = standing
    contact = Contact("left_sole", kind="point")
    before = kd.contact.jacobian(robot, q, [contact])
    contact.frame = "right_sole"
    after = kd.contact.jacobian(robot, q, [contact])
    np.testing.assert_allclose(after, kd.kinematics.jacobian(robot, q, "right_sole")[:3], atol=1e-14)
    assert not np.array_equal(before, after)
    contact.point[0] = 1.0
    assert contact.point.tolist() == [0.0, 0.0, 0.0]
