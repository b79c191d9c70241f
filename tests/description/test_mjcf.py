"""The MJCF reader against MuJoCo."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinodyn.arrays import Array
from kinodyn.description.mjcf import parse_mjcf
from kinodyn.description.types import Description
from kinodyn.errors import DescriptionWarning

from .mjcf_models import EVERYTHING, ONE_HINGE, joint, wrap


def mujoco_model(text: str) -> mujoco.MjModel:
    return mujoco.MjSpec.from_string(text).compile()


def random_state(model: mujoco.MjModel, seed: int) -> mujoco.MjData:
    """Make MuJoCo's data at random positions, with unit quaternions, and all poses computed."""
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    data.qpos = rng.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    mujoco.mj_kinematics(model, data)
    return data


def positions_of(description: Description, qpos: Array) -> dict[str, tuple[float, ...]]:
    """Cut MuJoCo's positions into ours, by the order of the joints alone."""
    widths = {"floating": 7, "ball": 4, "fixed": 0}
    found, start = {}, 0
    for each in description.joints:
        values = qpos[start : start + widths.get(each.kind, 1)]
        start += len(values)
        if each.kind in ("floating", "ball"):
            values = np.concatenate([values[:-4], np.roll(values[-4:], -1)])
        found[each.name] = tuple(values)
    assert start == len(qpos)
    return found


def assert_same_poses(text: str, link_poses, seed: int = 0) -> None:
    """Compare every body and site with MuJoCo's at a random state."""
    model = mujoco_model(text)
    data = random_state(model, seed)
    description = parse_mjcf(text)
    T = link_poses(description, positions_of(description, data.qpos))
    bodies = [link.name for link in description.links if "/" not in link.name]
    for i, name in enumerate(bodies):
        np.testing.assert_allclose(T[name][:3, 3], data.xpos[i], atol=1e-12)
        np.testing.assert_allclose(T[name][:3, :3], data.xmat[i].reshape(3, 3), atol=1e-12)
    for i, frame in enumerate(description.frames):
        T_world_site = T[frame.link] @ frame.T_link_frame
        np.testing.assert_allclose(T_world_site[:3, 3], data.site_xpos[i], atol=1e-12)
        np.testing.assert_allclose(T_world_site[:3, :3], data.site_xmat[i].reshape(3, 3), atol=1e-12)


TWO_HINGES = """<body name="a"><joint name="x" ref="20"/><geom size="0.1"/></body>
<body name="b" pos="1 0 0"><joint name="y" ref="-50"/><geom size="0.1"/></body>"""


@pytest.mark.parametrize("seed", range(5))
def test_body_and_site_poses_agree_with_mujoco(link_poses, seed):
    assert_same_poses(EVERYTHING, link_poses, seed)


@st.composite
def random_bodies(draw: st.DrawFn, depth: int = 0) -> str:
    numbers = st.floats(-1, 1).map(lambda x: round(x, 3))
    vector = st.tuples(numbers, numbers, numbers).map(lambda v: " ".join(map(str, v)))
    axis = st.sampled_from(["1 0 0", "0 -1 0", "1 2 3", "-1 1 0"])
    # MuJoCo allows one ball joint in a body, after the others.
    joints = draw(st.lists(st.sampled_from(["hinge", "slide"]), max_size=3)) + ["ball"] * draw(st.booleans())
    rows = []
    for kind in joints:
        reference = draw(numbers) if kind != "ball" else 0
        rows.append(f'<joint type="{kind}" armature="1" axis="{draw(axis)}" pos="{draw(vector)}" ref="{reference}"/>')
    inner = draw(st.lists(random_bodies(depth=depth + 1), max_size=2)) if depth < 2 else []
    return f"""<body pos="{draw(vector)}" euler="{draw(vector)}">{"".join(rows)}
    <geom size="0.1"/><site pos="{draw(vector)}"/>{"".join(inner)}</body>"""


