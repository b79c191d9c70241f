"""Fixtures shared by the tests of several packages: instruction sets, test robots, random states, Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import settings
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.description.base import with_base
from kinodyn.description.types import Description, Frame, Inertia, Joint, Link, Mimic
from kinodyn.model.robot import Robot

# No test depends on how busy the machine is.
settings.register_profile("kinodyn", deadline=None)
settings.load_profile("kinodyn")

# Shells ignore Ctrl-C in background jobs; the tests send the signal themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test once with each instruction set of this processor."""
    before = _core.instruction_set()
    assert _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(before)


def placed(seed: int, extent: float = 0.5) -> Array:
    """Return a random pose."""
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    T[:3, 3] = rng.uniform(-extent, extent, 3)
    return T


def heavy(name: str, seed: int) -> Link:
    """Return a link with a full, physically consistent inertia matrix."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 3)) * 0.2
    masses = rng.uniform(0.1, 0.5, 8)
    com = masses @ points / masses.sum()
    arms = points - com
    matrix = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    return Link(name, Inertia(float(masses.sum()), com, np.asarray(matrix)))


def direction(seed: int) -> Array:
    """Return a random unit vector."""
    axis = np.random.default_rng(seed).normal(size=3)
    return np.asarray(axis / np.linalg.norm(axis))


def chain(*kinds: str, **options: float) -> Description:
    """Return a chain with one joint of each kind; axes and placements are random."""
    links = [Link("l0"), *(heavy(f"l{i + 1}", i) for i in range(len(kinds)))]
    joints = [
        Joint(f"j{i + 1}", kind, f"l{i}", f"l{i + 1}", placed(i), direction(i), **options)  # type: ignore[arg-type]
        for i, kind in enumerate(kinds)
    ]
    return Description("chain", tuple(links), tuple(joints), (Frame("tool", links[-1].name, placed(99)),))


def mimics() -> Description:
    """Return a robot with mimic joints: chained, prismatic after revolute, in other branches, before and after."""
    parents = {"a": "root", "b": "a", "c": "b", "d": "b", "e": "root", "f": "e", "g": "d"}
    kinds = {"a": "revolute", "b": "revolute", "c": "prismatic", "d": "ball", "e": "continuous", "f": "revolute"}
    follow = {"a": Mimic("f", -2.0, 0.3), "c": Mimic("b", 0.5, -0.1), "e": Mimic("a", 0.7, 0.2), "g": Mimic("b", 1.5)}
    joints = tuple(
        Joint(
            f"to_{name}",
            kinds.get(name, "revolute"),  # type: ignore[arg-type]
            parent,
            name,
            placed(i),
            direction(i),
            armature=0.01 * i,
            damping=0.02 * i,
            mimic=Mimic(f"to_{follow[name].joint}", follow[name].multiplier, follow[name].offset)
            if name in follow
            else None,
        )
        for i, (name, parent) in enumerate(parents.items())
    )
    links = (Link("root"), *(heavy(name, i) for i, name in enumerate(parents)))
    return Description("mimics", links, joints, (Frame("tool", "g", placed(7)),))


def two_free_bodies() -> Description:
    """Return a robot of two independent bodies."""
    joints = (
        Joint("free1", "floating", "world", "one", placed(1)),
        Joint("swing", "revolute", "one", "arm", placed(2), direction(2)),
        Joint("free2", "floating", "world", "two", placed(3)),
    )
    return Description("two", (Link("world"), heavy("one", 1), heavy("arm", 2), heavy("two", 3)), joints)


def deep(n: int) -> Description:
    """Return a chain of many short links with alternating axes."""
    T = np.eye(4)
    T[2, 3] = 0.02
    inertia = Inertia(0.1, np.array([0.0, 0.001, 0.01]), np.diag([2e-3, 2e-3, 2e-3]))
    links = (Link("l0"), *(Link(f"l{i + 1}", inertia) for i in range(n)))
    joints = (Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", T, np.eye(3)[i % 2]) for i in range(n))
    return Description("deep", links, tuple(joints))


ZOO: dict[str, Callable[[], Robot]] = {
    "one revolute": lambda: Robot(chain("revolute")),
    "one prismatic": lambda: Robot(chain("prismatic")),
    "one ball": lambda: Robot(chain("ball", damping=0.3, armature=0.1)),
    "one planar": lambda: Robot(chain("planar", damping=0.3, armature=0.1)),
    "one free body": lambda: Robot(chain("floating")),
    "every kind": lambda: Robot(chain("prismatic", "ball", "revolute", "planar", "fixed", "floating", "continuous")),
    "every kind, driven": lambda: Robot(
        chain("revolute", "floating", "ball", "prismatic", "planar", armature=0.05, damping=0.2)
    ),
    "mimics": lambda: Robot(mimics()),
    "mimics on a free base": lambda: Robot(with_base(mimics(), "floating")),
    "two free bodies": lambda: Robot(two_free_bodies()),
    "sideways gravity": lambda: Robot(chain("revolute", "prismatic", "ball")).replace(gravity=[1.0, -2.0, 3.0]),
    "puma560": lambda: kd.load("puma560"),
    "scara": lambda: kd.load("scara"),
    "panda": lambda: kd.load("panda"),
    "humanoid": lambda: kd.load("humanoid"),
}


@pytest.fixture(scope="session", params=ZOO)
def robot(request: pytest.FixtureRequest) -> Robot:
    """Run the test with each of the test robots."""
    return ZOO[request.param]()


@pytest.fixture(scope="session")
def deep_chain() -> Callable[[int], Description]:
    """Return the function that makes long chains."""
    return deep


@pytest.fixture(scope="session")
def zoo() -> dict[str, Callable[[], Robot]]:
    """Return the functions that make the test robots, by name."""
    return ZOO


State4 = tuple[Array, Array, Array, Array]


@pytest.fixture(scope="session")
def states() -> Callable[..., State4]:
    """Return the function that draws n samples of q, v, a, tau, or one if n is None."""

    def draw(robot: Robot, n: int | None = None, seed: int = 0) -> State4:
        rng = np.random.default_rng(seed)
        shape = (robot.nv,) if n is None else (n, robot.nv)
        return robot.random(n, seed=seed), rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=shape)

    return draw


@pytest.fixture(scope="session")
def assert_close() -> Callable[..., None]:
    """Return the check that two arrays agree relative to their largest entry, or to 1 if all are smaller."""

    def check(found: Array, expected: Array, tolerance: float = 1e-11) -> None:
        expected = np.asarray(expected)
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)

    return check


@pytest.fixture(scope="session")
def rate() -> Callable[..., Array]:
    """Return the function for numerical derivatives of f(t) at 0, of fourth order."""

    def derivative(f: Callable[[float], Array], h: float = 1e-3) -> Array:
        return np.asarray((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h))

    return derivative


@pytest.fixture(scope="session")
def every_kind() -> Robot:
    """Return a chain with a joint of each kind and two mimic joints: links l0 to l9."""
    kinds = ("revolute", "prismatic", "continuous", "ball", "planar", "revolute", "prismatic", "floating", "revolute")
    links = [Link(f"l{i}", Inertia(1.0 + i, placed(i, 0.4)[:3, 3], np.diag([0.1, 0.2, 0.25]))) for i in range(10)]
    mimic = {5: Mimic("j0", -1.5, 0.2), 6: Mimic("j1", 0.5)}
    joints = [
        Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", placed(i, 0.4), placed(i, 0.4)[:3, 0], mimic=mimic.get(i))
        for i, kind in enumerate(kinds)
    ]
    return Robot(Description("every kind", tuple(links), tuple(joints)))
