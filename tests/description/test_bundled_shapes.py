"""The shapes of the bundled arms: apart from each other, above the floor, closed, and fit for simulation."""

from __future__ import annotations

from itertools import combinations

import mujoco
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.meshes import TriangleMesh, open_edges
from kinodyn.description.shape_inertias import triangle_inertia
from kinodyn.description.types import Shape

ARMS = ("panda", "ur5", "puma560", "scara")
arms = pytest.mark.parametrize("name", ARMS)
NAMED = [(name, key) for name in ARMS for key in kd.load(name).configurations]
# What the machines can touch of themselves within their joint ranges is checked; all else never touches.
FREE_SHARE = {"panda": 0.85, "ur5": 0.8, "puma560": 1.0, "scara": 1.0}


def lowest(shape: Shape, T: np.ndarray) -> float:
    """Return the lowest height of a shape of a link at the pose T."""
    placed = T @ shape.T_link_shape
    if shape.triangles is not None:
        return float((shape.triangles[0] @ placed[2, :3] + placed[2, 3]).min())
    half = 0.5 * abs(placed[2, 2]) * shape.size[1] if shape.kind == "capsule" else 0.0
    return float(placed[2, 3] - half - shape.size[0])


@pytest.mark.parametrize(("name", "configuration"), NAMED)
def test_no_shape_is_below_the_floor(name: str, configuration: str) -> None:
    robot = kd.load(name)
    poses = dict(zip(robot.frame_names, kd.kinematics.poses(robot, robot.configuration(configuration)), strict=True))
    links = robot.description.links
    visuals = [lowest(shape, poses[link.name]) for link in links for shape in link.visuals]
    collisions = [lowest(shape, poses[link.name]) for link in links for shape in link.collisions]
    assert min(visuals) == pytest.approx(0.0, abs=1e-9), "the base stands on the floor"
    assert min(collisions) > 0.005, "spheres that cover the base must not touch a floor"


@pytest.mark.parametrize(("name", "configuration"), NAMED)
def test_a_floor_at_the_height_of_the_base_is_free(name: str, configuration: str) -> None:
    robot, world = kd.load(name), kd.collision.World()
    world.add_box("floor", (4.0, 4.0, 0.1), ((0.0, 0.0, -0.05), None))
    for exact in (False, True):
        assert kd.collision.distance(robot, robot.configuration(configuration), world, exact=exact).distance > 0.0


@pytest.mark.parametrize(("name", "configuration"), NAMED)
def test_mujoco_finds_no_contact_at_named_configurations(name: str, configuration: str) -> None:
    robot = kd.load(name)
    model = kd.sim.to_mujoco(robot)
    data = mujoco.MjData(model)
    data.qpos[:] = robot.configuration(configuration)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


@arms
def test_links_touch_only_where_the_machine_can_fold_onto_itself(name: str) -> None:
    robot = kd.load(name)
    reasons = kd.collision.allowed_pairs(robot).reasons
    assert set(reasons.values()) <= {"adjacent", "never"}, "no pair overlaps by construction"
    order = [link.name for link in robot.description.links if link.collisions]
    near = [frozenset(pair) for pair in combinations(order, 2) if order.index(pair[1]) - order.index(pair[0]) == 2]
    hand = frozenset(("panda_link5", "panda_link7"))  # the hand folds back onto the forearm
    fold = {hand, frozenset(("shoulder_link", "forearm_link")), frozenset(("upper_arm_link", "wrist_1_link"))}
    assert all(reasons.get(pair) == "never" for pair in near if pair not in fold)


@arms
def test_mujoco_agrees_with_the_exact_distance_on_what_is_free(name: str) -> None:
    """Contacts of MuJoCo's model, without the floor, are exactly those of the pairs that are checked."""
    robot = kd.load(name)
    model = kd.sim.to_mujoco(robot, floor=False)
    data = mujoco.MjData(model)
    q = robot.random(200, seed=3)
    distance = kd.collision.distance(robot, q, exact=True).distance
    for row, exact in zip(q, distance, strict=True):
        data.qpos[:] = row
        mujoco.mj_forward(model, data)
        if abs(exact) > 1e-4:
            assert (data.ncon == 0) == (exact > 0.0)
    assert (distance > 0.0).mean() >= FREE_SHARE[name]


@pytest.mark.parametrize(("name", "configuration"), [("panda", "ready"), ("ur5", "bent"), ("puma560", "ready")])
def test_mujoco_holds_the_arm_with_contacts(name: str, configuration: str) -> None:
    robot = kd.load(name).replace(damping=0.0)
    q = robot.configuration(configuration)
    hold = kd.control.PDGravity(robot, q, kd.control.Gains.from_frequency(10.0))
    run = kd.sim.simulate(robot, hold, 0.5, q0=q, engine="mujoco")
    assert np.abs(run.signals["error"]).max() < 1e-3


@arms
def test_drawn_meshes_are_closed_and_face_outwards(name: str) -> None:
    for link in kd.load(name).description.links:
        for shape in link.visuals:
            assert shape.triangles is not None
            mesh = TriangleMesh(*shape.triangles)
            assert len(open_edges(mesh.faces)) == 0
            corners = mesh.vertices[mesh.faces]
            volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
            assert volume == pytest.approx(triangle_inertia(mesh, 1.0).mass)
            assert volume > 0.0


@arms
def test_collision_shapes_agree_with_what_is_drawn(name: str) -> None:
    """Of each link with both, boxes around them differ by at most 6 cm: capsules are rounder, and reach into joints."""
    for link in kd.load(name).description.links:
        if not link.collisions:
            continue
        drawn = np.concatenate([points(shape) for shape in link.visuals])
        solid = np.concatenate([points(shape) for shape in link.collisions])
        for end in (np.min, np.max):
            assert np.abs(end(drawn, axis=0) - end(solid, axis=0)).max() < 0.06, link.name


def points(shape: Shape) -> np.ndarray:
    """Return points of a shape in its link: vertices, or the corners of the boxes around both ends of a capsule."""
    R, p = shape.T_link_shape[:3, :3], shape.T_link_shape[:3, 3]
    if shape.triangles is not None:
        return shape.triangles[0] @ R.T + p
    half = 0.5 * shape.size[1] * R[:, 2] if shape.kind == "capsule" else np.zeros(3)
    corners = shape.size[0] * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.concatenate([p - half + corners, p + half + corners])


def test_the_hand_of_the_panda_is_open_around_its_tool_frame() -> None:
    """Between the fingers there are 80 mm; the tool frame lies between the fingertips."""
    robot = kd.load("panda")
    T_link_tool = next(frame.T_link_frame for frame in robot.description.frames if frame.name == "panda_hand_tcp")
    link = next(link for link in robot.description.links if link.name == "panda_link7")
    fingers = [shape for shape in link.collisions if shape.size[0] < 0.012]
    assert len(fingers) == 2
    for shape in fingers:
        tips = np.array([shape.T_link_shape @ [0, 0, sign * 0.5 * shape.size[1], 1] for sign in (-1, 1)])
        local = (np.linalg.inv(T_link_tool) @ tips.T).T
        assert np.abs(local[:, 0]).max() < 1e-9
        assert np.abs(local[:, 1]).min() - shape.size[0] == pytest.approx(0.04, abs=1e-9)
        assert local[:, 2].max() + shape.size[0] == pytest.approx(0.009, abs=1e-9)
    assert robot.nq == 7
    assert robot.mass == pytest.approx(sum(link.inertia.mass for link in robot.description.links[1:] if link.inertia))
