"""The bundled arms against printed answers, Pinocchio and the makers' own URDF files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from kinodyn.arrays import Array
from kinodyn.description import bundled, solids
from kinodyn.description.example_robot_data import robot_files
from kinodyn.description.types import Description
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.description.validation import validate

from ..puma560 import PUMA560_INERTIA

LinkPoses = Callable[[Description, Mapping[str, tuple[float, ...]]], dict[str, Array]]

ARMS: dict[str, tuple[Callable[[], Description], int]] = {
    "panda": (bundled.panda, 7),
    "planar2r": (bundled.planar2r, 2),
    "planar3r": (bundled.planar3r, 3),
    "puma560": (bundled.puma560, 6),
    "scara": (bundled.scara, 4),
    "ur5": (bundled.ur5, 6),
}
arms = pytest.mark.parametrize("name", ARMS)


def moving(description: Description) -> list[str]:
    return [joint.name for joint in description.joints if joint.kind != "fixed"]


def positions(description: Description, q: Array | tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    return {name: (float(value),) for name, value in zip(moving(description), q, strict=True)}


def pinocchio_model(description: Description) -> tuple[pin.Model, pin.Data]:
    """The arm in Pinocchio, with armature and gravity, which its URDF cannot carry."""
    model = pin.buildModelFromXML(write_urdf(description))
    for joint in description.joints:
        if joint.kind != "fixed":
            model.armature[model.joints[model.getJointId(joint.name)].idx_v] = joint.armature
    model.gravity.linear = np.array(description.gravity)
    return model, model.createData()


@arms
def test_every_arm_has_its_joints_and_a_tool(name: str) -> None:
    build, joints = ARMS[name]
    arm = build()
    assert arm.name == name
    assert len(moving(arm)) == joints
    assert arm.chains["arm"] == tuple(moving(arm))
    known = {link.name for link in arm.links} | {frame.name for frame in arm.frames}
    assert set(arm.end_effectors.values()) <= known


@arms
def test_every_arm_is_valid_and_its_inertias_are_physically_consistent(name: str) -> None:
    arm = ARMS[name][0]()
    validate(arm)
    assert [link.name for link in arm.links if link.inertia and not solids.is_physically_consistent(link.inertia)] == []


@arms
def test_named_configurations_name_each_moving_joint(name: str) -> None:
    arm = ARMS[name][0]()
    for values in arm.configurations.values():
        assert list(values) == moving(arm)


def test_puma560_poses_agree_with_the_robotics_toolbox(link_poses: LinkPoses) -> None:
    """P. Corke, Robotics, Vision and Control 3 (Python): `puma.fkine(puma.qn)` on its front page."""
    arm = bundled.puma560()
    printed = np.array([[0, 0, 1, 0.5963], [0, 1, 0, -0.1501], [-1, 0, 0, 0.6575], [0, 0, 0, 1]])
    T = link_poses(arm, arm.configurations["nominal"])["link6"]
    np.testing.assert_allclose(T, printed, atol=5e-5)


@pytest.mark.parametrize(
    ("configuration", "position"),
    [
        # By hand from the lengths: upper arm 0.4318 m, elbow offset 0.0203 m, forearm 0.4318 m, shoulder 0.67183 m.
        ("zero", (0.4318 + 0.0203, -0.15005, 0.67183 + 0.4318)),
        ("ready", (0.0203, -0.15005, 0.67183 + 0.4318 + 0.4318)),
        ("stretched", (0.4318 + 0.4318, -0.15005, 0.67183 - 0.0203)),
    ],
)
def test_the_reach_of_puma560_follows_from_its_link_lengths(
    configuration: str, position: tuple[float, float, float], link_poses: LinkPoses
) -> None:
    arm = bundled.puma560()
    np.testing.assert_allclose(link_poses(arm, arm.configurations[configuration])["link6"][:3, 3], position, atol=1e-12)


def test_puma560_gravity_torques_agree_with_the_robotics_toolbox() -> None:
    """`puma.gravload(puma.qn)` in the toolbox's tests."""
    arm = bundled.puma560()
    model, data = pinocchio_model(arm)
    q = np.array([value for (value,) in arm.configurations["nominal"].values()])
    printed = (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0)
    np.testing.assert_allclose(pin.computeGeneralizedGravity(model, data, q), printed, atol=5e-5)


