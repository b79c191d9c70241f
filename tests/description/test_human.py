"""The bundled humanoid against its table of body segments, and standing on its feet."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping

import mujoco
import numpy as np
import pytest

from kinodyn.arrays import Array
from kinodyn.description import solids
from kinodyn.description.base import with_base
from kinodyn.description.human import humanoid
from kinodyn.description.human.table import TABLES, Sex
from kinodyn.description.types import Description, Inertia, Joint, Shape
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.description.validation import validate
from kinodyn.errors import InputError

LinkPoses = Callable[[Description, Mapping[str, tuple[float, ...]]], dict[str, Array]]

SIZES = [(1.7, 70.0, "male"), (1.2, 30.0, "male"), (1.9, 95.0, "male"), (1.6, 55.0, "female"), (0.5, 4.0, "female")]
sizes = pytest.mark.parametrize(("height", "mass", "sex"), SIZES)

# Links that together are one segment of the table.
SEGMENTS = {
    "head": ("head_yaw_link", "head_pitch_link", "head"),
    "upper_arm": ("left_shoulder_pitch_link", "left_shoulder_roll_link", "left_upper_arm"),
    "forearm": ("left_forearm",),
    "hand": ("left_wrist_yaw_link", "left_wrist_pitch_link", "left_hand"),
    "thigh": ("left_hip_yaw_link", "left_hip_roll_link", "left_thigh"),
    "shank": ("left_shank",),
    "foot": ("left_ankle_pitch_link", "left_foot"),
}


def inertia_of(description: Description, link: str) -> Inertia:
    found = next(one.inertia for one in description.links if one.name == link)
    assert found is not None
    return found


def joint_named(description: Description, name: str) -> Joint:
    return next(joint for joint in description.joints if joint.name == name)


def frame_pose(description: Description, poses: dict[str, Array], name: str) -> Array:
    frame = next(one for one in description.frames if one.name == name)
    return poses[frame.link] @ frame.T_link_frame


def centre_of_mass(description: Description, poses: dict[str, Array]) -> Array:
    weighted = [
        link.inertia.mass * (poses[link.name] @ np.append(link.inertia.com, 1.0))
        for link in description.links
        if link.inertia
    ]
    total: Array = np.sum(weighted, axis=0)
    return total[:3] / sum(link.inertia.mass for link in description.links if link.inertia)


@sizes
def test_the_body_has_the_requested_mass(height: float, mass: float, sex: Sex) -> None:
    body = humanoid(height, mass, sex)
    assert sum(link.inertia.mass for link in body.links if link.inertia) == pytest.approx(mass, rel=1e-14)
    assert all(link.inertia is not None for link in body.links)


@sizes
def test_the_body_has_the_requested_height(height: float, mass: float, sex: Sex, link_poses: LinkPoses) -> None:
    body = humanoid(height, mass, sex)
    poses = link_poses(body, {})
    top = frame_pose(body, poses, "head_top")[2, 3]
    for sole in ("left_sole", "right_sole"):
        assert top - frame_pose(body, poses, sole)[2, 3] == pytest.approx(height, rel=1e-14)


@sizes
def test_no_shape_sticks_out_above_the_head_or_below_the_soles(
    height: float, mass: float, sex: Sex, link_poses: LinkPoses
) -> None:
    body = humanoid(height, mass, sex)
    poses = link_poses(body, {})
    sole = frame_pose(body, poses, "left_sole")[2, 3]
    extents = [
        (poses[link.name] @ shape.T_link_shape)[2, 3] + end
        for link in body.links
        for shape in (*link.visuals, *link.collisions)
        for end in heights(shape)
    ]
    assert min(extents) == pytest.approx(sole, abs=1e-12)
    assert max(extents) == pytest.approx(sole + height, rel=1e-12)


def heights(shape: Shape) -> tuple[float, float]:
    """The lowest and highest z of a shape in its own frame, whose z axis is upright, as all are at zero."""
    if shape.triangles is not None:
        z = shape.triangles[0][:, 2]
        return float(z.min()), float(z.max())
    half = {"box": 0.5 * shape.size[-1], "sphere": shape.size[0], "capsule": shape.size[0] + 0.5 * shape.size[-1]}
    return -half[shape.kind], half[shape.kind]


@sizes
def test_every_link_has_a_physically_consistent_inertia(height: float, mass: float, sex: Sex) -> None:
    body = humanoid(height, mass, sex)
    validate(body)
    with_mass = [link for link in body.links if link.inertia]
    impossible = [link.name for link in with_mass if not solids.is_physically_consistent(link.inertia)]
    assert impossible == []


@pytest.mark.parametrize("sex", ["male", "female"])
@pytest.mark.parametrize("segment", SEGMENTS)
def test_segments_have_the_mass_of_the_table(segment: str, sex: Sex) -> None:
    body = humanoid(1.7, 70.0, sex)
    found = sum(inertia_of(body, link).mass for link in SEGMENTS[segment])
    # The female column of the table adds up to 99.99 %.
    assert found == pytest.approx(70.0 * TABLES[sex].segments[segment].mass, rel=1.1e-4)


@pytest.mark.parametrize("segment", ["head", "upper_arm", "forearm", "thigh", "shank"])
def test_segments_have_the_radii_of_gyration_of_the_table(segment: str) -> None:
    body, row = humanoid(1.7, 70.0), TABLES["male"].segments[segment]
    whole = solids.combine([inertia_of(body, link) for link in SEGMENTS[segment]])
    # The centre of mass, a known fraction of the length away from one end, tells the length.
    fraction = 1.0 - row.com if segment == "head" else row.com
    length = abs(whole.com[2]) / fraction
    np.testing.assert_allclose(np.sqrt(np.diag(whole.matrix) / whole.mass) / length, row.gyration, rtol=1e-12)


def test_the_trunk_has_the_radius_of_gyration_of_the_undivided_trunk(link_poses: LinkPoses) -> None:
    """De Leva also prints the whole trunk (cervicale to mid-hip): an independent check of parts put together."""
    body = humanoid(1.741, 73.0)
    poses = link_poses(body, {})
    pelvis, torso = inertia_of(body, "pelvis"), inertia_of(body, "torso")
    shift = poses["torso"][:3, 3] - poses["pelvis"][:3, 3]
    trunk = solids.combine([pelvis, Inertia(torso.mass, torso.com + shift, torso.matrix)])
    assert trunk.mass == pytest.approx(0.4346 * 73.0)
    length = poses["head"][2, 3] - poses["pelvis"][2, 3]
    assert 1.0 - trunk.com[2] / length == pytest.approx(0.5138, abs=0.01)
    radii = np.sqrt(np.diag(trunk.matrix) / trunk.mass) / length
    np.testing.assert_allclose(radii, (0.328, 0.306, 0.169), atol=0.025)


def test_the_balls_of_a_hip_and_the_thigh_are_the_whole_thigh_at_any_angle(link_poses: LinkPoses) -> None:
    body = humanoid()
    reference = None
    for angles in ((0.0, 0.0, 0.0), (0.5, -0.3, -1.1), (-0.7, 0.6, 0.4)):
        hip = zip(("left_hip_yaw", "left_hip_roll", "left_hip_pitch"), angles, strict=True)
        poses = link_poses(body, {name: (angle,) for name, angle in hip})
        T_thigh_pelvis = np.linalg.inv(poses["left_thigh"])
        parts = []
        for link in SEGMENTS["thigh"]:
            T, part = T_thigh_pelvis @ poses[link], inertia_of(body, link)
            com = T[:3, :3] @ part.com + T[:3, 3]
            parts.append(Inertia(part.mass, com, T[:3, :3] @ part.matrix @ T[:3, :3].T))
        whole = solids.combine(parts)
        reference = reference or whole
        np.testing.assert_allclose(whole.com, reference.com, atol=1e-14)
        np.testing.assert_allclose(whole.matrix, reference.matrix, atol=1e-14)


def test_chains_have_the_specified_joints() -> None:
    body = humanoid()
    counts = {name: len(joints) for name, joints in body.chains.items()}
    assert counts == {"right_arm": 7, "left_arm": 7, "right_leg": 6, "left_leg": 6, "torso": 1, "head": 3}
    in_chains = Counter(joint for chain in body.chains.values() for joint in chain)
    assert in_chains == Counter(joint.name for joint in body.joints)
    assert {joint.kind for joint in body.joints} == {"revolute"}


def test_the_axes_of_hip_shoulder_wrist_and_neck_meet_in_one_point(link_poses: LinkPoses) -> None:
    poses = link_poses(humanoid(), {})
    for links in (SEGMENTS["thigh"], SEGMENTS["upper_arm"], SEGMENTS["hand"], SEGMENTS["head"], SEGMENTS["foot"]):
        for link in links[1:]:
            np.testing.assert_array_equal(poses[link][:3, 3], poses[links[0]][:3, 3])


def test_left_and_right_mirror_each_other(link_poses: LinkPoses) -> None:
    body = humanoid()
    poses, mirror = link_poses(body, {}), np.diag([1.0, -1.0, 1.0])
    lefts = [link.name for link in body.links if link.name.startswith("left_")]
    assert len(lefts) == 13
    for left in lefts:
        right = left.replace("left_", "right_")
        one, other = inertia_of(body, left), inertia_of(body, right)
        assert one.mass == other.mass
        np.testing.assert_array_equal(mirror @ poses[left][:3, 3], poses[right][:3, 3])
        np.testing.assert_array_equal(mirror @ one.com, other.com)
        np.testing.assert_array_equal(mirror @ one.matrix @ mirror, other.matrix)


def test_joint_ranges_of_the_right_mirror_those_of_the_left(link_poses: LinkPoses) -> None:
    """A left limb at its limits and a right limb at the mirrored ones stand in mirror images."""
    body = humanoid()
    for side_limit in ("lower", "upper"):
        left = {j.name: (getattr(j, side_limit),) for j in body.joints if j.name.startswith("left_")}
        right = {}
        for name, (value,) in left.items():
            joint = joint_named(body, name.replace("left_", "right_"))
            mirrored = value if joint.axis[1] else -value
            assert min(abs(mirrored - joint.lower), abs(mirrored - joint.upper)) < 1e-15
            right[joint.name] = (mirrored,)
        poses = link_poses(body, {**left, **right})
        for end in ("hand", "foot"):
            position = poses[f"left_{end}"][:3, 3] * [1.0, -1.0, 1.0]
            np.testing.assert_allclose(position, poses[f"right_{end}"][:3, 3], atol=1e-12)


@pytest.mark.parametrize(
    ("joint", "angle", "link", "frame", "direction"),
    [
        ("left_hip_pitch", -0.5, "left_shank", "left_sole", (1, 0)),
        ("left_hip_roll", 0.5, "left_shank", "left_sole", (0, 1)),
        ("right_hip_roll", -0.5, "right_shank", "right_sole", (0, -1)),
        ("left_knee", 0.5, "left_shank", "left_sole", (-1, 0)),
        ("left_shoulder_pitch", -0.5, "left_forearm", "left_palm", (1, 0)),
        ("left_elbow", -0.5, "left_forearm", "left_palm", (1, 0)),
        ("right_shoulder_roll", -0.5, "right_forearm", "right_palm", (0, -1)),
        ("left_wrist_roll", -0.5, "left_hand", "left_palm", (0, -1)),
    ],
)
def test_signs_of_joints_move_limbs_as_documented(
    joint: str, angle: float, link: str, frame: str, direction: tuple[int, int], link_poses: LinkPoses
) -> None:
    body = humanoid()
    limits = joint_named(body, joint)
    assert limits.lower <= angle <= limits.upper
    before = frame_pose(body, link_poses(body, {}), frame)[:2, 3]
    after = frame_pose(body, link_poses(body, {joint: (angle,)}), frame)[:2, 3]
    assert float(np.dot(after - before, direction)) > 0.02


@sizes
@pytest.mark.parametrize("configuration", ["standing", "upright"])
def test_named_configurations_put_both_soles_flat_on_the_ground(
    height: float, mass: float, sex: Sex, configuration: str, link_poses: LinkPoses
) -> None:
    body = with_base(humanoid(height, mass, sex))
    positions = body.configurations[configuration]
    poses = link_poses(body, positions)
    for sole in ("left_sole", "right_sole"):
        T = frame_pose(body, poses, sole)
        assert T[2, 3] == pytest.approx(0.0, abs=1e-14)
        np.testing.assert_allclose(T[:3, :3], np.eye(3), atol=1e-15)
    com = centre_of_mass(body, poses)
    middle = frame_pose(body, poses, "left_sole")[0, 3]
    half_foot = 0.5 * 0.152 * height
    assert middle - half_foot + 0.02 * height < com[0] < middle + half_foot - 0.02 * height
    assert com[1] == pytest.approx(0.0, abs=1e-14)


def test_standing_bends_the_knees_within_the_limits() -> None:
    body = humanoid()
    standing = body.configurations["standing"]
    assert standing["left_knee"] == standing["right_knee"] == (0.6,)
    for joint in body.joints:
        (position,) = standing.get(joint.name, (0.0,))
        assert joint.lower <= position <= joint.upper, joint.name


def test_the_sole_is_the_bottom_of_the_foot_box() -> None:
    body = humanoid(2.0, 80.0)
    foot = next(link for link in body.links if link.name == "left_foot")
    sole = next(frame for frame in body.frames if frame.name == "left_sole")
    (box,) = foot.collisions
    assert box.kind == "box"
    assert box.size[:2] == pytest.approx((0.152 * 2.0, 0.055 * 2.0))
    bottom = box.T_link_shape[:3, 3] - [0.0, 0.0, 0.5 * box.size[2]]
    np.testing.assert_allclose(sole.T_link_frame[:3, 3], bottom, atol=1e-15)


@pytest.mark.parametrize("sex", ["male", "female"])
@pytest.mark.parametrize("configuration", ["standing", "upright"])
def test_no_two_parts_of_the_body_touch(configuration: str, sex: Sex) -> None:
    """MuJoCo, which looks for contacts between all links but parent and child, finds none."""
    body = humanoid(sex=sex)
    model = mujoco.MjModel.from_xml_string(write_urdf(body))
    data = mujoco.MjData(model)
    for name, value in body.configurations[configuration].items():
        if name != "root_joint":
            (data.joint(name).qpos[0],) = value
    mujoco.mj_forward(model, data)
    assert model.ngeom > 30
    assert data.ncon == 0
    (data.joint("left_shoulder_roll").qpos[0],) = (-0.7,)
    mujoco.mj_forward(model, data)
    assert data.ncon > 0


def test_limits_scale_with_the_body() -> None:
    small, large = humanoid(1.0, 20.0), humanoid(2.0, 80.0)
    for one, other in zip(small.joints, large.joints, strict=True):
        assert other.effort / one.effort == pytest.approx(8.0)
        assert other.damping / one.damping == pytest.approx(8.0)
        assert other.armature / one.armature == pytest.approx(16.0)
        assert (one.lower, one.upper, one.velocity) == (other.lower, other.upper, other.velocity)


def test_the_legs_can_hold_the_body_on_one_bent_knee() -> None:
    """Each torque limit exceeds what the standing body asks of one leg alone, worked out by hand."""
    body = humanoid(1.7, 70.0)
    weight = 70.0 * 9.81
    thigh = -joint_named(body, "left_knee").T_parent_child[2, 3]
    assert joint_named(body, "left_knee").effort > weight * thigh * math.sin(0.3)
    assert joint_named(body, "left_hip_roll").effort > weight * 0.05 * 1.7
    assert joint_named(body, "left_ankle_pitch").effort > weight * 0.5 * 0.152 * 1.7
    assert joint_named(body, "left_ankle_roll").effort > weight * 0.5 * 0.055 * 1.7


@pytest.mark.parametrize("value", [0.0, -1.7, math.nan, math.inf, "tall", None, True, [1.7]])
@pytest.mark.parametrize("name", ["height", "mass"])
def test_a_size_that_is_not_positive_is_rejected(name: str, value: object) -> None:
    with pytest.raises(InputError, match=name):
        humanoid(**{name: value})  # type: ignore[arg-type]


def test_an_unknown_sex_is_rejected_with_the_choices() -> None:
    with pytest.raises(InputError, match="'male', 'female'"):
        humanoid(sex="other")  # type: ignore[arg-type]
