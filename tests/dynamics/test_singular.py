"""Robots without inertia where it counts: kinematics and inverse dynamics work, forward dynamics says which link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link
from kinodyn.errors import SingularError
from kinodyn.model.robot import Robot

K, D = kd.kinematics, kd.dynamics
KINDS = ("revolute", "continuous", "prismatic", "planar", "ball", "floating")

# What divides by M.
DIVIDING: dict[str, Callable[[Robot, Array, Array], Any]] = {
    "forward": lambda robot, q, v: D.forward(robot, q, v, v),
    "forward_derivatives": lambda robot, q, v: D.forward_derivatives(robot, q, v, v),
    "factorize": lambda robot, q, v: D.factorize(robot, q),
}
dividing = pytest.mark.parametrize("function", DIVIDING.values(), ids=DIVIDING)


def solid(rng: np.random.Generator) -> Inertia:
    R = Rotation.random(random_state=rng).as_matrix()
    return Inertia(rng.uniform(0.5, 3.0), rng.normal(size=3) * 0.3, R @ np.diag([0.2, 0.25, 0.3]) @ R.T)


def anywhere(rng: np.random.Generator) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    return T


def direction(rng: np.random.Generator) -> Array:
    axis = rng.normal(size=3)
    return np.asarray(axis / np.linalg.norm(axis))


def with_light_tip(kind: Any, seed: int = 0, **options: float) -> Robot:
    """An arm of one heavy link, on which a link without inertial moves."""
    rng = np.random.default_rng(seed)
    joints = (
        Joint("shoulder", "revolute", "base", "arm", anywhere(rng), direction(rng)),
        Joint("last", kind, "arm", "feather", anywhere(rng), direction(rng), **options),
    )
    return Robot(Description("light", (Link("base"), Link("arm", solid(rng)), Link("feather")), joints))


def state(robot: Robot, n: int | None = None) -> tuple[Array, Array]:
    return robot.random(n, seed=1), np.ones(robot.nv) if n is None else np.ones((n, robot.nv))


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_without_inertial_has_kinematics_and_inverse_dynamics(kind: str) -> None:
    robot = with_light_tip(kind)
    q, v = state(robot, 9)
    assert K.pose(robot, q, "feather").shape == (9, 4, 4)
    assert np.abs(K.jacobian(robot, q, "feather")[:, :, 1:]).max() > 0.1
    tau = D.inverse(robot, q, v, v)
    assert np.isfinite(tau).all() and np.abs(tau[:, 0]).min() > 0
    np.testing.assert_allclose(tau[:, 1:], 0.0, atol=1e-12)
    M = D.mass_matrix(robot, q)
    np.testing.assert_allclose(M[:, 1:], 0.0, atol=1e-12)
    np.testing.assert_allclose(kd.State(robot, q, v).mass_matrix, M, atol=1e-13)
    pushed = D.inverse(robot, q, v, v, {"feather": np.ones(6)})
    assert np.abs(pushed[:, 1:]).max() > 0.1


@dividing
@pytest.mark.parametrize("kind", KINDS)
def test_a_division_by_zero_mass_raises_and_names_the_link(
    kind: str, function: Callable[..., Any], instruction_set: str
) -> None:
    robot = with_light_tip(kind)
    with pytest.raises(SingularError, match="link 'feather' moves on joint 'last' against no inertia. Give the link"):
        function(robot, *state(robot))
    with pytest.raises(SingularError, match=r"singular at state \[0\]: link 'feather' moves on joint 'last'"):
        function(robot, *state(robot, 9))


@dividing
@pytest.mark.parametrize("kind", KINDS)
def test_armature_alone_makes_the_mass_matrix_regular(kind: str, function: Callable[..., Any]) -> None:
    robot = with_light_tip(kind, armature=1e-3)
    function(robot, *state(robot))
    q, v = state(robot, 9)
    np.testing.assert_allclose(D.forward(robot, q, v, D.inverse(robot, q, v, v)), v, atol=1e-9)


@dividing
@pytest.mark.parametrize("kind", KINDS)
def test_a_link_without_inertial_may_carry_others(kind: str, function: Callable[..., Any]) -> None:
    """What it carries must resist in every direction: a body on a hinge across, far from the joint."""
    rng = np.random.default_rng(3)
    joints = (
        Joint("first", kind, "base", "feather", anywhere(rng), direction(rng)),  # type: ignore[arg-type]
        Joint("weld", "fixed", "feather", "load", anywhere(rng)),
        Joint("hinge", "revolute", "load", "tip", anywhere(rng), direction(rng)),
    )
    links = (Link("base"), Link("feather"), Link("load", solid(rng)), Link("tip", solid(rng)))
    robot = Robot(Description("carrier", links, joints))
    function(robot, *state(robot))
    q, v = state(robot, 9)
    np.testing.assert_allclose(D.forward(robot, q, v, D.inverse(robot, q, v, v)), v, atol=1e-9)


def coaxial(first: Any, seed: int) -> Robot:
    """A feather that turns about the same line as the body it carries: either turn moves the body alike."""
    rng = np.random.default_rng(seed)
    axis, T = direction(rng), anywhere(rng)
    if first == "revolute":
        T[:3, :3] = np.eye(3)
    T[:3, 3] = rng.normal() * T[:3, :3] @ axis
    joints = (
        Joint("first", first, "base", "feather", anywhere(rng), axis),
        Joint("second", "revolute", "feather", "body", T, axis),
    )
    return Robot(Description("coaxial", (Link("base"), Link("feather"), Link("body", solid(rng))), joints))


@dividing
@pytest.mark.parametrize("first", ["revolute", "ball", "floating"])
def test_coincident_axes_are_singular_despite_rounding(first: str, function: Callable[..., Any]) -> None:
    """The inertia that is left over is not zero but a rounding error, positive or negative."""
    for seed in range(40):
        robot = coaxial(first, seed)
        with pytest.raises(SingularError, match="link 'feather' moves on joint 'first'"):
            function(robot, *state(robot))
        with pytest.raises(SingularError, match="link 'feather' moves on joint 'first'"):
            function(robot, *state(robot, 5))


@dividing
def test_a_hinge_at_the_centre_of_a_ball_is_singular_despite_rounding(function: Callable[..., Any]) -> None:
    """The ball leaves no resistance to turning at all: there is nothing to compare the rounding error with."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        T = anywhere(rng)
        T[:3, 3] = 0.0
        joints = (
            Joint("hinge", "revolute", "base", "feather", anywhere(rng), direction(rng)),
            Joint("ball", "ball", "feather", "body", T),
        )
        robot = Robot(Description("eye", (Link("base"), Link("feather"), Link("body", solid(rng))), joints))
        with pytest.raises(SingularError, match="link 'feather' moves on joint 'hinge'"):
            function(robot, *state(robot))


