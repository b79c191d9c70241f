"""Pairs of links that need no check: known robots, exact shapes against spheres, SRDF files."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import allowed_pairs, exact, write_srdf
from kinodyn.description.types import Description, Joint, Link, Shape


def chain(*sizes: tuple[float, float, float], limit: float = 0.5, spacing: float = 0.5) -> kd.Robot:
    """Boxes in a row along z, each on a revolute joint about x."""
    place = kd.spatial.exp([0.0, 0.0, spacing, 0.0, 0.0, 0.0])
    links = [Link(f"link{k}", collisions=(Shape("box", size, np.eye(4)),)) for k, size in enumerate(sizes)]
    x = np.array([1.0, 0.0, 0.0])
    joints = [
        Joint(f"j{k}", "revolute", f"link{k}", f"link{k + 1}", place, x, lower=-limit, upper=limit)
        for k in range(len(sizes) - 1)
    ]
    return kd.Robot(Description("chain", tuple(links), tuple(joints)))


def test_neighbours_are_allowed_and_distant_links_never_touch() -> None:
    found = allowed_pairs(chain(*[(0.1, 0.1, 0.3)] * 3, limit=0.3))
    assert found.reasons == {
        frozenset({"link0", "link1"}): "adjacent",
        frozenset({"link1", "link2"}): "adjacent",
        frozenset({"link0", "link2"}): "never",
    }
    assert ("link2", "link0") in found and ("link0", "link9") not in found and len(found) == 3


def test_a_pair_that_can_touch_is_checked() -> None:
    assert ("link0", "link2") not in allowed_pairs(chain(*[(0.1, 0.1, 0.3)] * 3, limit=3.0))


def test_a_pair_that_always_touches_is_allowed() -> None:
    robot = chain((0.1, 0.1, 3.0), (0.1, 0.1, 0.1), (0.1, 0.1, 3.0), limit=0.3)
    assert allowed_pairs(robot).reasons[frozenset({"link0", "link2"})] == "always"


def test_exact_shapes_decide_where_only_spheres_overlap() -> None:
    """Plates 1 mm apart: their spheres always overlap, the plates never do."""
    turn = Joint("turn", "continuous", "low", "middle", axis=np.array([0.0, 0.0, 1.0]))
    lift = kd.spatial.exp([0.0, 0.0, 0.003, 0.0, 0.0, 0.0])
    again = Joint("again", "continuous", "middle", "high", lift, np.array([0.0, 0.0, 1.0]))
    plate = (Shape("box", (0.3, 0.3, 0.002), np.eye(4)),)
    small = (Shape("box", (0.001, 0.001, 0.001), np.eye(4)),)
    links = (Link("low", collisions=plate), Link("middle", collisions=small), Link("high", collisions=plate))
    found = allowed_pairs(kd.Robot(Description("plates", links, (turn, again))))
    assert found.reasons[frozenset({"low", "high"})] == "never"


@pytest.mark.parametrize(("overlap", "allowed"), [(1e-4, True), (5e-3, False)])
def test_fingers_that_only_touch_when_closed_are_allowed(overlap: float, allowed: bool) -> None:
    pad = (Shape("box", (0.02, 0.02, 0.02), np.eye(4)),)
    links = (Link("palm"), Link("left", collisions=pad), Link("right", collisions=pad))
    x = np.array([1.0, 0.0, 0.0])
    fingers = []
    for name, sign in (("left", 1.0), ("right", -1.0)):
        place = kd.spatial.pose([sign * (0.01 - overlap / 2), 0.0, 0.0])
        fingers.append(Joint(name, "prismatic", "palm", name, place, sign * x, lower=0.0, upper=0.04))
    found = allowed_pairs(kd.Robot(Description("gripper", links, tuple(fingers))))
    assert (("left", "right") in found) == allowed


@pytest.mark.parametrize(("width", "reason"), [(0.56, "default"), (0.09, None)])
def test_shapes_that_overlap_in_the_neutral_configuration_and_often_are_allowed(
    width: float, reason: str | None
) -> None:
    """A long box turns above a plate: a broad one is hit at many angles, a narrow one hardly ever elsewhere."""
    z = np.array([0.0, 0.0, 1.0])
    links = (
        Link("base", collisions=(Shape("box", (0.1, width, 0.05), kd.spatial.pose([0.4, 0.0, 0.0])),)),
        Link("between", collisions=(Shape("sphere", (0.001,), kd.spatial.pose([0.0, 0.0, 1.0])),)),
        Link("arm", collisions=(Shape("box", (0.5, 0.02, 0.02), kd.spatial.pose([0.25, 0.0, 0.0])),)),
    )
    joints = (
        Joint("first", "revolute", "base", "between", axis=z, lower=-1.5, upper=1.5),
        Joint("second", "revolute", "between", "arm", axis=z, lower=-1.5, upper=1.5),
    )
    found = allowed_pairs(kd.Robot(Description("turning", links, joints)))
    assert found.reasons.get(frozenset({"base", "arm"})) == reason


def test_fixed_links_are_allowed_and_neighbours_are_found_across_links_without_shape() -> None:
    box = (Shape("box", (0.1, 0.1, 0.1), np.eye(4)),)
    links = (Link("a", collisions=box), Link("b"), Link("c", collisions=box), Link("d", collisions=box))
    joints = (
        Joint("ab", "continuous", "a", "b"),
        Joint("bc", "continuous", "b", "c"),
        Joint("cd", "fixed", "c", "d"),
    )
    found = allowed_pairs(kd.Robot(Description("r", links, joints))).reasons
    assert found[frozenset({"c", "d"})] == "fixed" and found[frozenset({"a", "c"})] == "adjacent"


def test_pairs_of_the_description_are_kept() -> None:
    robot = chain(*[(0.1, 0.1, 0.3)] * 3, limit=3.0)
    excluded = Description(
        "chain", robot.description.links, robot.description.joints, collision_exclusions=(("link0", "link2"),)
    )
    assert allowed_pairs(kd.Robot(excluded)).reasons[frozenset({"link0", "link2"})] == "srdf"


@pytest.mark.parametrize("name", ["humanoid", "panda", "ur5", "ur5_robot", "kinova", "panda_description"])
def test_pairs_classified_as_never_colliding_do_not_collide(name: str) -> None:
    if name not in kd.robots():
        pytest.skip(f"{name} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name)
        reasons = allowed_pairs(robot).reasons
    for q in robot.random(100, seed=5):
        links = exact.placed_links(robot, q)
        for pair, reason in reasons.items():
            if reason == "never":
                first, second = pair
                assert not exact.collide(links[first], links[second]), pair


def test_the_written_srdf_is_read_again(tmp_path: Path) -> None:
    robot = kd.load("panda")
    path = tmp_path / "panda.srdf"
    text = write_srdf(robot, path)
    assert path.read_text() == text and 'reason="Adjacent"' in text
    again = kd.description.read_srdf(path, robot.description)
    assert {frozenset(pair) for pair in again.collision_exclusions} == allowed_pairs(robot).pairs


def test_pairs_without_coal_come_from_spheres_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "is_available", lambda: False)
    robot = chain((0.1, 0.1, 3.0), (0.1, 0.1, 0.1), (0.1, 0.1, 3.0), limit=0.3)
    assert allowed_pairs(robot).reasons[frozenset({"link0", "link2"})] == "always"
