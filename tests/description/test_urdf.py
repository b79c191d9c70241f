"""URDF from text: known answers, every element that is read, every fault with its line."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kinodyn.description.types import Mimic
from kinodyn.description.urdf import parse_urdf
from kinodyn.errors import DescriptionWarning

from .urdf_texts import LIMIT, hinge, link, parse_quietly, refusal, robot, the_joint, the_link

numbers = st.floats(-1e6, 1e6)


def test_links_and_joints_keep_the_order_and_lines_of_the_document() -> None:
    text = robot(
        '<link name="tip"/>',
        '<joint name="j2" type="fixed"><parent link="mid"/><child link="tip"/></joint>',
        '<link name="mid"/>',
        '<link name="root"/>',
        '<joint name="j1" type="fixed"><parent link="root"/><child link="mid"/></joint>',
    )
    description = parse_quietly(text)
    assert description.name == "test"
    assert [(one.name, one.line) for one in description.links] == [("tip", 2), ("mid", 4), ("root", 5)]
    assert [(one.name, one.line) for one in description.joints] == [("j2", 3), ("j1", 6)]
    assert (description.source, description.base) == (None, "fixed")


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_bounded_joints_have_all_their_limits(kind: str) -> None:
    joint = the_joint(hinge(kind=kind))
    assert (joint.kind, joint.parent, joint.child) == (kind, "a", "b")
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-1.0, 2.0, 3.0, 4.0)


def test_a_continuous_joint_has_no_position_limits_but_an_effort_limit() -> None:
    joint = the_joint(hinge(kind="continuous"))
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-math.inf, math.inf, 3.0, 4.0)
    free = the_joint(hinge("", kind="continuous"))
    assert (free.velocity, free.effort) == (math.inf, math.inf)


@pytest.mark.parametrize("kind", ["floating", "planar", "fixed"])
def test_joints_of_many_or_no_coordinates_have_no_limits(kind: str) -> None:
    joint = the_joint(hinge(kind=kind))
    assert joint.kind == kind
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-math.inf, math.inf, math.inf, math.inf)


def test_a_robot_on_a_floating_joint_has_a_floating_base() -> None:
    assert parse_quietly(hinge(kind="floating")).base == "floating"


def test_limits_may_be_infinite_and_an_omitted_one_is_zero() -> None:
    joint = the_joint(hinge('<limit lower="-inf" velocity="inf" effort="5"/>'))
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-math.inf, 0.0, math.inf, 5.0)


@pytest.mark.parametrize(
    ("inside", "lacks"),
    [
        ("", "velocity, effort, position"),
        ('<limit velocity="3" effort="4"/>', "position"),
        ('<limit lower="-1" upper="2"/>', "velocity, effort"),
    ],
)
def test_limits_not_given_are_infinite_with_one_warning(inside: str, lacks: str) -> None:
    with pytest.warns(DescriptionWarning, match=rf"^give limits to 1 joint, .* unlimited: j \({lacks}\)$") as caught:
        joint = parse_urdf(hinge(inside)).joints[0]
    assert len(caught) == 1
    assert math.inf in (joint.upper, joint.velocity)
    assert ("position" in lacks) == (joint.lower == -math.inf)


def test_an_axis_is_normalised_and_is_x_by_default() -> None:
    np.testing.assert_allclose(the_joint(hinge(f'<axis xyz="0 3 -4"/>{LIMIT}')).axis, [0.0, 0.6, -0.8], rtol=1e-15)
    np.testing.assert_array_equal(the_joint(hinge()).axis, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(the_joint(hinge('<axis xyz="0 0 1e-200"/>', "planar")).axis, [0.0, 0.0, 1.0])


def test_the_axis_of_a_fixed_joint_is_ignored() -> None:
    assert the_joint(hinge('<axis xyz="0 0 0"/>', "fixed")).kind == "fixed"


def test_damping_and_friction_are_read() -> None:
    joint = the_joint(hinge(f'{LIMIT}<dynamics damping="0.5" friction="0.25"/>'))
    assert (joint.damping, joint.friction, joint.armature) == (0.5, 0.25, 0.0)


def test_a_mimic_is_kept_as_written_whatever_the_order() -> None:
    text = robot(
        '<link name="a"/><link name="b"/><link name="c"/><link name="d"/>',
        f'<joint name="j1" type="prismatic"><parent link="a"/><child link="b"/>{LIMIT}'
        '<mimic joint="j2" multiplier="-0.5" offset="0.1"/></joint>',
        f'<joint name="j2" type="revolute"><parent link="b"/><child link="c"/>{LIMIT}<mimic joint="j3"/></joint>',
        f'<joint name="j3" type="revolute"><parent link="c"/><child link="d"/>{LIMIT}</joint>',
    )
    mimics = [joint.mimic for joint in parse_quietly(text).joints]
    assert mimics == [Mimic("j2", -0.5, 0.1), Mimic("j3", 1.0, 0.0), None]


@pytest.mark.parametrize(("leader", "warned"), [("revolute", True), ("fixed", False)])
def test_a_mimic_on_a_fixed_joint_is_dropped_with_a_warning_if_its_leader_moves(leader: str, warned: bool) -> None:
    text = robot(
        '<link name="a"/><link name="b"/><link name="c"/>',
        f'<joint name="lead" type="{leader}"><parent link="a"/><child link="b"/>{LIMIT}</joint>',
        '<joint name="stuck" type="fixed"><parent link="b"/><child link="c"/><mimic joint="lead"/></joint>',
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert parse_urdf(text).joints[1].mimic is None
    assert [str(one.message) for one in caught] == [
        "remove <mimic>, which has no effect there, from 1 fixed joint: stuck"
    ] * warned


@given(xyz=st.tuples(numbers, numbers, numbers), rpy=st.tuples(*[st.floats(-10.0, 10.0)] * 3))
def test_origins_are_rotations_about_fixed_axes(xyz: tuple[float, ...], rpy: tuple[float, ...]) -> None:
    origin = f'<origin xyz="{" ".join(map(repr, xyz))}" rpy="{" ".join(map(repr, rpy))}"/>'
    T = the_joint(hinge(origin + LIMIT)).T_parent_child
    np.testing.assert_array_equal(T[:3, 3], xyz)
    np.testing.assert_allclose(T[:3, :3], Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-14)
    np.testing.assert_array_equal(T[3], [0.0, 0.0, 0.0, 1.0])


def test_quarter_turns_follow_the_right_hand_rule() -> None:
    half = math.pi / 2
    roll = the_joint(hinge(f'<origin rpy="{half} 0 0"/>{LIMIT}')).T_parent_child
    both = the_joint(hinge(f'<origin rpy="{half} 0 {half}"/>{LIMIT}')).T_parent_child
    np.testing.assert_allclose(roll[:3, :3] @ [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(both[:3, :3] @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_array_equal(the_joint(hinge()).T_parent_child, np.eye(4))


@given(rpy=st.tuples(*[st.floats(-4.0, 4.0)] * 3), sides=st.tuples(*[st.floats(0.01, 2.0)] * 3))
def test_the_inertia_of_a_rotated_box_is_that_of_its_rotated_corners(
    rpy: tuple[float, ...], sides: tuple[float, ...]
) -> None:
    mass, (x, y, z) = 3.0, sides
    # Eight masses at the corners of a box have sum m (r.r 1 - r r^T), whichever way they are turned.
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    corners = (signs * sides) @ Rotation.from_euler("xyz", rpy).as_matrix().T
    expected = sum(mass / 8 * (corner @ corner * np.eye(3) - np.outer(corner, corner)) for corner in corners)
    moments = f'ixx="{mass * (y * y + z * z)}" iyy="{mass * (x * x + z * z)}" izz="{mass * (x * x + y * y)}"'
    text = f'<inertial><origin xyz="1 2 3" rpy="{" ".join(map(repr, rpy))}"/><mass value="{mass}"/><inertia {moments}/>'
    inertia = the_link(link(text + "</inertial>")).inertia
    assert inertia is not None
    assert inertia.mass == mass
    np.testing.assert_array_equal(inertia.com, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(inertia.matrix, expected, atol=1e-12)
    np.testing.assert_array_equal(inertia.matrix, inertia.matrix.T)


def test_products_of_inertia_have_their_positions_in_the_matrix() -> None:
    inside = '<inertial><mass value="1"/><inertia ixx="4" iyy="5" izz="6" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial>'
    inertia = the_link(link(inside)).inertia
    assert inertia is not None
    np.testing.assert_array_equal(inertia.matrix, [[4.0, 0.1, 0.2], [0.1, 5.0, 0.3], [0.2, 0.3, 6.0]])


def test_a_missing_inertial_is_none_and_an_empty_one_is_zero() -> None:
    assert the_link(link("")).inertia is None
    zero = the_link(link('<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0"/></inertial>')).inertia
    assert zero is not None
    assert zero.mass == 0.0
    assert not zero.com.any()
    assert not zero.matrix.any()


@pytest.mark.parametrize(
    ("geometry", "kind", "size"),
    [
        ('<box size="1 2 3"/>', "box", (1.0, 2.0, 3.0)),
        ('<sphere radius="0.5"/>', "sphere", (0.5,)),
        ('<cylinder length="2" radius="0.5"/>', "cylinder", (0.5, 2.0)),
        ('<capsule radius="0.5" length="2"/>', "capsule", (0.5, 2.0)),
    ],
)
@pytest.mark.parametrize("tag", ["visual", "collision"])
def test_shapes_keep_size_pose_and_name(geometry: str, kind: str, size: tuple[float, ...], tag: str) -> None:
    text = f'<{tag} name="skin"><origin xyz="1 2 3"/><geometry>{geometry}</geometry></{tag}>'
    found = the_link(link(text))
    (shape,) = found.visuals or found.collisions
    assert len(found.visuals) == (tag == "visual")
    assert (shape.kind, shape.size, shape.name, shape.rgba, shape.mesh) == (kind, size, "skin", None, None)
    np.testing.assert_array_equal(shape.T_link_shape[:3, 3], [1.0, 2.0, 3.0])


def test_colours_come_from_the_shape_then_from_the_robot_then_from_other_links() -> None:
    ball = "<geometry><sphere radius='1'/></geometry>"
    text = robot(
        '<link name="a">',
        f'<visual>{ball}<material name="steel"/></visual>',
        f'<visual>{ball}<material name="brass"/></visual>',
        f'<visual>{ball}<material name="brass"><color rgba="0.3 0.3 0.3 1"/></material></visual>',
        f'<visual>{ball}<material name="unheard"/></visual>',
        f'<visual>{ball}<material name="steel"><color rgba="0.9 0.9 0.9 1"/></material></visual>',
        "</link>",
        '<material name="steel"><color rgba="0.1 0.2 0.3 0.5"/></material>',
    )
    brass, steel = (0.3, 0.3, 0.3, 1.0), (0.1, 0.2, 0.3, 0.5)
    assert [shape.rgba for shape in the_link(text).visuals] == [steel, brass, brass, None, (0.9, 0.9, 0.9, 1.0)]


def test_elements_of_other_programs_are_ignored() -> None:
    text = robot(
        '<link name="a"><gazebo:sensor/><self_collide>1</self_collide></link><link name="b"/>',
        f'<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{LIMIT}'
        '<safety_controller k_velocity="1"/><calibration rising="0"/></joint>',
        '<gazebo reference="a"><material>Red</material><link name="ghost"/></gazebo>',
        '<transmission name="t"><joint name="j"><hardwareInterface/></joint></transmission>',
        '<ros2_control name="c" type="system"><joint name="j"/></ros2_control><sensor name="s"/>',
    )
    description = parse_quietly(text)
    assert [one.name for one in description.links] == ["a", "b"]
    assert [one.name for one in description.joints] == ["j"]


def test_text_may_declare_any_encoding_and_bytes_keep_theirs() -> None:
    declared = '<?xml version="1.0" encoding="{}"?><robot name="Bär"><link name="a"/></robot>'
    assert parse_quietly(declared.format("utf-16")).name == "Bär"
    for encoding in ("utf-8", "iso-8859-1", "utf-16"):
        assert parse_quietly(declared.format(encoding).encode(encoding)).name == "Bär"
    assert parse_quietly("\ufeff" + robot('<link name="a"/>')).name == "test"


@pytest.mark.parametrize(
    ("text", "line", "element", "said"),
    [
        (hinge('<axis xyz="0 0 0"/>' + LIMIT), 5, 'joint name="j"/axis', "nonzero axis"),
        (hinge('<axis xyz="nan 0 0"/>' + LIMIT), 5, 'joint name="j"/axis', "not finite"),
        (hinge('<axis xyz="0 inf 0"/>' + LIMIT), 5, 'joint name="j"/axis', "not finite"),
        (hinge('<axis xyz="0 1"/>' + LIMIT), 5, 'joint name="j"/axis', "has 2; give 3 numbers"),
        (hinge("<axis/>" + LIMIT), 5, 'joint name="j"/axis', "no attribute 'xyz'"),
        (hinge('<origin xyz="1 2"/>' + LIMIT), 5, 'joint name="j"/origin', "xyz='1 2' has 2; give 3 numbers"),
        (hinge('<origin rpy="0 0 0 0"/>' + LIMIT), 5, 'joint name="j"/origin', "has 4; give 3 numbers"),
        (hinge('<origin xyz="1 2 x"/>' + LIMIT), 5, 'joint name="j"/origin', "not a list of numbers"),
        (hinge('<origin xyz="0,5 0 0"/>' + LIMIT), 5, 'joint name="j"/origin', "not a list of numbers"),
        (hinge('<origin xyz="1_0 0 0"/>' + LIMIT), 5, 'joint name="j"/origin', "not a list of numbers"),
        (hinge('<origin xyz="\u0661 0 0"/>' + LIMIT), 5, 'joint name="j"/origin', "not a list of numbers"),
        (hinge('<origin xyz=""/>' + LIMIT), 5, 'joint name="j"/origin', "'xyz' is empty"),
        (hinge('<origin xyz="0 0 inf"/>' + LIMIT), 5, 'joint name="j"/origin', "not finite"),
        (hinge('<origin/><origin xyz="1 0 0"/>' + LIMIT), 5, 'joint name="j"/origin', "repeated (first on line 5)"),
        (
            hinge('<limit lower="2" upper="1" velocity="1" effort="1"/>'),
            3,
            'joint name="j"',
            "lower limit 2.0 is above",
        ),
        (hinge('<limit lower="nan" velocity="1" effort="1"/>'), 5, 'joint name="j"/limit', "not finite"),
        (
            hinge('<limit upper="1" velocity="-1" effort="1"/>'),
            3,
            'joint name="j"',
            "velocity limit must be nonnegative, or infinite for no limit, got -1.0",
        ),
        (
            hinge('<limit upper="1" velocity="1" effort="-1"/>'),
            3,
            'joint name="j"',
            "effort limit must be nonnegative, or infinite for no limit, got -1.0",
        ),
        (
            hinge(LIMIT + '<mimic joint="k"/>'),
            3,
            'joint name="j"',
            "mimics a joint that does not exist: unknown joint 'k'",
        ),
        (hinge(LIMIT + '<mimic joint="j"/>'), 3, 'joint name="j"', "mimics itself"),
        (hinge(LIMIT + "<mimic/>"), 5, 'joint name="j"/mimic', "no attribute 'joint'"),
        (
            hinge(LIMIT + '<dynamics damping="-1"/>'),
            3,
            'joint name="j"',
            "damping must be finite and nonnegative, got -1.0",
        ),
        (hinge(kind="screw"), 3, 'joint name="j"', "type must be one of revolute, continuous"),
        (hinge(kind="ball"), 3, 'joint name="j"', "planar, got 'ball'"),
        (robot('<joint type="fixed"/>'), 2, "joint", "no attribute 'name'"),
        (robot('<joint name="j"/>'), 2, 'joint name="j"', "no attribute 'type'"),
        (robot('<joint name="j" type="fixed"/>'), 2, 'joint name="j"', "has no <parent>"),
        (robot('<joint name="j" type="fixed"><parent/></joint>'), 2, 'joint name="j"/parent', "no attribute 'link'"),
        (robot("<link/>"), 2, "link", "no attribute 'name'"),
        (robot('<link name=" "/>'), 2, 'link name=" "', "'name' is empty"),
        (robot('<link name="a"/>', '<link name="a"/>'), 3, 'link name="a"', "used twice (first on line 2)"),
        (robot('<link name="a"/>', '<link name="b"/>'), 3, 'link name="b"', "2 roots: a, b"),
        (link("<inertial/>"), 3, 'link name="a"/inertial', "has no <inertia>"),
        (link('<inertial><inertia ixx="1" iyy="1" izz="1"/></inertial>'), 3, 'link name="a"/inertial', "has no <mass>"),
        (
            link('<inertial><mass value="1"/><inertia ixx="1" iyy="1"/></inertial>'),
            3,
            'link name="a"/inertial/inertia',
            "no attribute 'izz'",
        ),
        (
            link('<inertial><mass value="nan"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'),
            3,
            'link name="a"/inertial/mass',
            "value='nan' is not finite",
        ),
        (
            link('<inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'),
            2,
            'link name="a"',
            "mass must be finite and nonnegative [kg], got -1.0",
        ),
        (
            link('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="-1"/></inertial>'),
            2,
            'link name="a"',
            "negative principal moment -1",
        ),
        (link("<visual/>"), 3, 'link name="a"/visual', "has no <geometry>"),
        (
            link("<visual><geometry/></visual>"),
            3,
            'link name="a"/visual/geometry',
            "contains nothing; give one of box,",
        ),
        (
            link("<visual><geometry><cone/></geometry></visual>"),
            3,
            'link name="a"/visual/geometry',
            "contains cone; give",
        ),
        (
            link('<visual><geometry><box size="1 1"/></geometry></visual>'),
            3,
            'link name="a"/visual/geometry/box',
            "give 3 numbers",
        ),
        (
            link('<visual><geometry><sphere radius="-1"/></geometry></visual>'),
            3,
            'link name="a"/visual/geometry/sphere',
            "negative length",
        ),
        (
            link('<visual><geometry><mesh scale="1 1 1"/></geometry></visual>'),
            3,
            'link name="a"/visual/geometry/mesh',
            "no attribute 'filename'",
        ),
        (
            robot('<material name="m"><color rgba="1 1 1"/></material><link name="a"/>'),
            2,
            'material name="m"/color',
            "give 4 numbers",
        ),
        ("<robot><link name='a'/></robot>", 1, "robot", "no attribute 'name'"),
        ("<robot name='empty'/>", None, None, "no links"),
        ("\n<sdf version='1.6'/>", 2, "sdf", "the root element is <sdf>; a URDF file has <robot>"),
        ("", None, None, "is empty"),
        (" \n ", None, None, "is empty"),
        ("robot:\n  name: yaml", 1, None, "is not XML"),
        (robot('<link name="a">'), 3, None, "is not XML (mismatched tag"),
        (robot('<link name="a"/>') + "<robot/>", 3, None, "is not XML (junk after document element"),
        (b"<robot name='\xff'/>", 1, None, "is not XML (not well-formed"),
        ("<robot name='\ud800'/>", None, None, "cannot be decoded"),
        (b"<?xml version='1.0' encoding='martian'?><robot/>", None, None, "cannot be decoded"),
    ],
)
def test_an_error_names_its_line_and_element(
    text: str | bytes, line: int | None, element: str | None, said: str
) -> None:
    error = refusal(text)
    assert said in str(error)
    assert (error.line, error.element) == (line, element)


def test_a_loop_is_reported_with_its_links() -> None:
    joint = '<joint name="{0}{1}" type="fixed"><parent link="{0}"/><child link="{1}"/></joint>'
    text = robot('<link name="a"/><link name="b"/>', joint.format("a", "b"), joint.format("b", "a"))
    error = refusal(text)
    assert error.line in (3, 4)
    assert "loop of links" in error.message