@settings(max_examples=60, deadline=None)
@given(bodies=st.lists(random_bodies(), min_size=1, max_size=2), seed=st.integers(0, 1000))
def test_poses_of_random_trees_agree_with_mujoco(link_poses, bodies, seed):
    text = f'<mujoco><compiler angle="radian"/><worldbody>{"".join(bodies)}</worldbody></mujoco>'
    assert_same_poses(text, link_poses, seed)


def test_inertias_agree_with_mujoco_in_link_axes(link_poses):
    model = mujoco_model(EVERYTHING)
    data = random_state(model, 3)
    mujoco.mj_comPos(model, data)
    description = parse_mjcf(EVERYTHING)
    T = link_poses(description, positions_of(description, data.qpos))
    links = [link for link in description.links if "/" not in link.name]
    for i, link in enumerate(links[1:], start=1):
        assert link.inertia is not None
        R_world_link, R_world_principal = T[link.name][:3, :3], data.ximat[i].reshape(3, 3)
        np.testing.assert_allclose((T[link.name] @ [*link.inertia.com, 1])[:3], data.xipos[i], atol=1e-12)
        ours = R_world_link @ link.inertia.matrix @ R_world_link.T
        np.testing.assert_allclose(
            ours, R_world_principal @ np.diag(model.body_inertia[i]) @ R_world_principal.T, atol=1e-15
        )
        assert link.inertia.mass == model.body_mass[i]


def test_links_between_the_joints_of_one_body_have_no_mass():
    description = parse_mjcf(EVERYTHING)
    between = [link for link in description.links if "/" in link.name]
    assert [link.name for link in between] == ["arm/swing", "arm/slide", "arm/twist", "hand/wrist"]
    assert all(link.inertia is None for link in between)


def test_joints_keep_mujocos_order_and_kind():
    kinds = [(j.name, j.kind) for j in parse_mjcf(EVERYTHING).joints if j.kind != "fixed"]
    assert kinds == [
        ("root", "floating"),
        ("swing", "revolute"),
        ("slide", "prismatic"),
        ("twist", "continuous"),
        ("wrist", "ball"),
        ("joint5", "continuous"),
    ]


def test_limits_and_references_are_in_radians_and_in_mujocos_coordinate():
    swing = joint(parse_mjcf(EVERYTHING), "swing")
    assert (swing.lower, swing.upper) == pytest.approx((-math.pi / 2, 2 * math.pi / 3))
    assert swing.reference == pytest.approx(math.pi / 6)
    assert joint(parse_mjcf(EVERYTHING), "slide").upper == math.inf


def test_gravity_base_name_and_world_are_read():
    description = parse_mjcf(EVERYTHING)
    assert description.gravity == (0.0, 0.5, -9.7)
    assert (description.name, description.base, description.links[0].name) == ("everything", "floating", "world")
    assert parse_mjcf(wrap(ONE_HINGE)).base == "fixed"


def test_an_arm_beside_a_free_object_has_a_fixed_base():
    ball = '<body name="ball"><freejoint/><geom size="0.1"/></body>'
    assert parse_mjcf(wrap(ball + ONE_HINGE)).base == "fixed"
    assert parse_mjcf(wrap(ball + '<body name="table"/>')).base == "floating"


def test_gravity_switched_off_by_a_flag_is_zero():
    assert parse_mjcf(wrap(ONE_HINGE, '<option><flag gravity="disable"/></option>')).gravity == (0.0, 0.0, 0.0)


def test_elements_keep_their_line_numbers():
    description = parse_mjcf(EVERYTHING)
    lines = EVERYTHING.splitlines()
    assert 'name="swing"' in lines[joint(description, "swing").line - 1]
    assert 'name="head"' in lines[next(link for link in description.links if link.name == "head").line - 1]