def test_puma560_mass_matrix_agrees_with_the_robotics_toolbox() -> None:
    """`puma.inertia(puma.qn)` in the toolbox's tests, rotors included."""
    arm = bundled.puma560()
    model, data = pinocchio_model(arm)
    q = np.array([value for (value,) in arm.configurations["nominal"].values()])
    M = np.triu(pin.crba(model, data, q))
    np.testing.assert_allclose(M, np.triu(PUMA560_INERTIA), atol=6e-5)


def test_puma560_dynamics_agree_with_the_published_inertias() -> None:
    """What was moved from link 2 to link 3 to make bodies of them, and the mass given to link 1, changes no torque."""
    arm = bundled.puma560()
    published = {
        "link1": solids.principal(1e-9, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
        "link2": solids.principal(17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
        "link3": solids.principal(4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    }
    links = tuple(replace(link, inertia=published.get(link.name, link.inertia)) for link in arm.links)
    (ours, our_data), (theirs, their_data) = pinocchio_model(arm), pinocchio_model(replace(arm, links=links))
    rng = np.random.default_rng(3)
    for _ in range(20):
        q, v, a = rng.uniform(-3.0, 3.0, (3, 6))
        expected = pin.rnea(theirs, their_data, q, v, a)
        np.testing.assert_allclose(pin.rnea(ours, our_data, q, v, a), expected, rtol=1e-12, atol=1e-12)


def test_puma560_armature_is_rotor_inertia_times_gear_ratio_squared() -> None:
    joint = bundled.puma560().joints[0]
    assert joint.armature == pytest.approx(200e-6 * 62.6111**2)
    assert joint.damping == pytest.approx(1.48e-3 * 62.6111**2)
    assert joint.friction == pytest.approx(0.415 * 62.6111)


def test_puma560_masses_beyond_the_first_link_are_those_published() -> None:
    masses = {link.name: link.inertia.mass for link in bundled.puma560().links if link.inertia}
    assert sum(mass for name, mass in masses.items() if name != "link1") == pytest.approx(23.45)


def wheel_model(name: str) -> tuple[pin.Model, pin.Data]:
    file = robot_files().find(name)
    assert file is not None
    model = pin.buildModelFromUrdf(str(file))
    return model, model.createData()


def test_panda_poses_agree_with_the_manufacturers_urdf(link_poses: LinkPoses) -> None:
    arm = bundled.panda()
    model, data = wheel_model("panda_description")
    rng = np.random.default_rng(1)
    for _ in range(20):
        q = rng.uniform(-2.0, 2.0, 7)
        full = pin.neutral(model)
        full[:7] = q
        pin.framesForwardKinematics(model, data, full)
        poses = link_poses(arm, positions(arm, q))
        for frame in arm.frames:
            poses[frame.name] = poses[frame.link] @ frame.T_link_frame
        for link in (*(f"panda_link{number}" for number in range(9)), "panda_hand_tcp"):
            expected = data.oMf[model.getFrameId(link)].homogeneous
            np.testing.assert_allclose(poses[link], expected, atol=1e-12, err_msg=link)


def test_panda_has_the_mass_and_limits_of_the_manufacturers_urdf() -> None:
    arm = bundled.panda()
    model, _ = wheel_model("panda_description")
    for number, joint in enumerate(arm.joints):
        inertia = arm.links[number + 1].inertia
        # The hand and its fingers, which hang on the last joint, are not part of the arm.
        assert inertia is not None
        if number < 6:
            assert model.inertias[number + 1].mass == pytest.approx(inertia.mass)
            np.testing.assert_allclose(model.inertias[number + 1].inertia, inertia.matrix, atol=1e-12)
            np.testing.assert_allclose(model.inertias[number + 1].lever, inertia.com, atol=1e-12)
        assert (joint.lower, joint.upper) == (model.lowerPositionLimit[number], model.upperPositionLimit[number])
        assert joint.velocity == model.upperVelocityLimit[number]
        assert joint.effort == model.upperEffortLimit[number]


def test_the_ur5_flange_pose_agrees_with_the_manufacturers_urdf(link_poses: LinkPoses) -> None:
    arm = bundled.ur5()
    model, data = wheel_model("ur5_robot")
    rng = np.random.default_rng(2)
    for _ in range(20):
        q = rng.uniform(-3.0, 3.0, 6)
        pin.framesForwardKinematics(model, data, q)
        base, flange = (data.oMf[model.getFrameId(name)] for name in ("base", "tool0"))
        T = link_poses(arm, positions(arm, q))["wrist_3_link"]
        # The file rounds half a turn to eleven digits.
        np.testing.assert_allclose(T, base.actInv(flange).homogeneous, atol=1e-10)


def test_ur5_has_the_mass_given_by_its_manufacturer() -> None:
    masses = [link.inertia.mass for link in bundled.ur5().links if link.inertia]
    assert masses == [3.7, 8.393, 2.33, 1.219, 1.219, 0.1879]


@pytest.mark.parametrize(("q1", "q2"), [(0.0, math.pi / 2), (0.4, -1.1), (2.5, 3.0)])
def test_planar2r_satisfies_the_textbook_equations(q1: float, q2: float, link_poses: LinkPoses) -> None:
    """Two rods of 1 m and 1 kg: M and g in closed form (Spong, Hutchinson and Vidyasagar, section 6.4)."""
    arm = bundled.planar2r()
    tip = link_poses(arm, positions(arm, (q1, q2)))["link2"][:3, 3]
    np.testing.assert_allclose(
        tip, (math.cos(q1) + math.cos(q1 + q2), math.sin(q1) + math.sin(q1 + q2), 0.0), atol=1e-15
    )
    model, data = pinocchio_model(arm)
    q = pin.neutral(model)
    # Pinocchio stores a continuous joint as cosine and sine.
    q[:] = math.cos(q1), math.sin(q1), math.cos(q2), math.sin(q2)
    coupling, rod = 0.5 * math.cos(q2), 1.0 / 12.0
    M22 = 0.25 + rod
    M = [[0.25 + rod + 1.0 + M22 + 2.0 * coupling, M22 + coupling], [M22 + coupling, M22]]
    np.testing.assert_allclose(np.triu(pin.crba(model, data, q)), np.triu(M), atol=1e-12)
    g2 = 9.81 * 0.5 * math.cos(q1 + q2)
    g1 = 9.81 * 1.5 * math.cos(q1) + g2
    np.testing.assert_allclose(pin.computeGeneralizedGravity(model, data, q), (g1, g2), atol=1e-12)


def test_the_scara_quill_moves_vertically_and_stays_upright(link_poses: LinkPoses) -> None:
    arm = bundled.scara()
    T = link_poses(arm, positions(arm, (0.5, -0.8, 0.15, 0.3)))["link4"]
    np.testing.assert_allclose(T[:3, 2], (0.0, 0.0, -1.0), atol=1e-15)
    assert T[2, 3] == pytest.approx(0.387 - 0.15)


@pytest.mark.parametrize("name", ["planar2r", "planar3r"])
def test_capsules_join_the_ends_of_links(name: str, link_poses: LinkPoses) -> None:
    """The chain of shapes leaves no gap: each capsule ends where another begins, at the base or at the tip."""
    arm = ARMS[name][0]()
    poses = link_poses(arm, {})
    ends = [
        (poses[link.name] @ shape.T_link_shape @ [0.0, 0.0, sign * 0.5 * shape.size[1], 1.0])[:3]
        for link in arm.links
        for shape in link.visuals
        if shape.kind == "capsule"
        for sign in (-1.0, 1.0)
    ]
    base_and_tip = [np.zeros(3), poses[arm.links[-1].name][:3, 3]]
    for index, end in enumerate(ends):
        others = base_and_tip + [other for place, other in enumerate(ends) if place // 2 != index // 2]
        assert min(float(np.linalg.norm(end - other)) for other in others) < 1e-9
