"""What the tests of derivations share: robots that can be derived, and states for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, JointKind, Link, Mimic
from kinodyn.model.robot import Robot


def link(name: str, seed: int) -> Link:
    """Make a link of eight points at random places: a full inertia that a body can have."""
    rng = np.random.default_rng(seed)
    points, masses = rng.normal(size=(8, 3)) * 0.2, rng.uniform(0.1, 0.5, 8)
    com = masses @ points / masses.sum()
    arms = points - com
    matrix = np.einsum("i,ij,ij->", masses, arms, arms) * np.eye(3) - np.einsum("i,ij,ik->jk", masses, arms, arms)
    return Link(name, Inertia(float(masses.sum()), com, matrix))


def placed(seed: int) -> Array:
    """Make a pose that is parallel to nothing."""
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    T[:3, 3] = rng.uniform(-0.5, 0.5, 3)
    return T


def tree(joints: list[tuple[JointKind, str, Mimic | None]], **options: float) -> Robot:
    """Make a robot of joints (kind, parent, mimic) with arbitrary axes; joint j<i> carries link l<i>."""
    axes = np.random.default_rng(5).normal(size=(len(joints), 3))
    made = tuple(
        Joint(f"j{i}", kind, parent, f"l{i}", placed(i), axis / np.linalg.norm(axis), mimic=mimic, **options)
        for i, ((kind, parent, mimic), axis) in enumerate(zip(joints, axes, strict=True), start=1)
    )
    links = (Link("l0"), *(link(f"l{i}", i) for i in range(1, len(joints) + 1)))
    return Robot(Description("tree", links, made))


def gripper() -> Robot:
    """Two fingers, the second after the first, on a wrist that turns half as far as the arm."""
    return tree(
        [
            ("revolute", "l0", None),
            ("revolute", "l1", Mimic("j1", 0.5, 0.3)),
            ("prismatic", "l2", None),
            ("prismatic", "l2", Mimic("j3", -1.0, 0.1)),
        ]
    )


ROBOTS: dict[str, Callable[[], Robot]] = {
    "planar2r": lambda: kd.load("planar2r"),
    "planar3r": lambda: kd.load("planar3r"),
    "scara": lambda: kd.load("scara"),
    "puma560, three joints": lambda: kd.derivation.cut(kd.load("puma560"), "joint3"),
    "slides": lambda: tree([("prismatic", "l0", None), ("continuous", "l1", None), ("prismatic", "l2", None)]),
    "mimic": gripper,
    "branches": lambda: tree([("revolute", "l0", None), ("revolute", "l1", None), ("prismatic", "l1", None)]),
    "planar joint": lambda: tree([("planar", "l0", None), ("revolute", "l1", None)]),
    "motors": lambda: tree([("revolute", "l0", None), ("revolute", "l1", None)], armature=0.3, damping=0.7),
    "sideways gravity": lambda: kd.load("planar2r").replace(gravity=[1.0, -2.0, 3.0], damping=[0.1, 0.0]),
}


@pytest.fixture(scope="session", params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    """Give each robot in turn."""
    return ROBOTS[request.param]()


@pytest.fixture(scope="session")
def make_tree() -> Callable[..., Robot]:
    """Give the maker of trees."""
    return tree


@pytest.fixture(scope="session")
def states() -> Callable[[Robot], tuple[Array, Array, Array]]:
    """Give the function that draws 60 states q, v, a."""

    def draw(robot: Robot) -> tuple[Array, Array, Array]:
        v, a = np.random.default_rng(1).normal(size=(2, 60, robot.nv))
        return robot.random(60, seed=2), v, a

    return draw


@pytest.fixture(scope="session")
def assert_equal() -> Callable[[Array, Array], None]:
    """Give the check that numbers agree to 1e-10, or to that share of the largest."""

    def check(found: Array, expected: Array) -> None:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * max(1.0, np.abs(expected).max(initial=0.0)))

    return check
