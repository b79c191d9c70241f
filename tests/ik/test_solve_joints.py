"""Inverse kinematics with chosen joints: equal to a robot whose other joints are welded, and nothing else moves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import DescriptionWarning, InputError, UnknownNameError
from kinodyn.identification import sub_robot
from kinodyn.ik.space import space_of
from kinodyn.model.robot import Robot

TALOS_ARM = tuple(f"arm_left_{k}_joint" for k in range(1, 8))
CASES = {
    "humanoid": ("left_hand", "left_arm"),
    "talos": ("gripper_left_base_link", TALOS_ARM),
    "panda": ("panda_link8", ("panda_joint2", "panda_joint4", "panda_joint5", "panda_joint7")),
}
METHODS = ("auto", "lm", "dls", "pinv", "newton", "transpose", "optimise")


def load(name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return kd.load(name)


def names_of(robot: Robot, joints: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(robot.description.chains[joints]) if isinstance(joints, str) else tuple(joints)


def coordinates(robot: Robot, names: Sequence[str]) -> Array:
    """List the q indices of joints."""
    return np.concatenate([np.arange(robot.nq)[joint.q] for joint in robot.joints if joint.name in names])


def start_of(robot: Robot) -> Array:
    """Return a start away from zero, with a base that stands anywhere in the world."""
    low, high = robot.sampling_range()
    q0 = 0.3 * low + 0.7 * high
    if robot.base == "floating":
        q0[:7] = 0.4, -0.2, 1.1, *(np.array([0.1, -0.2, 0.3, 0.9]) / np.sqrt(0.95))
    return q0


def reachable(robot: Robot, frame: str, names: Sequence[str], count: int) -> Array:
    """Draw poses that the named joints can reach from the start."""
    q, moving = np.tile(start_of(robot), (count, 1)), coordinates(robot, names)
    q[:, moving] = robot.random(count, seed=5)[:, moving]
    return kd.kinematics.pose(robot, q, frame)


def assert_others_kept(robot: Robot, q: Array, q0: Array, names: Sequence[str]) -> None:
    """Every bit of all other coordinates is that of the start."""
    others = np.setdiff1d(np.arange(robot.nq), coordinates(robot, names))
    assert q[..., others].tobytes() == np.broadcast_to(q0, q.shape)[..., others].tobytes()


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("name", CASES)
def test_solutions_are_those_of_the_welded_robot(name: str) -> None:
    robot, (frame, joints) = load(name), CASES[name]
    names, q0 = names_of(robot, joints), start_of(robot)
    welded, moving = sub_robot(robot, names, q0), coordinates(robot, names)
    T = reachable(robot, frame, names, 60)
    T[40:, :3, 3] += 0.15 * np.random.default_rng(1).normal(size=(20, 3))  # many of these are out of reach
    result = kd.ik.solve(robot, {frame: T}, q0, joints=joints)
    expected = kd.ik.solve(welded, {frame: T}, q0[moving])
    np.testing.assert_array_equal(result.status, expected.status)
    assert result.success[:40].all() and not result.success[40:].all()
    np.testing.assert_allclose(result.residual, expected.residual, atol=1e-5)
    same = np.abs(result.q[:, moving] - expected.q).max(axis=-1) < 1e-4
    assert same[result.success].mean() > 0.9  # the others are further solutions, found where rounding decides
    np.testing.assert_allclose(kd.kinematics.pose(robot, result.q, frame), result.T_reached[frame], atol=1e-12)
    assert_others_kept(robot, result.q, q0, names)
    for k in (0, 45):
        assert kd.ik.solve(robot, {frame: T[k]}, q0, joints=joints).status == expected.status[k]


@pytest.mark.parametrize("method", METHODS)
def test_no_method_moves_another_joint(method: str) -> None:
    robot, joints = load("humanoid"), ("torso_yaw", "left_shoulder_pitch", "left_elbow", "left_wrist_yaw")
    q0 = start_of(robot)
    q0[3:7] *= 1 + 4e-7  # within the tolerance of unit quaternions
    q0[coordinates(robot, ["head_yaw", "left_shoulder_roll"])] = 9.0  # beyond the limits, and none of our business
    q0[coordinates(robot, ["right_elbow", "left_wrist_pitch"])] = -0.0
    T = reachable(robot, "left_hand", joints, 6)
    T[3:, 2, 3] += 3.0
    for targets in (T, T[0], T[4]):
        result = kd.ik.solve(robot, {"left_hand": targets}, q0, joints=joints, method=method, restarts=6)  # type: ignore[arg-type]
        assert_others_kept(robot, result.q, q0, joints)
        assert not np.atleast_1d(result.success)[3:].any()


@pytest.mark.parametrize("prefer", ["nearest", "posture", "manipulability", "function"])
def test_no_preference_moves_another_joint(prefer: str) -> None:
    robot, q0 = load("humanoid"), start_of(load("humanoid"))
    names = (*robot.description.chains["left_arm"], "head_yaw")
    T = reachable(robot, "left_hand", names, 4)
    posture = robot.configuration("standing") if prefer == "posture" else None
    cost = (lambda q: (q * q).sum(axis=1)) if prefer == "function" else prefer
    plain = kd.ik.solve(robot, {"left_hand": T}, q0, joints=names)
    result = kd.ik.solve(robot, {"left_hand": T}, q0, joints=names, prefer=cost, posture=posture, restarts=4)
    assert result.success.all() and not np.array_equal(result.q, plain.q)
    assert_others_kept(robot, result.q, q0, names)


def test_a_preference_among_chosen_joints_is_that_of_the_welded_robot() -> None:
    robot, names = load("panda"), tuple(f"panda_joint{k}" for k in range(1, 7))
    q0 = start_of(robot)
    T = reachable(robot, "panda_link8", names, 10)
    options = {"position_only": True, "prefer": "manipulability", "restarts": 8}
    result = kd.ik.solve(robot, {"panda_link8": T}, q0, joints=names, **options)
    expected = kd.ik.solve(sub_robot(robot, names, q0), {"panda_link8": T}, q0[:6], **options)
    J = kd.kinematics.jacobian(robot, np.stack([result.q, np.c_[expected.q, result.q[:, 6:]]]), "panda_link8")
    ours, theirs = np.linalg.svd(J[..., :3, :6], compute_uv=False).prod(axis=-1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3)


def test_any_batch_of_starts_and_targets_broadcasts() -> None:
    robot, frame = load("humanoid"), "left_hand"
    q0 = np.tile(start_of(robot), (3, 1, 1))
    q0[:, 0, 0] += np.arange(3.0)  # the base stands elsewhere in each
    offset = np.eye(4)
    offset[0, 3] = -0.05
    T = kd.kinematics.pose(robot, q0, frame) @ np.stack([np.eye(4), offset])
    result = kd.ik.solve(robot, {frame: T}, q0, joints="left_arm")
    assert result.q.shape == (3, 2, robot.nq) and result.success[:, 0].all()
    assert_others_kept(robot, result.q, q0, robot.description.chains["left_arm"])
    one = kd.ik.solve(robot, {frame: T[2, 1]}, q0[2, 0], joints="left_arm")
    assert one.status == result.status[2, 1]


def test_joints_that_move_no_target_keep_their_position_after_restarts() -> None:
    robot = kd.load("humanoid", base="fixed")
    q0 = start_of(robot)
    T = kd.kinematics.pose(robot, robot.random(100, seed=3), "left_hand")
    names = (*robot.description.chains["torso"], *robot.description.chains["left_arm"])
    batch = kd.ik.solve(robot, {"left_hand": T}, q0)
    singles = np.stack([kd.ik.solve(robot, {"left_hand": one}, q0).q for one in T[:30]])
    assert_others_kept(robot, batch.q, q0, names)
    assert_others_kept(robot, singles, q0, names)


def test_naming_all_joints_is_the_default() -> None:
    robot, frame = load("humanoid"), "left_hand"
    T = kd.kinematics.pose(robot, robot.random(20, seed=2), frame)
    everything = kd.ik.solve(robot, {frame: T}, joints=[joint.name for joint in robot.joints])
    np.testing.assert_array_equal(everything.q, kd.ik.solve(robot, {frame: T}).q)


def test_naming_the_base_moves_only_the_base() -> None:
    robot = load("talos")
    q0, frame = start_of(robot), "gripper_left_base_link"
    T = kd.kinematics.pose(robot, robot.random(10, seed=2), frame)
    result = kd.ik.solve(robot, {frame: T}, q0, joints="root_joint")
    assert result.success.all()
    assert_others_kept(robot, result.q, q0, ["root_joint"])


def test_several_chains_and_joints_add_up() -> None:
    robot, chains = load("humanoid"), load("humanoid").description.chains
    frames = ("left_hand", "right_hand")
    both = space_of(robot, frames, ("left_arm", "torso_yaw", "right_arm"))
    listed = space_of(robot, frames, [*chains["left_arm"], *chains["right_arm"], *chains["torso"]])
    np.testing.assert_array_equal(both.dofs, listed.dofs)
    assert len(both.dofs) == 15


def test_the_dofs_are_those_with_a_column_in_the_jacobian(robot: Robot) -> None:
    q = robot.random(3, seed=1)
    for frame in robot.frame_names:
        J = np.abs(kd.kinematics.jacobian(robot, q, frame)).max(axis=(0, 1))
        found = np.zeros(robot.nv)
        found[space_of(robot, (frame,), None).dofs] = 1
        assert (found[J > 1e-9] == 1).all()  # a column may vanish for a frame on the axis of its joint


def test_followers_move_with_a_leader_that_is_named(every_kind: Robot) -> None:
    q0 = every_kind.random(seed=1)
    q = every_kind.random(seed=2)
    q[2:] = q0[2:]  # j0 and j1 move, and with them j5 and j6
    T = kd.kinematics.pose(every_kind, q, "l9")
    result = kd.ik.solve(every_kind, {"l9": T}, q0, joints=["j0", "j1"])
    assert result.success
    assert_others_kept(every_kind, result.q, q0, ["j0", "j1"])
    assert not kd.ik.solve(every_kind, {"l9": T}, q0, joints=["j2", "j8"]).success
    with pytest.raises(InputError, match="'j5' follows 'j0'; name 'j0', which moves both"):
        kd.ik.solve(every_kind, {"l9": T}, q0, joints=["j5"])


def test_joints_that_move_no_target_leave_it_unreachable() -> None:
    robot = load("humanoid")
    q0 = start_of(robot)
    T = kd.kinematics.pose(robot, q0, "left_hand")
    assert kd.ik.solve(robot, {"left_hand": T}, q0, joints="right_arm").success
    T[0, 3] += 1e-4
    for method in METHODS:
        found = kd.ik.solve(robot, {"left_hand": T}, q0, joints="right_arm", method=method)  # type: ignore[arg-type]
        assert found.status == "unreachable"
        assert found.q.tobytes() == q0.tobytes()
        assert found.residual[0] == pytest.approx(1e-4, abs=1e-9)
    assert kd.ik.solve(robot, {"left_hand": T}, q0, joints="right_arm", prefer="manipulability").status == "unreachable"


def test_a_target_beyond_the_limits_of_the_chosen_joints_has_the_status_limits() -> None:
    robot = load("humanoid")
    q0, elbow = robot.neutral(), robot.joint("left_elbow").q
    beyond = q0.copy()
    beyond[elbow] = robot.limits.upper[elbow] + 0.2
    T = kd.kinematics.pose(robot, beyond, "left_hand")
    found = kd.ik.solve(robot, {"left_hand": T}, q0, joints="left_elbow")
    assert found.status == "limits" and found.active_limits[elbow].all()
    assert kd.ik.solve(robot, {"left_hand": T}, q0, joints="left_elbow", limits=False).success


def test_joints_that_cannot_move_are_an_error() -> None:
    robot = load("humanoid")
    T, talos = np.eye(4), load("talos")
    weld = next(joint.name for joint in talos.description.joints if joint.kind == "fixed")
    with pytest.raises(UnknownNameError, match="unknown joint or chain 'left_elbo'; did you mean 'left_elbow'"):
        kd.ik.solve(robot, {"left_hand": T}, joints=["left_elbo"])
    with pytest.raises(UnknownNameError, match="did you mean 'left_arm'"):
        kd.ik.solve(robot, {"left_hand": T}, joints="left_armm")
    with pytest.raises(InputError, match="is fixed and cannot move"):
        kd.ik.solve(talos, {"gripper_left_base_link": T}, joints=[weld])
    for wrong in ([], 3, ["left_elbow", 2], [["left_elbow"]]):
        with pytest.raises(InputError, match="joints must be (names of joints|a string, a list of strings or None)"):
            kd.ik.solve(robot, {"left_hand": T}, joints=wrong)  # type: ignore[arg-type]
