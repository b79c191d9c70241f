"""The check that every description passes: each fault is found, named and placed."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinodyn.description.types import Description, Frame, Inertia, Joint, Link, Mimic, Shape
from kinodyn.description.validation import validate
from kinodyn.errors import DescriptionError, DescriptionWarning

FILE = Path("arm.urdf")


def body(mass: float = 1.0, moments: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Inertia:
    return Inertia(mass, np.zeros(3), np.diag(moments))


def arm(*joints: Joint, links: tuple[Link, ...] | None = None, frames: tuple[Frame, ...] = ()) -> Description:
    """Make an arm of three links with lines 1, 2, 3 and the given joints, by default two hinges on lines 11, 12."""
    links = links or (Link("a", line=1), Link("b", body(), line=2), Link("c", body(), line=3))
    joints = joints or (hinge("j1", "a", "b", line=11), hinge("j2", "b", "c", line=12))
    return Description("arm", links, joints, frames, source=FILE)


def hinge(name: str, parent: str, child: str, **more: object) -> Joint:
    return replace(Joint(name, "revolute", parent, child), **more)


def with_joint(**more: object) -> Description:
    """Make the arm with changes to its first joint."""
    return arm(hinge("j1", "a", "b", **{"line": 11, **more}), hinge("j2", "b", "c", line=12))


def with_inertia(inertia: Inertia) -> Description:
    return arm(links=(Link("a"), Link("b", inertia, line=7), Link("c")))


def assert_passes_without_a_word(description: Description) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        validate(description)
    assert [str(warning.message) for warning in said] == []


def refusal(description: Description) -> DescriptionError:
    with pytest.raises(DescriptionError) as caught:
        validate(description)
    assert caught.value.file == FILE
    return caught.value


def test_a_valid_arm_is_accepted_without_a_warning() -> None:
    assert_passes_without_a_word(arm())


def test_a_robot_without_links_is_rejected() -> None:
    assert "no links" in str(refusal(Description("none", (), source=FILE)))


@pytest.mark.parametrize(
    ("description", "line", "element"),
    [
        (arm(links=(Link("a", line=1), Link("b", line=2), Link("a", line=9))), 9, 'link name="a"'),
        (arm(hinge("j", "a", "b", line=4), hinge("j", "b", "c", line=5)), 5, 'joint name="j"'),
        (arm(frames=(Frame("f", "a", np.eye(4)), Frame("f", "b", np.eye(4)))), None, 'frame name="f"'),
        (arm(frames=(Frame("b", "a", np.eye(4)),)), None, 'frame name="b"'),
    ],
)
def test_a_duplicate_name_is_rejected(description: Description, line: int | None, element: str) -> None:
    error = refusal(description)
    assert (error.line, error.element) == (line, element)
    assert "used twice" in str(error)


def test_a_duplicate_name_is_reported_with_its_first_use() -> None:
    assert "first on line 4" in str(refusal(arm(hinge("j", "a", "b", line=4), hinge("j", "b", "c", line=5))))


@pytest.mark.parametrize("end", ["parent", "child"])
def test_a_joint_to_a_missing_link_is_rejected_with_the_nearest_names(end: str) -> None:
    links = (Link("shoulder", line=1), Link("elbow", line=2))
    ends = {"parent": "shoulder", "child": "elbow", end: "elbov"}
    error = refusal(arm(hinge("j", ends["parent"], ends["child"], line=6), links=links))
    assert (error.line, error.element) == (6, 'joint name="j"')
    assert f"its {end} does not exist" in str(error)
    assert "did you mean 'elbow'" in str(error)


def test_a_frame_on_a_missing_link_is_rejected() -> None:
    error = refusal(arm(frames=(Frame("tool", "z", np.eye(4)),)))
    assert error.element == 'frame name="tool"'
    assert "unknown link 'z'" in str(error)


def test_a_link_with_two_parents_is_rejected_at_the_second_joint() -> None:
    error = refusal(arm(hinge("j1", "a", "b"), hinge("j2", "b", "c"), hinge("j3", "a", "c", line=33)))
    assert (error.line, error.element) == (33, 'joint name="j3"')
    assert "'c' is already the child of joint 'j2'" in str(error)


def test_two_roots_are_named() -> None:
    error = refusal(arm(hinge("j1", "a", "b")))
    assert (error.line, error.element) == (3, 'link name="c"')
    assert "2 roots: a, c" in str(error)


def test_a_loop_with_no_root_names_its_links() -> None:
    error = refusal(arm(hinge("j1", "a", "b", line=4), hinge("j2", "b", "c", line=5), hinge("j3", "c", "a", line=6)))
    assert error.line in (4, 5, 6)
    assert "loop of links" in str(error)
    assert all(f" {name}" in error.message for name in "abc")


def test_a_loop_beside_the_tree_names_only_its_own_links() -> None:
    links = tuple(Link(name) for name in ("root", "tip", "ring1", "ring2"))
    joints = (hinge("j", "root", "tip"), hinge("r1", "ring1", "ring2"), hinge("r2", "ring2", "ring1"))
    message = refusal(arm(*joints, links=links)).message
    assert "ring1" in message
    assert "ring2" in message
    assert "root" not in message
    assert "tip" not in message


def test_a_joint_from_a_link_to_itself_is_a_loop() -> None:
    assert "same link 'b'" in str(refusal(arm(hinge("j1", "a", "b"), hinge("j2", "b", "c"), hinge("j3", "b", "b"))))


@pytest.mark.parametrize("axis", [(0, 0, 0), (0, 0, math.nan), (0, math.inf, 0), (0, 0, 1.001), (0, 0, 0.5)])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar"])
def test_an_axis_that_is_not_a_unit_vector_is_rejected(axis: tuple[float, ...], kind: str) -> None:
    error = refusal(with_joint(axis=np.array(axis, dtype=float), kind=kind))
    assert (error.line, error.element) == (11, 'joint name="j1"')
    assert "unit vector" in str(error)


@pytest.mark.parametrize("kind", ["fixed", "floating", "ball"])
def test_the_axis_of_joints_without_one_is_ignored(kind: str) -> None:
    assert_passes_without_a_word(with_joint(axis=np.zeros(3), kind=kind))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lower": 1.0, "upper": -1.0}, "lower limit 1.0 is above upper limit -1.0"),
        ({"lower": math.nan}, "limits must be numbers, got"),
        ({"upper": math.nan}, "limits must be numbers, got"),
        ({"lower": math.inf}, "allow no finite position"),
        ({"upper": -math.inf}, "allow no finite position"),
        ({"velocity": -1.0}, "velocity limit must be nonnegative, or infinite for no limit, got -1.0"),
        ({"velocity": math.nan}, "velocity limit must be nonnegative, or infinite for no limit, got nan"),
        ({"effort": -2.0}, "effort limit must be nonnegative, or infinite for no limit, got -2.0"),
        ({"effort": math.nan}, "effort limit must be nonnegative, or infinite for no limit, got nan"),
        ({"damping": -0.1}, "damping must be finite and nonnegative, got -0.1"),
        ({"friction": math.nan}, "friction must be finite and nonnegative, got nan"),
        ({"armature": math.inf}, "armature must be finite and nonnegative, got inf"),
        ({"reference": math.nan}, "reference position must be finite, got nan"),
        ({"axis": np.ones(2)}, "axis must be (3,), got shape (2,)"),
        ({"kind": "screw"}, "planar, ball, got 'screw'"),
        ({"T_parent_child": np.eye(3)}, "shape (3, 3)"),
        ({"T_parent_child": np.full((4, 4), np.nan)}, "not finite"),
        ({"T_parent_child": np.diag([1.0, 1.0, -1.0, 1.0])}, "not rigid"),
        ({"T_parent_child": np.diag([1.0, 1.0, 1.001, 1.0])}, "not rigid"),
        ({"T_parent_child": np.ones((4, 4))}, "not rigid"),
        ({"mimic": Mimic("j2", math.nan)}, "not finite"),
    ],
)
def test_a_joint_with_invalid_numbers_is_rejected(change: dict[str, object], said: str) -> None:
    error = refusal(with_joint(**change))
    assert (error.line, error.element) == (11, 'joint name="j1"')
    assert said in str(error)


def test_a_joint_with_equal_limits_is_accepted() -> None:
    assert_passes_without_a_word(with_joint(lower=0.0, upper=0.0, velocity=0.0, effort=0.0))


@pytest.mark.parametrize(
    ("inertia", "said"),
    [
        (body(math.nan), "mass must be finite and nonnegative [kg], got nan"),
        (body(math.inf), "mass must be finite and nonnegative [kg], got inf"),
        (body(-1.0), "mass must be finite and nonnegative [kg], got -1.0"),
        (Inertia(1.0, np.array([0.0, math.nan, 0.0]), np.eye(3)), "centre of mass is not finite"),
        (Inertia(1.0, np.zeros(2), np.eye(3)), "centre of mass must be (3,), got shape (2,)"),
        (Inertia(1.0, np.zeros(3), np.eye(2)), "inertia must be (3, 3), got shape (2, 2)"),
        (body(moments=(1.0, math.nan, 1.0)), "inertia is not finite"),
        (Inertia(1.0, np.zeros(3), np.eye(3) + np.eye(3, k=1)), "not symmetric"),
        (body(moments=(1.0, 1.0, -0.5)), "negative principal moment -0.5"),
        (body(moments=(-1e-6, 1e-6, 1e-6)), "negative principal moment"),
        (body(0.0, (-1.0, 1.0, 1.0)), "negative principal moment"),
    ],
)
def test_an_invalid_mass_or_inertia_is_rejected(inertia: Inertia, said: str) -> None:
    error = refusal(with_inertia(inertia))
    assert (error.line, error.element) == (7, 'link name="b"')
    assert said in str(error)


def test_a_negative_moment_hidden_off_the_diagonal_is_found() -> None:
    matrix = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # eigenvalues -1, 1, 3
    assert "moment -1 " in str(refusal(with_inertia(Inertia(1.0, np.zeros(3), matrix))))


@pytest.mark.parametrize(
    "inertia",
    [
        body(2.0, (0.0, 0.0, 0.0)),  # a point
        body(2.0, (0.0, 1.0, 1.0)),  # a thin rod
        body(2.0, (1.0, 1.0, 2.0)),  # a thin plate
        body(2.0, (1.0, 1.0, 2.000001)),  # a thin plate with six digits
        body(0.0, (0.0, 0.0, 0.0)),  # nothing
        body(2.0, (-1e-20, 0.0, 1e-20)),  # what cancellation leaves
    ],
)
def test_inertias_at_the_limit_of_consistency_are_accepted(inertia: Inertia) -> None:
    assert_passes_without_a_word(with_inertia(inertia))


@pytest.mark.parametrize(
    "inertia", [body(1.0, (1.0, 1.0, 2.1)), body(0.0, (1.0, 1.0, 1.0)), body(1e-6, (-4e-8, 4e-8, 9e-8))]
)
def test_a_physically_inconsistent_inertia_is_a_warning_that_names_the_link(inertia: Inertia) -> None:
    with pytest.warns(
        DescriptionWarning, match=r"arm\.urdf: correct 1 link with a physically inconsistent inertia: b;"
    ):
        validate(with_inertia(inertia))


def test_a_frame_or_shape_that_is_not_rigid_is_rejected() -> None:
    bent = np.diag([1.0, 2.0, 1.0, 1.0])
    assert refusal(arm(frames=(Frame("f", "a", bent),))).element == 'frame name="f"'
    link = Link("a", visuals=(Shape("box", (1.0, 1.0, 1.0), bent),), line=5)
    error = refusal(Description("one", (link,), source=FILE))
    assert (error.line, error.element) == (5, 'link name="a"')
    assert "T_link_shape of a box is not rigid" in str(error)


def test_a_mimic_of_an_unknown_joint_is_rejected_with_the_nearest_names() -> None:
    error = refusal(with_joint(mimic=Mimic("j3")))
    assert (error.line, error.element) == (11, 'joint name="j1"')
    assert "mimics a joint that does not exist: unknown joint 'j3'; did you mean" in str(error)


def test_a_mimic_of_itself_is_rejected() -> None:
    assert "mimics itself" in str(refusal(with_joint(mimic=Mimic("j1"))))


@pytest.mark.parametrize("kind", ["fixed", "floating", "planar", "ball"])
def test_only_joints_of_one_coordinate_follow_or_lead(kind: str) -> None:
    follower = refusal(with_joint(kind=kind, mimic=Mimic("j2")))
    assert f"'j1' follows but is {kind}" in str(follower)
    joints = (hinge("j1", "a", "b", kind=kind), hinge("j2", "b", "c", mimic=Mimic("j1"), line=12))
    leader = refusal(arm(*joints))
    assert leader.line == 12
    assert f"'j1' is followed but is {kind}" in str(leader)


def test_cyclic_mimics_are_rejected_and_named() -> None:
    joints = (hinge("j1", "a", "b", mimic=Mimic("j2")), hinge("j2", "b", "c", mimic=Mimic("j1")))
    assert "loop: j1, j2, j1" in str(refusal(arm(*joints)))


def test_a_chain_of_mimics_is_accepted_in_any_order() -> None:
    links = tuple(Link(name) for name in "abcd")
    first, second = hinge("j1", "a", "b", mimic=Mimic("j2")), hinge("j2", "b", "c", mimic=Mimic("j3"))
    assert_passes_without_a_word(arm(first, second, hinge("j3", "c", "d"), links=links))
    third = hinge("j3", "c", "d", mimic=Mimic("j2", -0.5, 0.1))
    second = hinge("j2", "b", "c", mimic=Mimic("j1"))
    assert_passes_without_a_word(arm(hinge("j1", "a", "b"), second, third, links=links))


def test_a_loop_of_twenty_thousand_links_is_found_without_recursion() -> None:
    count = 20_000
    links = tuple(Link(f"l{i}") for i in range(count))
    joints = tuple(hinge(f"j{i}", f"l{i}", f"l{(i + 1) % count}") for i in range(count))
    assert "loop" in str(refusal(arm(*joints, links=links)))


def test_a_chain_of_twenty_thousand_mimics_is_accepted() -> None:
    count = 20_000
    links = tuple(Link(f"l{i}") for i in range(count + 1))
    joints = [hinge(f"j{i}", f"l{i}", f"l{i + 1}", mimic=Mimic(f"j{i + 1}")) for i in range(count - 1)]
    last = hinge(f"j{count - 1}", f"l{count - 1}", f"l{count}")
    assert_passes_without_a_word(arm(*joints, last, links=links))
