"""Soft contacts: a ball, a block, a humanoid, against closed forms and the law written out in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.solids import box
from kinodyn.description.types import Description, Joint, Link, Shape
from kinodyn.dynamics.contact import HeightField, Plane, SoftContacts, sole_points
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot

G = 9.81
MASS, SIZE = 2.0, np.array([0.3, 0.2, 0.1])
CORNERS = 0.5 * SIZE * np.array([[x, y, -1] for x in (-1, 1) for y in (-1, 1)])
STIFF = {"stiffness": 2e4, "damping": 100.0}


def block(shapes: tuple[Shape, ...] = ()) -> Robot:
    """Make a free box, or one with other collision shapes."""
    links = (Link("world"), Link("block", box(MASS, SIZE), collisions=shapes))
    return Robot(Description("block", links, (Joint("free", "floating", "world", "block"),)))


def run(
    robot: Robot,
    soft: SoftContacts,
    q: Array,
    v: Array,
    *,
    time: float,
    dt: float = 1e-3,
    control: Callable[[Array, Array], Array] | None = None,
) -> tuple[Array, Array]:
    """Simulate with semi-implicit Euler; all configurations and velocities, times first."""
    anchors, qs, vs = None, [q], [v]
    tau = np.zeros(robot.nv)
    for _ in range(round(time / dt)):
        wrenches, anchors = soft.wrenches(robot, q, v, anchors)
        tau = tau if control is None else control(q, v)
        v = v + dt * kd.dynamics.forward(robot, q, v, tau, wrenches)
        q = robot.integrate(q, dt * v)
        qs.append(q)
        vs.append(v)
    return np.array(qs), np.array(vs)


def resting(soft: SoftContacts, slope: float = 0.0) -> Array:
    """Put the block on a plane tilted about y, rising against x, as deep as its weight presses it."""
    R = kd.spatial.rot_y(slope)
    depth = MASS * G * np.cos(slope) / soft.stiffness.sum()
    return np.concatenate([R @ [0.0, 0.0, 0.5 * SIZE[2] - depth], kd.spatial.as_quaternion(R)])


def tilted(slope: float) -> Plane:
    return Plane(normal=kd.spatial.rot_y(slope) @ [0.0, 0.0, 1.0])


def states(robot: Robot, n: int) -> tuple[Array, Array, Array, SoftContacts]:
    """Humanoids with their feet in and out of the ground, moving, with stretched bristles."""
    rng = np.random.default_rng(0)
    q = robot.random(n, seed=1)
    v, anchors = rng.normal(size=(n, robot.nv)), None
    soft = SoftContacts.from_robot(robot, ["left_sole", "right_sole"])
    q[:, 2] -= soft.positions(robot, q)[..., 2].min(axis=-1) + rng.uniform(-0.01, 0.05, size=n)
    anchors = soft.positions(robot, q) + 0.01 * rng.normal(size=(n, 8, 3))
    return q, v, anchors, soft


# The law


def law(soft: SoftContacts, p: Array, rate: Array, anchor: Array) -> tuple[Array, Array]:
    """Force on one point and its new anchor, as the law says it."""
    k, c, mu = soft.stiffness[0], soft.damping[0], soft.friction[0]
    height, n = soft.ground.height_and_normal(p)
    across = np.eye(3) - np.outer(n, n)
    pressure = max(0.0, -k * height - c * rate @ n) if height < 0 else 0.0
    stretch = across @ (p - anchor)
    if k * np.linalg.norm(stretch) > mu * pressure:
        stretch *= mu * pressure / (k * np.linalg.norm(stretch))
    pull = k * stretch + c * across @ rate
    if np.linalg.norm(pull) > mu * pressure:
        pull *= mu * pressure / np.linalg.norm(pull)
    return pressure * n - pull, p - stretch


def test_forces_and_anchors_follow_the_law_and_wrenches_sum_them_up() -> None:
    robot = kd.load("humanoid")
    q, v, anchors, soft = states(robot, 30)
    soft.ground = tilted(0.2)
    patches = [kd.contact.Contact(frame, corners=points) for frame, points in soft.points.items()]
    J = kd.contact.jacobian(robot, q, patches)
    rate = (J @ v[..., None]).reshape(30, 8, 3)
    p = soft.positions(robot, q)
    forces, (wrenches, moved) = soft.forces(robot, q, v, anchors), soft.wrenches(robot, q, v, anchors)
    touching = 0
    for i, j in np.ndindex(30, 8):
        force, anchor = law(soft, p[i, j], rate[i, j], anchors[i, j])
        touching += force.any()
        np.testing.assert_allclose(forces[i, j], force, rtol=0, atol=1e-9)
        np.testing.assert_allclose(moved[i, j], anchor, rtol=0, atol=1e-12)
    assert 20 < touching < 220
    still = np.zeros(robot.nv)
    through = kd.dynamics.inverse(robot, q, still, still) - kd.dynamics.inverse(robot, q, still, still, wrenches)
    expected = (np.swapaxes(J, -1, -2) @ forces.reshape(30, 24, 1))[..., 0]
    np.testing.assert_allclose(through, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_the_ground_is_passive() -> None:
    """Force times velocity is never above the rate at which depth and stretch give their energy back."""
    robot = kd.load("humanoid")
    q, v, anchors, soft = states(robot, 300)
    anchors = soft.wrenches(robot, q, v, anchors)[1]  # within the disc, where the anchors stand still
    J = kd.contact.jacobian(robot, q, [kd.contact.Contact(f, corners=x) for f, x in soft.points.items()])
    rate = (J @ v[..., None]).reshape(300, 8, 3)
    p = soft.positions(robot, q)
    power = (soft.forces(robot, q, v, anchors) * rate).sum(axis=-1)
    depth, stretch = np.maximum(-p[..., 2], 0.0), (p - anchors)[..., :2]
    stored = -depth * rate[..., 2] + (stretch * rate[..., :2]).sum(axis=-1)
    assert (power + soft.stiffness * stored <= 1e-9 * np.abs(power).max()).all()
    assert (power < 0).sum() > 50


def test_a_batch_agrees_with_single_states() -> None:
    robot = kd.load("humanoid")
    q, v, anchors, soft = states(robot, 12)
    q, v, anchors = q.reshape(3, 4, -1), v.reshape(3, 4, -1)[:1], anchors.reshape(3, 4, 8, 3)
    wrenches, moved = soft.wrenches(robot, q, v, anchors)
    forces = soft.forces(robot, q, v, anchors)
    for i, j in np.ndindex(3, 4):
        one, anchor = soft.wrenches(robot, q[i, j], v[0, j], anchors[i, j])
        for frame in one:
            np.testing.assert_allclose(wrenches[frame][i, j], one[frame], rtol=0, atol=1e-9)
        np.testing.assert_allclose(moved[i, j], anchor, rtol=0, atol=1e-13)
        np.testing.assert_allclose(forces[i, j], soft.forces(robot, q[i, j], v[0, j], anchors[i, j]), atol=1e-9)


# Standing and bouncing


def test_a_block_sinks_in_by_its_weight_over_the_stiffness() -> None:
    robot, soft = block(), SoftContacts({"block": CORNERS}, **STIFF)
    q = np.array([0.0, 0.0, 0.5 * SIZE[2], 0.0, 0.0, 0.0, 1.0])
    qs, vs = run(robot, soft, q, np.zeros(6), time=2.0)
    np.testing.assert_allclose(0.5 * SIZE[2] - qs[-1, 2], MASS * G / (4 * STIFF["stiffness"]), rtol=1e-9)
    np.testing.assert_allclose(vs[-1], 0.0, atol=1e-10)


def test_restitution_agrees_with_the_closed_form_and_decreases_with_damping() -> None:
    """T. Schwager and T. Poeschel 2007: the contact ends when the force does, not when the depth is gone."""
    robot = block().replace(gravity=(0.0, 0.0, 0.0))
    k, dt = 1e4, 1e-5
    damping = np.array([0.0, 10.0, 40.0, 120.0])
    soft = SoftContacts({"block": np.zeros((1, 3))}, stiffness=k, damping=damping[:, None])
    q = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (4, 1))
    v = np.tile([0.0, 0.0, -1.0, 0.0, 0.0, 0.0], (4, 1))
    beta = damping / (2 * MASS)
    omega = np.sqrt(k / MASS - beta**2)
    expected = np.exp(-beta / omega * (np.pi - np.arctan2(2 * beta * omega, omega**2 - beta**2)))
    _, vs = run(robot, soft, q, v, time=1.1 * np.pi / omega.min(), dt=dt)
    np.testing.assert_allclose(vs[-1, :, 2], expected, rtol=1e-3)
    assert (np.diff(vs[-1, :, 2]) < -0.05).all()


def test_a_bouncing_ball_never_rises_higher_than_before() -> None:
    robot = block()
    soft = SoftContacts({"block": np.zeros((1, 3))}, stiffness=1e4, damping=[[0.0], [2.0], [20.0]])
    q = np.tile([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], (3, 1))
    qs, vs = run(robot, soft, q, np.zeros((3, 6)), time=2.0, dt=2e-4)
    energy = 0.5 * vs[..., 2] ** 2 + G * qs[..., 2]  # for each kilogram
    for k in range(3):
        flying = qs[:, k, 2] > 0.0
        highest = np.maximum.accumulate(energy[flying, k])
        # semi-implicit steps leave the energy of a bounce uncertain by the step's share of it
        assert (energy[flying, k] <= energy[0, k] * (1 + 2e-3)).all()
        if k:
            assert energy[flying, k][-1] < 0.9 * highest[0]
    rises = [qs[len(qs) // 2 :, k, 2].max() for k in range(3)]
    assert rises[0] > rises[1] > rises[2]


# Friction


def test_a_sliding_block_slows_down_by_mu_g_and_stops_where_it_should() -> None:
    mu, speed, dt = 0.4, 2.0, 2e-4
    robot = block()
    soft = SoftContacts({"block": CORNERS}, friction=mu, stiffness=1e5, damping=200.0)
    v = np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    qs, vs = run(robot, soft, resting(soft), v, time=0.8, dt=dt)
    early, late = round(0.1 / dt), round(0.4 / dt)
    np.testing.assert_allclose((vs[late, 0] - vs[early, 0]) / 0.3, -mu * G, rtol=2e-3)
    # where it stops the bristles give back at most what they are stretched
    np.testing.assert_allclose(
        qs[-1, 0], speed**2 / (2 * mu * G), atol=mu * MASS * G / soft.stiffness.sum() + speed * dt
    )
    np.testing.assert_allclose(qs[-1, 1], 0.0, atol=1e-12)


def test_a_block_that_has_stopped_neither_moves_nor_chatters() -> None:
    robot = block()
    soft = SoftContacts({"block": CORNERS}, friction=0.4, **STIFF)
    v = np.array([0.5, 0.2, 0.0, 0.0, 0.0, 0.0])
    qs, vs = run(robot, soft, resting(soft), v, time=2.0)
    last = vs[-500:, :2]
    assert np.abs(last).max() < 1e-9
    signs = np.sign(np.where(np.abs(last) < 1e-9, 0.0, last))
    assert not np.diff(signs, axis=0).any()
    assert np.abs(qs[-500:] - qs[-1]).max() < 1e-10


def test_below_the_friction_angle_a_block_rests_without_creeping() -> None:
    slope, mu = 0.3, 0.4
    assert np.tan(slope) < mu
    robot = block()
    soft = SoftContacts({"block": CORNERS}, tilted(slope), friction=mu, **STIFF)
    qs, vs = run(robot, soft, resting(soft, slope), np.zeros(6), time=10.0)
    settled = round(0.5 / 1e-3)
    assert np.abs(qs[settled:, :3] - qs[-1, :3]).max() < 1e-6
    assert np.abs(vs[-1]).max() < 1e-10
    # all that it ever moved is the stretch of the bristles
    np.testing.assert_allclose(
        np.linalg.norm(qs[-1, :3] - qs[0, :3]), MASS * G * np.sin(slope) / soft.stiffness.sum(), rtol=0.3
    )


def test_above_the_friction_angle_a_block_slides_as_in_the_closed_form() -> None:
    slope, mu = 0.5, 0.4
    assert np.tan(slope) > mu
    robot = block()
    soft = SoftContacts({"block": CORNERS}, tilted(slope), friction=mu, **STIFF)
    qs, _ = run(robot, soft, resting(soft, slope), np.zeros(6), time=1.0)
    down = kd.spatial.rot_y(slope) @ [1.0, 0.0, 0.0]
    distance = (qs[[500, 750, 1000], :3] - qs[0, :3]) @ down
    a = (distance[2] - 2 * distance[1] + distance[0]) / 0.25**2
    np.testing.assert_allclose(a, G * (np.sin(slope) - mu * np.cos(slope)), rtol=1e-4)


# Ground


# Robots


@pytest.mark.parametrize("interpolation", ["cubic", "linear"])
@pytest.mark.parametrize("slope", [(0.0, 0.0), (0.3, -0.2)])
def test_a_planar_height_field_equals_the_plane(interpolation: str, slope: tuple[float, float]) -> None:
    x, y = 0.1 * np.arange(8)[:, None] - 0.5, 0.2 * np.arange(6)[None] + 1.0
    heights = slope[0] * x + slope[1] * y
    field = HeightField(heights, (0.1, 0.2), (-0.5, 1.0, 0.07), interpolation=interpolation)  # type: ignore[arg-type]
    plane = Plane((0.0, 0.0, 0.07), (-slope[0], -slope[1], 1.0))
    p = np.random.default_rng(0).uniform([-0.5, 1.0, -1.0], [0.2, 2.0, 1.0], size=(5, 40, 3))
    for got, expected in zip(field.height_and_normal(p), plane.height_and_normal(p), strict=True):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14)
    soft = SoftContacts({"block": CORNERS}, field, **STIFF)
    above = 0.07 + slope[0] * -0.15 + slope[1] * 1.5
    q, v = np.array([-0.15, 1.5, above + 0.04, 0.0, 0.0, 0.0, 1.0]), np.array([0.1, 0.2, -0.3, 1.0, 0.5, 0.2])
    forces = soft.forces(block(), q, v)
    soft.ground = plane
    assert np.abs(forces).max() > 1.0
    np.testing.assert_allclose(forces, soft.forces(block(), q, v), rtol=0, atol=1e-9)


def test_the_humanoid_stands_on_its_soles_under_joint_control() -> None:
    robot = kd.load("humanoid")
    soft = SoftContacts.from_robot(robot, ["left_sole", "right_sole"])
    for name in ("stiffness", "damping"):  # the defaults without a robot are made for it
        default = getattr(SoftContacts({"left_sole": np.zeros((1, 3))}), name)[0]
        np.testing.assert_allclose(getattr(soft, name)[0], default, rtol=0.1)
    q0 = robot.configuration("standing")
    weight = kd.dynamics.gravity(robot, q0)
    feet = [kd.contact.Contact(foot) for foot in ("left_sole", "right_sole")]
    forces = np.linalg.pinv(kd.contact.jacobian(robot, q0, feet).T[:6]) @ weight[:6]
    hold = weight - kd.contact.jacobian(robot, q0, feet).T @ forces

    inertia = 1.0 / np.diag(np.linalg.inv(kd.dynamics.mass_matrix(robot, q0)))  # what each joint feels alone
    stiffness, damping = np.minimum(3000.0, 2e4 * inertia), np.minimum(30.0, 300.0 * inertia)

    def joints(q: Array, v: Array) -> Array:
        tau = hold + stiffness * robot.difference(q, q0) - damping * v
        tau[:6] = 0.0
        return np.asarray(tau)

    qs, vs = run(robot, soft, q0, np.zeros(robot.nv), time=2.0, control=joints)
    off = np.abs(robot.difference(qs, q0))
    assert off[:, 3:].max() < 0.05  # it sways by a degree or two, and does not fall
    assert off[1000:].max() <= off[:1000].max()
    assert np.abs(qs[:, 2] - q0[2]).max() < 0.005
    feet_at = soft.positions(robot, qs[500:])  # once its weight is on them
    assert np.abs(feet_at - feet_at[0])[..., :2].max() < 1e-4
    load = soft.forces(robot, qs[1000:], vs[1000:])[..., 2]
    np.testing.assert_allclose(load.sum(axis=-1).mean(), robot.mass * G, rtol=1e-3)
    assert (load > 0).all()


def test_soles_are_the_undersides_of_collision_shapes() -> None:
    robot = kd.load("humanoid")
    left = sole_points(robot, "left_sole")
    np.testing.assert_allclose(left[:, 2], 0.0, atol=1e-12)
    assert sorted(map(tuple, np.sign(left[:, :2]).astype(int).tolist())) == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    up = sole_points(robot, "left_sole", down=(0.0, 0.0, 1.0))
    np.testing.assert_allclose(up[:, 2], robot.description.links[13].collisions[0].size[2], atol=1e-12)
    np.testing.assert_allclose(sole_points(robot, "left_foot")[:, 2], left[:, 2] - 0.0663, atol=1e-12)


SHAPES = {
    "sphere": (Shape("sphere", (0.1,), np.eye(4)), [[0, 0, -0.1]]),
    "ellipsoid": (Shape("ellipsoid", (0.1, 0.2, 0.3), np.eye(4)), [[0, 0, -0.3]]),
    "capsule": (Shape("capsule", (0.1, 0.4), kd.spatial.pose(rotation=kd.spatial.rot_y(np.pi / 2))), None),
    "lying": (Shape("cylinder", (0.1, 0.4), kd.spatial.pose(rotation=kd.spatial.rot_y(np.pi / 2))), None),
    "upright": (Shape("cylinder", (0.1, 0.4), np.eye(4)), None),
}


@pytest.mark.parametrize("kind", list(SHAPES))
def test_the_lowest_points_of_a_shape_are_found(kind: str) -> None:
    shape, expected = SHAPES[kind]
    points = sole_points(block((shape,)), "block")
    if kind == "upright":
        assert len(points) == 8
        np.testing.assert_allclose(points[:, 2], -0.2)
        np.testing.assert_allclose(np.linalg.norm(points[:, :2], axis=-1), 0.1)
    else:
        wanted = np.array(expected or [[-0.2, 0, -0.1], [0.2, 0, -0.1]])
        np.testing.assert_allclose(points[np.argsort(points[:, 0])], wanted, atol=1e-12)


def test_errors_explain_invalid_soft_contacts() -> None:
    robot = block()
    q, v = robot.neutral(), np.zeros(6)
    good = SoftContacts({"block": CORNERS})
    for name in ("stiffness", "damping", "friction"):
        with pytest.raises(InputError, match=name):
            SoftContacts({"block": CORNERS}, **{name: -1.0})
        with pytest.raises(InputError, match=name):
            SoftContacts({"block": CORNERS}, **{name: np.nan})
    with pytest.raises(InputError, match="stiffness must be positive"):
        SoftContacts({"block": CORNERS}, stiffness=0.0)
    with pytest.raises(InputError, match=r"friction must be a number or \(..., 4\)"):
        SoftContacts({"block": CORNERS}, friction=[0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="at least one"):
        SoftContacts({})
    with pytest.raises(InputError, match="points of 'block'"):
        SoftContacts({"block": [0.0, 0.0]})
    with pytest.raises(InputError, match="height_and_normal"):
        SoftContacts({"block": CORNERS}, ground=0.0)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="block"):
        SoftContacts({"blok": CORNERS}).wrenches(robot, q, v)
    with pytest.raises(InputError, match="q"):
        good.wrenches(robot, q * np.nan, v)
    with pytest.raises(InputError, match=r"anchors must have shape \(..., 4, 3\) as the last call did"):
        good.wrenches(robot, q, v, np.zeros((3, 3)))
    with pytest.raises(InputError, match="anchors"):
        good.wrenches(robot, q, v, np.full((4, 3), np.nan))


def test_errors_explain_invalid_ground_and_soles() -> None:
    for heights in ([], [[]], [[1.0]], np.zeros(4)):
        with pytest.raises(InputError, match="heights"):
            HeightField(heights)
    with pytest.raises(InputError, match="heights"):
        HeightField([[0.0, np.nan], [0.0, 0.0]])
    with pytest.raises(InputError, match="spacing"):
        HeightField(np.zeros((2, 2)), 0.0)
    with pytest.raises(InputError, match="origin"):
        HeightField(np.zeros((2, 2)), 1.0, [0.0])
    with pytest.raises(InputError, match="interpolation"):
        HeightField(np.zeros((2, 2)), interpolation="round")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="normal"):
        Plane(normal=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="p must be finite numbers"):
        Plane().height_and_normal([0.0, np.inf, 0.0])
    with pytest.raises(UnknownNameError, match="left_sole"):
        sole_points(kd.load("humanoid"), "left_soul")
    with pytest.raises(InputError, match="no collision shapes"):
        sole_points(block(), "block")
    with pytest.raises(InputError, match="1 meshes"):
        sole_points(block((Shape("mesh", (1.0, 1.0, 1.0), np.eye(4)),)), "block")
    with pytest.raises(InputError, match="down"):
        sole_points(kd.load("humanoid"), "left_sole", down=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="cannot move"):
        SoftContacts.from_robot(kd.load("humanoid", base="fixed"), ["pelvis"])
    with pytest.raises(InputError, match="dt"):
        SoftContacts.from_robot(kd.load("humanoid"), ["left_sole"], dt=0.0)