def test_new_names_do_not_clash_with_given_ones():
    text = wrap("""<body><joint/><geom size="1"/></body><body name="body1"><joint name="joint0"/><geom size="1"/>
    <site name="body1" pos="1 0 0"/><site name="body1_site"/></body><body name="fixed_one"/>""")
    with pytest.warns(DescriptionWarning, match="renamed: 'body1' is 'body1_site_'"):
        description = parse_mjcf(text)
    assert [link.name for link in description.links] == ["world", "body1_", "body1", "fixed_one"]
    assert [j.name for j in description.joints] == ["joint0_", "joint0", "fixed_one_fixed"]
    assert [frame.name for frame in description.frames] == ["body1_site_", "body1_site"]


def test_actuators_give_effort_armature_and_damping():
    text = wrap(
        '<body><joint name="h" armature="0.1" damping="0.3" frictionloss="0.7"/><geom size="0.1"/></body>',
        '<actuator><motor joint="h" gear="-3" armature="0.2" damping="0.5" forcerange="-4 2"/></actuator>',
    )
    h, model = joint(parse_mjcf(text), "h"), mujoco_model(text)
    data = mujoco.MjData(model)
    data.qvel[0] = 1.0
    mujoco.mj_forward(model, data)
    M = np.zeros((1, 1))
    mujoco.mj_fullM(model, data, M)
    sphere = float(model.body_inertia[1, 2])
    assert h.armature == pytest.approx(M[0, 0] - sphere)
    assert h.damping == pytest.approx(-data.qfrc_passive[0])
    assert (h.effort, h.friction) == (12.0, 0.7)


@pytest.mark.parametrize(
    ("attributes", "actuators", "effort"),
    [
        ("", "", math.inf),
        ('actuatorfrcrange="-3 5"', "", 5.0),
        ("", '<motor joint="h" ctrlrange="-2 1" gear="10"/>', 20.0),
        ("", '<motor joint="h"/>', math.inf),
        ("", '<position joint="h" ctrlrange="-2 1"/>', math.inf),
        ("", '<position joint="h" ctrlrange="-2 1" forcerange="-7 7"/>', 7.0),
        ("", '<motor joint="h" forcerange="-1 1"/><motor joint="h" forcerange="-2 2"/>', 3.0),
        ("", '<motor joint="h" forcerange="-1 1"/><motor joint="h"/>', math.inf),
        ('actuatorfrcrange="-2 2"', '<motor joint="h" forcerange="-9 9"/>', 2.0),
    ],
)
def test_effort_limit_is_what_the_actuators_can_give(attributes, actuators, effort):
    body = f'<body><joint name="h" {attributes}/><geom size="0.1"/></body>'
    assert joint(parse_mjcf(wrap(body, f"<actuator>{actuators}</actuator>")), "h").effort == effort


@pytest.mark.parametrize("coefficients", ["0 1 0 0 0", "0.3 -2 0 0 0", "0.1 0 0 0 0"])
def test_a_linear_equality_becomes_a_mimic_joint(coefficients):
    text = wrap(TWO_HINGES, f'<equality><joint joint1="x" joint2="y" polycoef="{coefficients}"/></equality>')
    mimic = joint(parse_mjcf(text), "x").mimic
    assert mimic is not None and mimic.joint == "y"
    model = mujoco_model(text)
    data = mujoco.MjData(model)
    data.qpos[1] = 0.7
    data.qpos[0] = mimic.multiplier * 0.7 + mimic.offset
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.efc_pos, 0.0, atol=1e-14)
    assert len(data.efc_pos) == 1


@pytest.mark.parametrize(
    ("equality", "reason"),
    [
        ('<joint joint1="x" joint2="y" polycoef="0 1 2 0 0"/>', "not linear"),
        ('<joint joint1="x"/>', "constant"),
        ('<connect body1="a" body2="b" anchor="0 0 0"/>', "connect"),
        ('<weld body1="a" body2="b"/>', "weld"),
        ('<joint joint1="x" joint2="y"/><joint joint1="x" joint2="y" polycoef="1 1 0 0 0"/>', "already"),
        ('<joint joint1="x" joint2="y"/><joint joint1="y" joint2="x"/>', "loop"),
    ],
)
def test_other_equalities_are_skipped_with_a_warning(equality, reason):
    with pytest.warns(DescriptionWarning, match=reason):
        parse_mjcf(wrap(TWO_HINGES, f"<equality>{equality}</equality>"))


