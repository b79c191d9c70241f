"""SRDF: groups, end effectors, states and collision pairs, and what happens to names of another variant."""

from __future__ import annotations

import itertools
import sys
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from kinodyn.description.base import with_base
from kinodyn.description.srdf import read_srdf
from kinodyn.description.types import Description, Joint, Link
from kinodyn.description.urdf import read_urdf
from kinodyn.errors import DescriptionError, DescriptionWarning

SHARE = next(
    path
    for path in (Path(entry, "cmeel.prefix/share/example-robot-data/robots") for entry in sys.path)
    if path.is_dir()
)

# torso -> (shoulder) upper -> (elbow) lower -> (wrist, fixed) hand; torso -> (neck, ball) head
BODY = Description(
    "body",
    tuple(Link(name) for name in ("torso", "upper", "lower", "hand", "head")),
    (
        Joint("shoulder", "revolute", "torso", "upper"),
        Joint("elbow", "continuous", "upper", "lower"),
        Joint("wrist", "fixed", "lower", "hand"),
        Joint("neck", "ball", "torso", "head"),
    ),
    chains={"old": ("elbow",)},
    collision_exclusions=(("torso", "head"),),
)


def read(tmp_path: Path, *lines: str, description: Description = BODY) -> Description:
    """Read an SRDF whose first given line is line 2, with no warning allowed."""
    path = tmp_path / "body.srdf"
    path.write_text("\n".join(['<robot name="body">', *lines, "</robot>"]), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_srdf(path, description)


def refusal(tmp_path: Path, *lines: str) -> DescriptionError:
    with pytest.raises(DescriptionError) as caught:
        read(tmp_path, *lines)
    assert caught.value.file == tmp_path / "body.srdf"
    return caught.value


def test_groups_become_chains_of_moving_joints(tmp_path: Path) -> None:
    described = read(
        tmp_path,
        '<group name="everything"><group name="arm"/><joint name="neck"/><group name="arm"/></group>',
        '<group name="arm"><chain base_link="torso" tip_link="hand"/></group>',
        '<group name="forearm"><link name="lower"/><link name="hand"/><link name="torso"/></group>',
        '<group name="backwards"><joint name="elbow"/><joint name="shoulder"/><joint name="elbow"/></group>',
        '<group name="nothing"><joint name="wrist"/></group>',
    )
    assert described.chains == {
        "old": ("elbow",),
        "everything": ("shoulder", "elbow", "neck"),
        "arm": ("shoulder", "elbow"),
        "forearm": ("elbow",),
        "backwards": ("elbow", "shoulder"),
    }


def test_a_chain_may_start_anywhere_and_go_over_a_common_link(tmp_path: Path) -> None:
    described = read(
        tmp_path,
        '<group name="lower"><chain base_link="upper" tip_link="hand"/></group>',
        '<group name="across"><chain base_link="hand" tip_link="head"/></group>',
        '<group name="up"><chain base_link="lower" tip_link="torso"/></group>',
    )
    assert described.chains["lower"] == ("elbow",)
    assert described.chains["across"] == ("elbow", "shoulder", "neck")
    assert described.chains["up"] == ("elbow", "shoulder")


def test_groups_that_contain_each_other_are_rejected(tmp_path: Path) -> None:
    error = refusal(
        tmp_path,
        '<group name="x"><group name="a"/></group>',
        '<group name="a"><group name="b"/></group>',
        '<group name="b"><group name="a"/></group>',
    )
    assert "contain each other: a, b, a" in str(error)
    assert (error.line, error.element) == (3, 'group name="a"')


def test_thousands_of_groups_inside_each_other_do_not_recurse(tmp_path: Path) -> None:
    groups = [f'<group name="g{i}"><group name="g{i + 1}"/></group>' for i in range(5000)]
    described = read(tmp_path, *groups, '<group name="g5000"><joint name="elbow"/></group>')
    assert described.chains["g0"] == ("elbow",)


def test_end_effectors_and_collision_pairs_are_kept(tmp_path: Path) -> None:
    described = read(
        tmp_path,
        '<end_effector name="grip" parent_link="hand" group="arm"/>',
        '<disable_collisions link1="upper" link2="lower" reason="Adjacent"/>',
        '<disable_collisions link1="torso" link2="head"/>',
    )
    assert described.end_effectors == {"grip": "hand"}
    assert described.collision_exclusions == (("torso", "head"), ("upper", "lower"))


def test_a_link_that_collides_with_nothing_by_default_has_its_enabled_pairs_left(tmp_path: Path) -> None:
    described = read(
        tmp_path,
        '<disable_default_collisions link="upper"/>',
        '<enable_collisions link1="hand" link2="upper"/>',
        '<enable_collisions link1="hand" link2="head"/>',
    )
    assert set(described.collision_exclusions) == {
        ("torso", "head"),
        ("upper", "torso"),
        ("upper", "lower"),
        ("upper", "head"),
    }


def test_parent_frames_of_virtual_joints_are_names_of_the_world(tmp_path: Path) -> None:
    described = read(
        tmp_path,
        '<virtual_joint name="drive" type="planar" parent_frame="odom" child_link="torso"/>',
        '<virtual_joint name="itself" type="fixed" parent_frame="torso" child_link="torso"/>',
    )
    assert described.world_frames == ("odom",)


def test_states_become_configurations_with_unit_quaternions(tmp_path: Path) -> None:
    described = read(
        tmp_path,
        '<group_state name="look" group="all"><joint name="elbow" value="0.5"/>',
        '<joint name="neck" value="0 0 0.7071 0.7071"/></group_state>',
    )
    look = described.configurations["look"]
    assert look["elbow"] == (0.5,)
    np.testing.assert_allclose(look["neck"], [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)], rtol=1e-15)