@dividing
def test_the_state_that_is_singular_is_named(function: Callable[..., Any], instruction_set: str) -> None:
    """A point mass on two crossed axes: no resistance to the first where the mass stands on it."""
    point = Inertia(2.0, np.array([0.7, 0.0, 0.0]), np.zeros((3, 3)))
    joints = (
        Joint("pan", "revolute", "base", "feather", axis=np.array([0.0, 0.0, 1.0])),
        Joint("tilt", "revolute", "feather", "mass", axis=np.array([0.0, 1.0, 0.0])),
    )
    robot = Robot(Description("gimbal", (Link("base"), Link("feather"), Link("mass", point)), joints))
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (11, 2))
    function(robot, q, np.ones((11, 2)))
    q[6, 1] = np.pi / 2
    with pytest.raises(SingularError, match=r"at state \[6\]: link 'feather' moves on joint 'pan'"):
        function(robot, q, np.ones((11, 2)))
    with pytest.raises(SingularError, match=r"singular: link 'feather' moves on joint 'pan'"):
        function(robot, q[6], np.ones(2))


@dividing
def test_a_very_light_tip_on_a_heavy_arm_is_not_singular(function: Callable[..., Any]) -> None:
    """Ten orders of magnitude between moments of inertia are unusual, not wrong."""
    rng = np.random.default_rng(5)
    grain = Inertia(1e-8, np.array([1e-3, 0.0, 0.0]), 1e-12 * np.eye(3))
    joints = (
        Joint("shoulder", "revolute", "base", "arm", anywhere(rng), direction(rng)),
        Joint("hinge", "revolute", "arm", "grain", anywhere(rng), direction(rng)),
    )
    robot = Robot(Description("grain", (Link("base"), Link("arm", solid(rng)), Link("grain", grain)), joints))
    function(robot, *state(robot))
    q, v = state(robot, 5)
    np.testing.assert_allclose(D.forward(robot, q, v, D.inverse(robot, q, v, v)), v, atol=1e-4)


