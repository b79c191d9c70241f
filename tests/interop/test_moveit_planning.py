"""Requests of MoveIt as planning problems: constraints along the path and goals of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.interop import moveit
from kinodyn.spatial import as_euler, as_quaternion, log3

ROBOT = kd.load("panda")
START = np.array([0.9, -0.2, 0, -2, 0, 1.8, 0.8])
GOAL = np.array([-0.9, -0.2, 0, -2, 0, 1.8, 0.8])
HAND = "panda_hand_tcp"
T_START = kd.kinematics.pose(ROBOT, START, HAND)
BOX, SPHERE, CYLINDER, CONE = 1, 2, 3, 4


def joints(q: Array, tolerance: float = 0.01) -> dict[str, Any]:
    names = ROBOT.joint_names
    tolerances = {"tolerance_above": tolerance, "tolerance_below": tolerance}
    return {
        "joint_constraints": [
            {"joint_name": name, "position": float(value), **tolerances} for name, value in zip(names, q, strict=True)
        ]
    }


def position(kind: int, size: list[float], p: Array, offset: tuple[float, ...] = (0, 0, 0)) -> dict[str, Any]:
    region = {
        "primitives": [{"type": kind, "dimensions": size}],
        "primitive_poses": [{"position": [float(x) for x in p], "orientation": [0, 0, 0, 1]}],
    }
    return {"link_name": HAND, "target_point_offset": list(offset), "constraint_region": region}


def orientation(R: Array, tolerance: tuple[float, float, float], kind: int = 0) -> dict[str, Any]:
    names = [f"absolute_{axis}_axis_tolerance" for axis in "xyz"]
    quaternion = [float(x) for x in as_quaternion(R)]
    tolerances = dict(zip(names, tolerance, strict=True))
    return {"link_name": HAND, "orientation": quaternion, "parameterization": kind, **tolerances}


def planned(goals: list[dict[str, Any]], path: dict[str, Any] | None = None, **options: Any) -> kd.planning.Plan:
    state = {"joint_state": {"name": list(ROBOT.joint_names), "position": START.tolist()}}
    request = {"start_state": state, "goal_constraints": goals, "path_constraints": path or {}}
    scene, asked = moveit.read({}, request, ROBOT)
    return moveit.plan(scene, asked, ROBOT, time_budget=5.0, **options)


def along(found: kd.planning.Plan) -> Array:
    """Return the poses of the hand all along a plan."""
    assert found.success, found
    s = np.linspace(0.0, 1.0, 50)
    q = np.concatenate([ROBOT.interpolate(a, b, s) for a, b in zip(found.path, found.path[1:], strict=False)])
    return kd.kinematics.pose(ROBOT, q, HAND)


@pytest.mark.parametrize(("kind", "errors"), [(0, lambda R: as_euler(R, "XYZ")), (1, log3)])
def test_orientation_constraints_bound_their_own_errors(kind: int, errors: Any) -> None:
    R, tolerance = T_START[:3, :3], (0.08, 0.3, 3.2)
    T = along(planned([joints(GOAL)], {"orientation_constraints": [orientation(R, tolerance, kind)]}))
    error = np.abs(errors(R.T @ T[:, :3, :3]))
    assert (error[:, 0] <= 0.08 + 1e-9).all() and (error[:, 1] <= 0.3 + 1e-9).all()
    assert error[:, 2].max() > 1.0  # about z it turns freely


@pytest.mark.parametrize(
    ("kind", "size"), [(BOX, [0.8, 1.6, 0.02]), (SPHERE, [0.62]), (CYLINDER, [0.01, 0.8])], ids=["box", "ball", "rod"]
)
def test_a_point_stays_in_a_region(kind: int, size: list[float]) -> None:
    offset = (0.0, 0.0, 0.05)
    first, last = (kd.kinematics.pose(ROBOT, q, HAND) @ [*offset, 1.0] for q in (START, GOAL))
    middle = 0.5 * (first + last)[:3]
    if kind == CYLINDER:  # [height, radius]: a disc around the axis of the base
        middle = np.array([0.0, 0.0, middle[2]])
    T = along(planned([joints(GOAL)], {"position_constraints": [position(kind, size, middle, offset)]}))
    x = T[:, :3, :3] @ offset + T[:, :3, 3] - middle
    if kind == BOX:
        assert (np.abs(x) <= 0.5 * np.array(size) + 1e-9).all()
    elif kind == SPHERE:
        assert (np.linalg.norm(x, axis=1) <= size[0] + 1e-9).all()
    else:
        assert (np.abs(x[:, 2]) <= 0.5 * size[0] + 1e-9).all() and (np.linalg.norm(x[:, :2], axis=1) <= size[1]).all()


def test_a_joint_stays_in_its_range_and_a_goal_beyond_it_is_named() -> None:
    narrow = {"joint_name": "panda_joint4", "position": -2.0, "tolerance_above": 0.05, "tolerance_below": 0.05}
    found = planned([joints(GOAL)], {"joint_constraints": [narrow]})
    assert found.success and np.abs(found.path[:, 3] + 2.0).max() <= 0.05 + 1e-6
    beyond = planned([joints(GOAL + [0, 0, 0, 0.5, 0, 0, 0])], {"joint_constraints": [narrow]})
    assert beyond.status == "goal_violates_constraint" and "panda_joint4" in beyond.message


def test_goals_of_every_kind_are_reached_within_their_tolerances() -> None:
    target = kd.kinematics.pose(ROBOT, GOAL, HAND)
    ball, turned = position(SPHERE, [0.02], target[:3, 3]), orientation(target[:3, :3], (0.05, 0.05, 3.2))
    joint = {"joint_name": "panda_joint1", "position": -0.7, "tolerance_above": 0.1, "tolerance_below": 0.1}
    for goal in (
        {"position_constraints": [ball]},
        {"orientation_constraints": [turned]},
        {"position_constraints": [ball], "orientation_constraints": [turned]},
        {"position_constraints": [ball], "joint_constraints": [joint]},
        {"position_constraints": [ball, position(BOX, [0.01, 1.0, 1.0], target[:3, 3])]},
    ):
        found = planned([goal])
        assert found.success, found
        T = kd.kinematics.pose(ROBOT, found.path[-1], HAND)
        if "position_constraints" in goal:
            assert np.linalg.norm(T[:3, 3] - target[:3, 3]) <= 0.02 + 1e-6
        if len(goal.get("position_constraints", [])) > 1:
            assert abs(T[0, 3] - target[0, 3]) <= 0.005 + 1e-6
        if "orientation_constraints" in goal:
            assert (np.abs(as_euler(target[:3, :3].T @ T[:3, :3], "XYZ"))[:2] <= 0.05 + 1e-6).all()
        if "joint_constraints" in goal:
            assert abs(found.path[-1, 0] + 0.7) <= 0.1 + 1e-6


def test_goals_of_different_kinds_are_alternatives() -> None:
    far = position(SPHERE, [0.01], np.array([5.0, 0.0, 0.0]))
    found = planned([{"position_constraints": [far]}, joints(GOAL)])
    assert found.success
    np.testing.assert_allclose(found.path[-1], GOAL, atol=1e-6)


def test_what_cannot_be_expressed_is_refused_by_name() -> None:
    ball = position(SPHERE, [0.5], T_START[:3, 3])
    region = ball["constraint_region"]
    twice = {**ball, "constraint_region": {name: 2 * rows for name, rows in region.items()}}
    with pytest.raises(kd.InputError, match="path_constraints: position_constraints .* have 2 regions"):
        planned([joints(GOAL)], {"position_constraints": [twice]})
    with pytest.raises(kd.InputError, match="no configuration satisfies the goal constraints"):
        planned([{"position_constraints": [position(SPHERE, [0.01], np.array([5.0, 0.0, 0.0]))]}])


def test_a_goal_of_a_joint_that_the_group_does_not_move_is_an_error() -> None:
    _, request = moveit.read({}, {"group_name": "panda_joint1", "goal_constraints": [joints(GOAL)]}, ROBOT)
    with pytest.raises(kd.InputError, match="does not move it"):
        moveit.requested_goal(request, ROBOT)
    at_rest = {"joint_state": {"name": list(ROBOT.joint_names), "position": [float(q) for q in START]}}
    asked = {"group_name": "panda_joint1", "start_state": at_rest, "goal_constraints": [joints(GOAL)]}
    _, asked = moveit.read({}, asked, ROBOT)
    np.testing.assert_array_equal(moveit.requested_goal(asked, ROBOT), GOAL)
