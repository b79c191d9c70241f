"""Limits of joints: numbers by joint, how limits narrow bounds, what satisfies them, and the joints that they stop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link, Mimic
from kinodyn.limits import AccelerationLimit, Limit, PositionLimit, TorqueLimit, VelocityLimit
from kinodyn.limits.bounds import UNLIMITED, JointBounds, by_joint
from kinodyn.limits.limit import AT_LIMIT, LimitedMotion
from kinodyn.model.robot import Robot

SPEEDS, FORCES = (0.5, 2.0), (3.0, 40.0)  # [m/s], [N] of the sliders


def sliders() -> Robot:
    """Make a slider from -1 to 1 m, one from -2 to 2 m, one that follows the second, and a ball joint, in a row."""
    solid = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    links = tuple(Link(f"link{k}", solid) for k in range(5))
    axis = np.array([1.0, 0.0, 0.0])
    first, second = (
        Joint(f"slider{k}", "prismatic", f"link{k}", f"link{k + 1}", axis=axis, lower=-1.0 - k, upper=1.0 + k,
              velocity=SPEEDS[k], effort=FORCES[k])
        for k in range(2)
    )  # fmt: skip
    follower = Joint("follower", "prismatic", "link2", "link3", axis=axis, mimic=Mimic("slider1", 0.1))
    ball = Joint("ball", "ball", "link3", "link4")
    return Robot(Description("sliders", links, (first, second, follower, ball)))


ROBOT = sliders()
Q = ROBOT.neutral()
MAGNITUDES: dict[str, Callable[..., AccelerationLimit | TorqueLimit | VelocityLimit]] = {
    "acceleration": AccelerationLimit,
    "torque": TorqueLimit,
    "velocity": VelocityLimit,
}
FLOATING = kd.load("humanoid")


def bounds(*limits: Limit) -> JointBounds:
    """Return the bounds that several limits leave."""
    result = JointBounds(ROBOT)
    for limit in limits:
        limit.narrow(ROBOT, result)
    return result


def at(*positions: float) -> Array:
    """Return the configuration with the sliders at these positions."""
    q = Q.copy()
    q[:2] = positions
    return q


def test_numbers_by_joint_are_one_for_all_or_one_for_each_or_named() -> None:
    default = np.array([7.0, 8.0, 9.0, 9.0, 9.0])
    np.testing.assert_array_equal(by_joint(ROBOT, "x", None, default), default)
    np.testing.assert_array_equal(by_joint(ROBOT, "x", 2.0, default), np.full(5, 2.0))
    np.testing.assert_array_equal(by_joint(ROBOT, "x", [1, 2, 3, 4, 5], default), [1, 2, 3, 4, 5])
    named = by_joint(ROBOT, "x", {"slider1": 1e-9, "ball": 3.0}, default)
    np.testing.assert_array_equal(named, [7.0, 1e-9, 3.0, 3.0, 3.0])
    np.testing.assert_array_equal(default, [7.0, 8.0, 9.0, 9.0, 9.0])


@pytest.mark.parametrize("values", [0.0, -1.0, [1.0, 1.0, 0.0, 1.0, 1.0], {"slider0": 0.0}])
@pytest.mark.parametrize("kind", MAGNITUDES)
def test_magnitudes_that_are_not_positive_are_rejected(kind: str, values: object) -> None:
    with pytest.raises(kd.InputError, match=f"{kind} limits must be positive"):
        MAGNITUDES[kind](values).bounds(ROBOT)
    with pytest.raises(kd.InputError, match=rf"{kind} limits must have shape \(..., 5\), got \(2,\)"):
        MAGNITUDES[kind]([1.0, 2.0]).bounds(ROBOT)


def test_limits_are_those_of_the_robot_unless_given() -> None:
    free = [UNLIMITED] * 3
    np.testing.assert_array_equal(VelocityLimit().bounds(ROBOT), [*SPEEDS, *free])
    np.testing.assert_array_equal(VelocityLimit(scale=0.5).bounds(ROBOT), [0.25, 1.0, *(0.5 * UNLIMITED for _ in free)])
    np.testing.assert_array_equal(VelocityLimit(scale=2.0).bounds(ROBOT), [1.0, 4.0, *free])
    np.testing.assert_array_equal(VelocityLimit({"slider1": 9.0}, scale=3.0).bounds(ROBOT), [1.5, 27.0, *free])
    np.testing.assert_array_equal(TorqueLimit().bounds(ROBOT), [*FORCES, *free])
    np.testing.assert_array_equal(TorqueLimit({"slider0": 9.0}).bounds(ROBOT), [9.0, FORCES[1], *free])
    np.testing.assert_array_equal(TorqueLimit(1e40).bounds(ROBOT), [UNLIMITED] * 5)
    np.testing.assert_array_equal(AccelerationLimit({"slider1": 9.0}).bounds(ROBOT), [UNLIMITED, 9.0, *free])


def test_one_acceleration_for_all_joints_leaves_a_floating_base_alone() -> None:
    nv = FLOATING.nv
    np.testing.assert_array_equal(AccelerationLimit(4.0).bounds(FLOATING), [UNLIMITED] * 6 + [4.0] * (nv - 6))
    np.testing.assert_array_equal(AccelerationLimit([4.0] * nv).bounds(FLOATING), [4.0] * nv)
    base = next(joint.name for joint in FLOATING.joints if joint.v.start == 0)
    np.testing.assert_array_equal(AccelerationLimit({base: 4.0}).bounds(FLOATING), [4.0] * 6 + [UNLIMITED] * (nv - 6))
    np.testing.assert_array_equal(AccelerationLimit(4.0).bounds(ROBOT), [4.0] * 5)


def test_several_limits_leave_the_narrowest_bounds() -> None:
    free = bounds()
    np.testing.assert_array_equal(free.lower, [-UNLIMITED] * ROBOT.nq)
    for name in ("upper", "velocity", "acceleration", "braking", "effort"):
        assert (getattr(free, name) == UNLIMITED).all()
    for limits in ((PositionLimit(0.25), PositionLimit()), (PositionLimit(), PositionLimit(0.25))):
        narrow = bounds(*limits)
        np.testing.assert_array_equal(narrow.lower[:2], [-0.75, -1.75])
        np.testing.assert_array_equal(narrow.upper[:2], [0.75, 1.75])
        assert (narrow.lower[2:] == -UNLIMITED).all() and (narrow.upper[2:] == UNLIMITED).all()
    for first, second in ((1.0, 3.0), (3.0, 1.0)):
        assert (bounds(VelocityLimit(first), VelocityLimit(second)).velocity == 1.0).all()
        assert (bounds(TorqueLimit(first), TorqueLimit(second)).effort == 1.0).all()
        both = bounds(AccelerationLimit(first), AccelerationLimit({"slider0": second}))
        np.testing.assert_array_equal(both.acceleration, [1.0] + [first] * 4)
        np.testing.assert_array_equal(both.braking, both.acceleration)
    # joints without a limit do not count on braking
    named = bounds(AccelerationLimit({"slider1": 2.0}))
    np.testing.assert_array_equal(named.braking, [UNLIMITED, 2.0, UNLIMITED, UNLIMITED, UNLIMITED])


def test_a_margin_may_leave_one_position_but_not_none() -> None:
    lower, upper = PositionLimit(1.0).bounds(ROBOT)
    assert lower[0] == upper[0] == 0.0 and lower[1] == -1.0 and upper[1] == 1.0
    with pytest.raises(kd.InputError, match="a margin of 1.01 leaves no position within the limits of slider0; reduce"):
        PositionLimit(1.01).bounds(ROBOT)
    with pytest.raises(kd.InputError, match="within the limits of slider0, slider1; reduce"):
        PositionLimit(2.5).bounds(ROBOT)


@pytest.mark.parametrize("tolerance", [1e-9, 1e-6, 0.01])
def test_positions_satisfy_their_limits_within_the_tolerance(tolerance: float) -> None:
    beyond = np.array([0.9, 1.1]) * tolerance
    for side in (-1.0, 1.0):
        q = np.stack([at(side * (1.0 + d), side * (2.0 + d)) for d in beyond])
        np.testing.assert_array_equal(PositionLimit().satisfied(ROBOT, q, tolerance), [True, False])
        one = np.stack([at(side * (1.0 + d), 0.0) for d in beyond])
        np.testing.assert_array_equal(PositionLimit().satisfied(ROBOT, one, tolerance), [True, False])
        margin = np.stack([at(0.0, side * (1.75 + d)) for d in beyond])
        np.testing.assert_array_equal(PositionLimit(0.25).satisfied(ROBOT, margin, tolerance), [True, False])
    for q in (at(1.0, -2.0), at(-1.0, 2.0)):  # the ends belong to the limits
        assert PositionLimit().satisfied(ROBOT, q, 0.0).shape == () and PositionLimit().satisfied(ROBOT, q, 0.0)


def test_limits_without_rows_or_positions_are_satisfied_by_every_configuration() -> None:
    for limit in (VelocityLimit(), TorqueLimit(), AccelerationLimit(1.0)):
        for q in (Q, np.stack([Q, at(9.0, 9.0)]), np.tile(at(9.0, 9.0), (2, 3, 1))):
            np.testing.assert_array_equal(limit.satisfied(ROBOT, q, 1e-6), np.ones(q.shape[:-1], dtype=bool))
        with pytest.raises(kd.InputError, match="q must have shape"):
            limit.satisfied(ROBOT, Q[:-1], 1e-6)


def reactions(limit: Limit, motion: LimitedMotion) -> dict[str, list[float]]:
    return {reaction.name: reaction.force.tolist() for reaction in limit.reactions(motion)}


def test_positions_at_their_limits_after_a_motion_stop_it() -> None:
    near, far = 0.9 * AT_LIMIT, 1.1 * AT_LIMIT
    lower, upper = "at its lower position limit", "at its upper position limit"
    for q, x, expected in (
        (at(1.0 - near, 2.0 - far), np.zeros(5), {f"slider0 {upper}": [1.0, 0, 0, 0, 0]}),
        (at(-1.0 + far, -2.0 + near), np.zeros(5), {f"slider1 {lower}": [0, -1.0, 0, 0, 0]}),
        (at(0.5, -1.5), np.array([0.5, -0.5, 9, 9, 9]), {f"slider0 {upper}": [1, 0, 0, 0, 0],
                                                        f"slider1 {lower}": [0, -1, 0, 0, 0]}),
        (at(1.0, -2.0), np.array([-0.5, 0.5, 0, 0, 0]), {}),
    ):  # fmt: skip
        assert reactions(PositionLimit(), LimitedMotion(ROBOT, q, x)) == expected
    assert reactions(PositionLimit(0.25), LimitedMotion(ROBOT, at(0.75, 0.0), np.zeros(5))) == {
        f"slider0 {upper}": [1.0, 0, 0, 0, 0]
    }


def test_speeds_at_their_limits_stop_a_motion() -> None:
    dt = 0.1
    for share, stopped in ((0.999, False), (1.0 - 1e-10, True), (1.0, True)):
        x = share * dt * np.array([-SPEEDS[0], SPEEDS[1], 5.0, 5.0, 5.0])
        expected = {
            "slider0 at its lower velocity limit": [-1.0, 0, 0, 0, 0],
            "slider1 at its upper velocity limit": [0, 1.0, 0, 0, 0],
        }
        assert reactions(VelocityLimit(), LimitedMotion(ROBOT, Q, x, dt)) == (expected if stopped else {})
        assert reactions(VelocityLimit(), LimitedMotion(ROBOT, Q, x)) == {}  # at rest
        assert reactions(VelocityLimit(scale=1.1), LimitedMotion(ROBOT, Q, x, dt)) == {}
    still = LimitedMotion(ROBOT, Q, np.zeros(5), dt)
    assert reactions(VelocityLimit(), still) == {}


def test_bounds_of_a_step_stop_a_motion_unless_another_limit_has_named_the_joint() -> None:
    limit, at_bound = AccelerationLimit(1.0), np.array([1.0, -1.0, 0.0, -1.0, 0.0])
    motion = LimitedMotion(ROBOT, Q, np.zeros(5), 0.1, at_bound)
    expected = {
        "slider0 at its lower acceleration limit": [-1.0, 0, 0, 0, 0],
        "slider1 at its upper acceleration limit": [0, 1.0, 0, 0, 0],
        "ball at its upper acceleration limit": [0, 0, 0, 1.0, 0],
    }
    assert reactions(limit, motion) == expected
    assert motion.explained == {0, 1, 3} and reactions(limit, motion) == {}
    assert reactions(limit, LimitedMotion(ROBOT, Q, np.zeros(5), None, at_bound)) == {}
    assert reactions(limit, LimitedMotion(ROBOT, Q, np.zeros(5), 0.1)) == {}
    order = sorted((limit, VelocityLimit(), PositionLimit()), key=lambda each: each.order)
    assert [each.name for each in order] == ["position", "velocity", "acceleration"]