def test_states_of_one_name_are_put_together_unless_they_disagree(tmp_path: Path) -> None:
    described = read(
        tmp_path,
        '<group_state name="home" group="arm"><joint name="elbow" value="1"/></group_state>',
        '<group_state name="home" group="top"><joint name="elbow" value="1"/><joint name="shoulder" value="2"/>',
        "</group_state>",
        '<group_state name="home" group="low"><joint name="elbow" value="3"/></group_state>',
    )
    assert described.configurations == {"home": {"elbow": (1.0,), "shoulder": (2.0,)}, "low/home": {"elbow": (3.0,)}}


@pytest.mark.parametrize(
    "virtual", ["", '<virtual_joint name="drift" type="floating" parent_frame="w" child_link="torso"/>']
)
def test_a_floating_base_state_is_kept_until_the_base_is_floating(tmp_path: Path, virtual: str) -> None:
    name = "drift" if virtual else "root_joint"
    described = read(
        tmp_path,
        virtual,
        f'<group name="all"><joint name="{name}"/><joint name="elbow"/></group>',
        f'<group_state name="stand"><joint name="{name}" value="0 0 1 0 0 0 1"/><joint name="elbow" value="2"/>',
        "</group_state>",
    )
    stand = {"root_joint": (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), "elbow": (2.0,)}
    assert with_base(described, "floating").configurations == {"stand": stand}
    assert with_base(described, "floating").chains["all"] == ("root_joint", "elbow")
    assert with_base(described, "fixed").configurations == {"stand": {"elbow": (2.0,)}}
    assert with_base(described, "fixed").chains["all"] == ("elbow",)


def test_root_joint_refers_to_the_floating_joint_of_the_robot(tmp_path: Path) -> None:
    links, joints = (Link("world"), *BODY.links), (Joint("free", "floating", "world", "torso"), *BODY.joints)
    floating = Description("body", links, joints)
    line = '<group_state name="stand"><joint name="root_joint" value="0 0 1 0 0 0 1"/></group_state>'
    assert set(read(tmp_path, line, description=floating).configurations["stand"]) == {"free"}


def test_names_of_another_variant_are_skipped_with_one_warning(tmp_path: Path) -> None:
    lines = (
        '<group name="legs"><joint name="knee"/><link name="foot"/><group name="toes"/></group>',
        '<group name="leg"><chain base_link="torso" tip_link="foot"/></group>',
        '<end_effector name="sole" parent_link="foot" group="leg"/>',
        '<group_state name="kneel" group="leg"><joint name="knee" value="1 2 3"/></group_state>',
        '<group_state name="bend" group="leg"><joint name="elbow" value="1"/><joint name="wrist" value="2"/>',
        "</group_state>",
        '<disable_collisions link1="torso" link2="tail"/>',
    )
    with pytest.raises(DescriptionWarning):
        read(tmp_path, *lines)
    with pytest.warns(DescriptionWarning) as caught:
        described = read_srdf(tmp_path / "body.srdf", BODY)
    assert len(caught) == 1
    assert str(caught[0].message) == (
        f"{tmp_path / 'body.srdf'}: correct 5 names unknown to robot 'body', skipped: group 'toes', joint 'knee', "
        "link 'foot', position of fixed joint 'wrist', link 'tail'"
    )
    assert described.chains == BODY.chains
    assert described.configurations == {"bend": {"elbow": (1.0,)}}
    assert described.end_effectors == {}
    assert described.collision_exclusions == BODY.collision_exclusions