def welded() -> Robot:
    T = np.eye(4)
    T[:3, 3] = 1.0, 2.0, 3.0
    links = (Link("base"), Link("post", Inertia(3.0, np.zeros(3), np.eye(3))))
    return Robot(Description("welded", links, (Joint("weld", "fixed", "base", "post", T),)))


@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,)])
def test_a_robot_that_cannot_move_has_poses_and_empty_dynamics(batch: tuple[int, ...]) -> None:
    robot, x = welded(), np.zeros((*batch, 0))
    assert (robot.nq, robot.nv, robot.mass, robot.joint_names) == (0, 0, 0.0, ())
    np.testing.assert_array_equal(K.pose(robot, x, "post")[..., :3, 3], np.broadcast_to([1.0, 2.0, 3.0], (*batch, 3)))
    assert K.poses(robot, x).shape == (*batch, 2, 4, 4)
    for J in (K.jacobian(robot, x, "post"), K.jacobian_dot(robot, x, x, "post")):
        assert J.shape == (*batch, 6, 0)
    for twist in (K.velocity(robot, x, x, "post"), K.acceleration(robot, x, x, x, "post")):
        np.testing.assert_array_equal(twist, np.zeros((*batch, 6)))
    for tau in (D.inverse(robot, x, x, x), D.bias(robot, x, x), D.gravity(robot, x), D.forward(robot, x, x, x)):
        assert tau.shape == (*batch, 0)
    assert D.inverse(robot, x, x, x, {"post": np.ones(6)}).shape == (*batch, 0)
    matrices = [D.mass_matrix(robot, x), D.coriolis_matrix(robot, x, x), D.factorize(robot, x).L]
    matrices += [*D.inverse_derivatives(robot, x, x, x), *D.forward_derivatives(robot, x, x, x)]
    for matrix in (*matrices, D.regressor(robot, x, x, x)):
        assert matrix.shape == (*batch, 0, 0)
    assert D.factorize(robot, x).solve(x).shape == (*batch, 0)
    for energy in (D.kinetic_energy(robot, x, x), D.potential_energy(robot, x), K.manipulability(robot, x, "post")):
        np.testing.assert_array_equal(energy, np.zeros(batch))
    for y in (robot.integrate(x, x), robot.difference(x, x), robot.interpolate(x, x, 0.5), robot.random(batch)):
        assert y.shape == (*batch, 0)
    assert robot.neutral().shape == (0,)


@pytest.mark.parametrize("robot", [welded(), Robot(Description("stick", (Link("base"),)))], ids=["welded", "one link"])
def test_without_moving_mass_there_is_no_com(robot: Robot) -> None:
    x = np.zeros(0)
    for function in (
        lambda: K.com(robot, x),
        lambda: K.com_jacobian(robot, x),
        lambda: K.com_velocity(robot, x, x),
        lambda: K.com_acceleration(robot, x, x, x),
        lambda: kd.centroidal.momentum_matrix(robot, x),
        lambda: kd.centroidal.momentum(robot, x, x),
        lambda: kd.centroidal.momentum_rate(robot, x, x, x),
    ):
        with pytest.raises(SingularError, match="no moving mass, so it has no centre of mass"):
            function()