def test_an_inactive_equality_is_ignored():
    text = wrap(TWO_HINGES, '<equality><joint joint1="x" joint2="y" active="false"/></equality>')
    assert joint(parse_mjcf(text), "x").mimic is None


def test_keyframes_become_configurations_with_the_quaternion_last_component_w():
    body = """<body name="b" pos="1 2 3"><freejoint name="f"/><geom size="1"/>
    <body><joint name="ball" type="ball"/><geom size="1"/>
    <body><joint name="h"/><geom size="1"/></body></body></body>"""
    keys = """<keyframe><key name="home" qpos="4 5 6 0 1 0 0  0 0 1 0  0.5"/>
    <key qpos="0 0 0 1 0 0 0  0.6 0.8 0 0  1"/></keyframe>"""
    found = parse_mjcf(wrap(body, keys)).configurations
    assert found == {
        "qpos0": {"f": (1, 2, 3, 0, 0, 0, 1), "ball": (0, 0, 0, 1), "h": (0,)},
        "home": {"f": (4, 5, 6, 1, 0, 0, 0), "ball": (0, 1, 0, 0), "h": (0.5,)},
        "key1": {"f": (0, 0, 0, 0, 0, 0, 1), "ball": (0.8, 0, 0, 0.6), "h": (1,)},
    }


def test_configurations_omit_mimic_joints():
    text = wrap(TWO_HINGES, '<equality><joint joint1="x" joint2="y"/></equality><keyframe><key qpos="1 2"/></keyframe>')
    assert parse_mjcf(text).configurations["key0"] == {"y": (2.0,)}


def test_shapes_have_full_lengths():
    body = """<body><geom type="box" size="1 2 3"/><geom type="capsule" size="1 2"/><geom type="cylinder" size="1 2"/>
    <geom type="sphere" size="4"/><geom type="ellipsoid" size="1 2 3" name="egg" rgba="1 0 0 0.5"/></body>
    <geom type="plane" size="5 6 1"/>"""
    world, link = parse_mjcf(wrap(body)).links
    assert [(s.kind, s.size) for s in link.visuals] == [
        ("box", (2, 4, 6)),
        ("capsule", (1, 4)),
        ("cylinder", (1, 4)),
        ("sphere", (4,)),
        ("ellipsoid", (1, 2, 3)),
    ]
    assert [(s.kind, s.size) for s in world.collisions] == [("plane", (5, 6))]
    assert (link.visuals[-1].name, link.visuals[-1].rgba) == ("egg", (1.0, 0.0, 0.0, 0.5))


def test_colour_comes_from_the_material_where_the_geom_has_none():
    text = wrap(
        '<geom size="1" material="m"/><geom size="1" material="m" rgba="0 1 0 1"/>',
        '<asset><material name="m" rgba="1 0 0 1"/></asset>',
    )
    assert [s.rgba for s in parse_mjcf(text).links[0].visuals] == [(1, 0, 0, 1), (0, 1, 0, 1)]


@pytest.mark.parametrize(
    ("attributes", "visual", "collision"),
    [
        ("", True, True),
        ('contype="0" conaffinity="0"', True, False),
        ('contype="0" conaffinity="0" group="3"', True, False),
        ('group="3"', False, True),
        ('contype="0"', True, True),
    ],
)
def test_a_geom_is_visual_or_collision_or_both(attributes, visual, collision):
    (world,) = parse_mjcf(wrap(f'<geom size="1" {attributes}/>')).links
    assert (len(world.visuals), len(world.collisions)) == (visual, collision)