@pytest.mark.parametrize(
    ("line", "element", "said"),
    [
        ("<group/>", "group", "no attribute 'name'"),
        ('<group name="a"/><group name="a"/>', 'group name="a"', "defined twice (first on line 2)"),
        ('<group name="a"><chain base_link="torso"/></group>', 'group name="a"/chain', "no attribute 'tip_link'"),
        ('<end_effector name="e"/>', 'end_effector name="e"', "no attribute 'parent_link'"),
        ('<disable_collisions link1="torso"/>', "disable_collisions", "no attribute 'link2'"),
        ('<virtual_joint name="v"/>', 'virtual_joint name="v"', "no attribute 'type'"),
        (
            '<group_state name="s"><joint name="elbow" value="1 2"/></group_state>',
            'joint name="elbow"',
            "has 2; give 1 number",
        ),
        (
            '<group_state name="s"><joint name="elbow" value="nan"/></group_state>',
            'joint name="elbow"',
            "not finite",
        ),
        (
            '<group_state name="s"><joint name="root_joint" value="0 0 1"/></group_state>',
            'joint name="root_joint"',
            "has 3; give 7 numbers",
        ),
        (
            '<group_state name="s"><joint name="neck" value="0 0 0 1.1"/></group_state>',
            'joint name="neck"',
            "must have a quaternion of norm 1, got 1.1",
        ),
    ],
)
def test_an_error_names_its_line_and_element(tmp_path: Path, line: str, element: str, said: str) -> None:
    error = refusal(tmp_path, line)
    assert (error.line, error.element) == (2, element)
    assert said in str(error)


def test_a_file_that_is_not_srdf_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "body.srdf"
    path.write_text("<sdf/>", encoding="utf-8")
    with pytest.raises(DescriptionError, match="an SRDF file has <robot>"):
        read_srdf(path, BODY)
    with pytest.raises(DescriptionError, match="does not exist"):
        read_srdf(tmp_path / "absent.srdf", BODY)
    path.write_text('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"/>', encoding="utf-8")
    with pytest.raises(DescriptionError, match="document type declaration, which is not supported"):
        read_srdf(path, BODY)


def read_wheel(urdf: str, srdf: str) -> Description:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_srdf(SHARE / srdf, read_urdf(SHARE / urdf))


@pytest.mark.parametrize(
    ("urdf", "srdf"),
    [
        ("a1_description/urdf/a1.urdf", "a1_description/srdf/a1.srdf"),
        ("anymal_b_simple_description/robots/anymal.urdf", "anymal_b_simple_description/srdf/anymal.srdf"),
        ("icub_description/robots/icub.urdf", "icub_description/srdf/icub.srdf"),
        ("hyq_description/robots/hyq_no_sensors.urdf", "hyq_description/srdf/hyq.srdf"),
        ("talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf"),
    ],
)
def test_states_of_walking_robots_agree_with_pinocchio(urdf: str, srdf: str) -> None:
    description = with_base(read_wheel(urdf, srdf), "floating")
    model = pin.buildModelFromUrdf(str(SHARE / urdf), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(model, str(SHARE / srdf), False)
    assert set(description.configurations) == {entry.key() for entry in model.referenceConfigurations}
    for entry in model.referenceConfigurations:
        q = entry.data()
        for joint, position in description.configurations[entry.key()].items():
            index = model.getJointId(joint)
            at = model.idx_qs[index]
            np.testing.assert_allclose(position, q[at : at + model.nqs[index]], atol=1e-7, err_msg=joint)


# What `test_urdf_robots` shows to be no robots.
BROKEN = ("alex_psyonic_hands.urdf", "romeo_laas_small.urdf", "ur3.urdf")

FOLDERS = sorted(
    folder.name for folder in SHARE.iterdir() if any(folder.rglob("*.srdf")) and any(folder.rglob("*.urdf"))
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_srdf_of_the_wheel_goes_with_every_urdf_beside_it(folder: str) -> None:
    urdfs = [path.relative_to(SHARE) for path in (SHARE / folder).rglob("*.urdf") if path.name not in BROKEN]
    srdfs = [path.relative_to(SHARE) for path in (SHARE / folder).rglob("*.srdf")]
    assert urdfs
    for urdf, srdf in itertools.product(urdfs, srdfs):
        described = read_wheel(str(urdf), str(srdf))
        joints, links = {joint.name for joint in described.joints}, {link.name for link in described.links}
        assert {name for chain in described.chains.values() for name in chain} <= joints | {"root_joint"}
        assert {name for state in described.configurations.values() for name in state} <= joints | {"root_joint"}
        assert {name for pair in described.collision_exclusions for name in pair} <= links
        assert set(described.end_effectors.values()) <= links
