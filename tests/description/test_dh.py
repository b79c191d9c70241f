"""Denavit-Hartenberg tables against the product of their matrices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinodyn.arrays import Array
from kinodyn.description.dh import DH, description_from_dh
from kinodyn.errors import DescriptionError, InputError

angles = st.sampled_from([0.0, math.pi / 2, -math.pi / 2]) | st.floats(-math.pi, math.pi)
lengths = st.just(0.0) | st.floats(-2.0, 2.0)
rows = st.builds(
    DH,
    a=lengths,
    alpha=angles,
    d=lengths,
    theta=angles,
    joint=st.sampled_from(["revolute", "prismatic", "fixed"]),
)
conventions = st.sampled_from(["standard", "modified"])


def rot_x(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def rot_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def shift(x: float, y: float, z: float) -> Array:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def dh_matrix(row: DH, q: float, convention: str) -> Array:
    """Write the matrix of one row as the textbooks do."""
    theta = row.theta + (q if row.joint == "revolute" else 0.0)
    d = row.d + (q if row.joint == "prismatic" else 0.0)
    if convention == "standard":
        return rot_z(theta) @ shift(0, 0, d) @ shift(row.a, 0, 0) @ rot_x(row.alpha)
    return rot_x(row.alpha) @ shift(row.a, 0, 0) @ rot_z(theta) @ shift(0, 0, d)


@settings(max_examples=150, deadline=None)
@given(table=st.lists(rows, min_size=1, max_size=6), convention=conventions, seed=st.integers(0, 100))
def test_every_link_frame_is_the_frame_of_its_row(link_poses, table, convention, seed):
    q = np.random.default_rng(seed).normal(size=len(table))
    positions = {f"joint{i}": (value,) for i, value in enumerate(q, start=1)}
    T = link_poses(description_from_dh(table, convention=convention), positions)
    T_base_row = np.eye(4)
    for i, row in enumerate(table):
        T_base_row = T_base_row @ dh_matrix(row, q[i], convention)
        np.testing.assert_allclose(T[f"link{i + 1}"], T_base_row, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(row=rows, convention=conventions, seed=st.integers(0, 100))
def test_base_and_tool_come_before_and_after_the_table(link_poses, row, convention, seed):
    rng = np.random.default_rng(seed)
    base, tool = (shift(*rng.normal(size=3)) @ rot_x(rng.normal()) @ rot_z(rng.normal()) for _ in range(2))
    description = description_from_dh([row], convention=convention, base=base, tool=tool)
    (frame,) = description.frames
    T = link_poses(description, {"joint1": (0.4,)})[frame.link] @ frame.T_link_frame
    np.testing.assert_allclose(T, base @ dh_matrix(row, 0.4, convention) @ tool, atol=1e-12)
    assert description.end_effectors == {"tool": "tool"}


def test_poses_may_be_scipy_rigid_transforms():
    pytest.importorskip("scipy", "1.16")
    from scipy.spatial.transform import RigidTransform

    tool = rot_x(0.3) @ shift(1, 2, 3)
    (frame,) = description_from_dh([DH()], tool=RigidTransform.from_matrix(tool)).frames
    np.testing.assert_allclose(frame.T_link_frame, tool, atol=1e-15)


def test_links_and_joints_have_default_names():
    description = description_from_dh([DH(a=0.3), DH(d=0.1, joint="prismatic", name="lift"), DH(d=0.2)])
    assert [link.name for link in description.links] == ["base", "link1/joint1", "link1", "link2", "link3"]
    assert [joint.name for joint in description.joints] == ["joint1", "link1_fixed", "lift", "joint3"]
    assert description.chains == {"arm": ("joint1", "lift", "joint3")}
    assert description.end_effectors == {"tool": "link3"}


def test_modified_tables_need_no_link_in_between():
    description = description_from_dh([DH(a=0.3), DH(a=0.2)], convention="modified")
    assert [link.name for link in description.links] == ["base", "link1", "link2"]


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_limits_and_mass_come_from_the_row(convention):
    row = DH(
        a=1.0,
        lower=-1,
        upper=2,
        velocity=3,
        effort=4,
        damping=5,
        friction=6,
        armature=7,
        mass=8,
        com=(1, 2, 3),
        inertia=np.diag([1, 2, 3]),
    )
    description = description_from_dh([row], convention=convention)
    joint, link = description.joints[0], description.links[-1]
    assert (joint.kind, joint.lower, joint.upper, joint.velocity, joint.effort) == ("revolute", -1, 2, 3, 4)
    assert (joint.damping, joint.friction, joint.armature) == (5, 6, 7)
    assert link.name == "link1" and link.inertia is not None and link.inertia.mass == 8
    np.testing.assert_array_equal(link.inertia.com, [1, 2, 3])
    np.testing.assert_array_equal(link.inertia.matrix, np.diag([1, 2, 3]))


def test_a_revolute_row_without_limits_is_continuous():
    assert description_from_dh([DH()]).joints[0].kind == "continuous"
    assert description_from_dh([DH(upper=1.0)]).joints[0].kind == "revolute"


def test_a_mass_without_inertia_is_a_point_mass():
    inertia = description_from_dh([DH(a=1.0, mass=2.0)]).links[-1].inertia
    assert inertia is not None and inertia.mass == 2.0
    assert not inertia.com.any() and not inertia.matrix.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joint": "hinge"}, "DH row 2: joint must be one of 'revolute', 'prismatic', 'fixed'"),
        ({"a": math.nan}, "DH row 2: a must be a finite number"),
        ({"theta": math.inf}, "DH row 2: theta must be a finite number"),
        ({"d": "long"}, r"DH row 2: d must be numbers of shape \(\)"),
        ({"alpha": [1.0, 2.0]}, r"DH row 2: alpha must have shape \(\)"),
        ({"com": (0, 0, 1)}, "row 2 has com but no mass"),
        ({"mass": 1.0, "com": (0, 0)}, r"com must have shape \(3,\), got \(2,\)"),
        ({"mass": 1.0, "inertia": (1, 1, 1)}, r"inertia must have shape \(3, 3\), got \(3,\)"),
    ],
)
def test_an_invalid_row_is_named_in_the_error(change, message):
    with pytest.raises(InputError, match=message):
        description_from_dh([DH(), replace(DH(), **change)])


@pytest.mark.parametrize("change", [{"lower": 2.0, "upper": 1.0}, {"mass": -1.0}, {"armature": -1.0}])
def test_invalid_values_are_description_errors(change):
    with pytest.raises(DescriptionError):
        description_from_dh([DH(**change)])


def test_two_joints_of_one_name_are_a_description_error():
    with pytest.raises(DescriptionError, match="twice"):
        description_from_dh([DH(name="j"), DH(name="j")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": []}, "rows must be a list of DH rows, at least one"),
        ({"rows": [(0, 0, 0, 0)]}, r"rows must be a list of kinodyn.DH objects"),
        ({"rows": [DH()], "convention": "craig"}, 'convention must be "standard" or "modified"'),
        ({"rows": [DH()], "tool": np.eye(3)}, r"tool must have shape \(..., 4, 4\)"),
        ({"rows": [DH()], "base": 2 * np.eye(4)}, "base: the"),
        ({"rows": [DH()], "base": np.diag([1.0, 1.0, -1.0, 1.0])}, "base: the"),
        ({"rows": [DH()], "tool": "flange"}, r"tool must be real numbers of shape \(..., 4, 4\)"),
    ],
)
def test_invalid_arguments_raise_with_what_is_allowed(arguments, message):
    with pytest.raises(InputError, match=message):
        description_from_dh(**arguments)
