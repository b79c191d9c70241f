"""Converters against Pinocchio and MuJoCo, against derivatives, and by the power of efforts."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinodyn import dynamics, kinematics
from kinodyn.description.base import with_base
from kinodyn.description.mjcf import parse_mjcf
from kinodyn.errors import InputError
from kinodyn.model import convert
from kinodyn.model.convert import Converter, DrakeJoint, DrakeLayout
from kinodyn.model.robot import Robot

from .convert_robots import (
    BALL_ROBOT,
    MJCF,
    ONE_HINGE,
    ROBOT,
    URDF,
    drake_layout,
    random_state,
    seeds,
    urdf_joint,
    urdf_link,
    urdf_robot,
)


def mujoco_model(text: str) -> mujoco.MjModel:
    """Compile a model in which nothing but rigid bodies acts."""
    model = mujoco.MjSpec.from_string(text).compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return model


def converters() -> dict[str, tuple[Robot, Converter]]:
    return {
        "pinocchio": (ROBOT, convert.pinocchio(ROBOT, pinocchio.buildModelFromXML(URDF))),
        "pinocchio with mimic": (ROBOT, convert.pinocchio(ROBOT, pinocchio.buildModelFromXML(URDF, True))),
        "mujoco": (ROBOT, convert.mujoco(ROBOT, mujoco_model(URDF))),
        "mujoco with ball": (BALL_ROBOT, convert.mujoco(BALL_ROBOT, mujoco_model(MJCF))),
        "drake": (ROBOT, convert.drake(ROBOT, drake_layout(ROBOT))),
        "drake with ball": (BALL_ROBOT, convert.drake(BALL_ROBOT, drake_layout(BALL_ROBOT))),
    }


CONVERTERS = converters()


engines = st.sampled_from(sorted(CONVERTERS))


batches = st.sampled_from([(), (1,), (5,), (2, 3), (0,)])


@settings(max_examples=100, deadline=None)
@given(engine=engines, batch=batches, seed=seeds)
def test_conversion_there_and_back_is_the_identity(engine, batch, seed):
    robot, c = CONVERTERS[engine]
    q, v, a, tau = random_state(robot, seed, batch)
    assert c.q_to(q).shape == (*batch, c.nq) and c.v_to(q, v).shape == (*batch, c.nv)
    back = c.q_from(c.q_to(q))
    for joint in robot.joints:  # a rotation has two quaternions
        if joint.kind in ("floating", "ball"):
            place = slice(joint.q.stop - 4, joint.q.stop)
            back[..., place] *= np.sign((back[..., place] * q[..., place]).sum(-1, keepdims=True))
    np.testing.assert_allclose(back, q, atol=1e-12)
    np.testing.assert_allclose(c.v_from(q, c.v_to(q, v)), v, atol=1e-12)
    np.testing.assert_allclose(c.a_from(q, v, c.a_to(q, v, a)), a, atol=1e-12)
    np.testing.assert_allclose(c.tau_from(q, c.tau_to(q, tau)), tau, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(engine=engines, seed=seeds)
def test_efforts_have_the_same_power_on_both_sides(engine, seed):
    robot, c = CONVERTERS[engine]
    q, v, _, tau = random_state(robot, seed, (4,))
    w, theirs = c.v_to(q, v), np.random.default_rng(seed).normal(size=(4, c.nv))
    np.testing.assert_allclose((c.tau_to(q, tau) * w).sum(-1), (tau * v).sum(-1), atol=1e-10)
    np.testing.assert_allclose((c.tau_from(q, theirs) * v).sum(-1), (theirs * w).sum(-1), atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(engine=engines, seed=seeds)
def test_accelerations_are_the_derivatives_of_velocities(engine, seed):
    robot, c = CONVERTERS[engine]
    q, v, a, _ = random_state(robot, seed)
    h = 1e-5
    after = c.v_to(robot.integrate(q, h * v), v + h * a)
    before = c.v_to(robot.integrate(q, -h * v), v - h * a)
    np.testing.assert_allclose(c.a_to(q, v, a), (after - before) / (2 * h), atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(engine=engines, seed=seeds)
def test_a_batch_agrees_with_single_states(engine, seed):
    robot, c = CONVERTERS[engine]
    q, v, a, tau = random_state(robot, seed, (3,))
    for i in range(3):
        np.testing.assert_array_equal(c.q_to(q)[i], c.q_to(q[i]))
        np.testing.assert_allclose(c.a_to(q, v, a)[i], c.a_to(q[i], v[i], a[i]), atol=1e-14)
        np.testing.assert_allclose(c.tau_to(q[i], tau)[2], c.tau_to(q[i], tau[2]), atol=1e-14)


def test_arguments_broadcast_and_are_not_written_to():
    robot, c = CONVERTERS["mujoco"]
    q, v, a, _ = random_state(robot, 0)
    many = random_state(robot, 1, (4, 1))[1]
    copies = [x.copy() for x in (q, v, a, many)]
    assert c.a_to(q, many, a).shape == (4, 1, c.nv)
    assert c.a_from(q, many, c.a_to(q, v, a)).shape == (4, 1, robot.nv)
    for x, copy in zip((q, v, a, many), copies, strict=True):
        np.testing.assert_array_equal(x, copy)


@pytest.fixture(params=["urdf", "mjcf"])
def two_engines(request, tmp_path) -> tuple[Robot, pinocchio.Model, mujoco.MjModel]:
    """Give one robot in both engines: planar, continuous and mimic joints from URDF, ball joints from MJCF."""
    if request.param == "urdf":
        return ROBOT, pinocchio.buildModelFromXML(URDF, True), mujoco_model(URDF)
    path = tmp_path / "robot.xml"
    path.write_text(MJCF)
    return BALL_ROBOT, pinocchio.buildModelFromMJCF(str(path)), mujoco_model(MJCF)


@pytest.mark.parametrize("seed", range(5))
def test_pinocchio_and_mujoco_see_the_same_motion(two_engines, seed):
    robot, pin_model, mj_model = two_engines
    to_pin, to_mj = convert.pinocchio(robot, pin_model), convert.mujoco(robot, mj_model)
    q, v, a, _ = random_state(robot, seed)
    pin_data, mj_data = pin_model.createData(), mujoco.MjData(mj_model)
    pinocchio.forwardKinematics(pin_model, pin_data, to_pin.q_to(q), to_pin.v_to(q, v), to_pin.a_to(q, v, a))
    pinocchio.updateFramePlacements(pin_model, pin_data)
    mj_data.qpos, mj_data.qvel, mj_data.qacc = to_mj.q_to(q), to_mj.v_to(q, v), to_mj.a_to(q, v, a)
    mujoco.mj_inverse(mj_model, mj_data)
    for body in range(1, mj_model.nbody):
        name = mj_model.body(body).name
        frame = pin_model.getFrameId(name, pinocchio.FrameType.BODY)
        np.testing.assert_allclose(mj_data.xpos[body], pin_data.oMf[frame].translation, atol=1e-12)
        np.testing.assert_allclose(mj_data.xmat[body].reshape(3, 3), pin_data.oMf[frame].rotation, atol=1e-12)
        twist, rate = np.zeros(6), pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        mujoco.mj_objectVelocity(mj_model, mj_data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
        theirs = pinocchio.getFrameVelocity(pin_model, pin_data, frame, rate)
        np.testing.assert_allclose(twist, np.concatenate([theirs.angular, theirs.linear]), atol=1e-12)


def inverse_in_mujoco(two_engines, seed):
    """Compute inverse dynamics at a random state: both converters, q, v, a and MuJoCo's data."""
    robot, pin_model, mj_model = two_engines
    to_pin, to_mj = convert.pinocchio(robot, pin_model), convert.mujoco(robot, mj_model)
    q, v, a, _ = random_state(robot, seed)
    data = mujoco.MjData(mj_model)
    data.qpos, data.qvel, data.qacc = to_mj.q_to(q), to_mj.v_to(q, v), to_mj.a_to(q, v, a)
    mujoco.mj_inverse(mj_model, data)
    return to_pin, to_mj, q, v, a, data


@pytest.mark.parametrize("seed", range(5))
def test_pinocchio_and_mujoco_compute_the_same_efforts(two_engines, seed):
    robot, pin_model, mj_model = two_engines
    to_pin, to_mj, q, v, a, data = inverse_in_mujoco(two_engines, seed)
    theirs = pinocchio.rnea(pin_model, pin_model.createData(), to_pin.q_to(q), to_pin.v_to(q, v), to_pin.a_to(q, v, a))
    np.testing.assert_allclose(to_mj.tau_from(q, data.qfrc_inverse), to_pin.tau_from(q, theirs), atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_kinodyn_agrees_with_both_engines(two_engines, seed):
    robot, pin_model, mj_model = two_engines
    to_pin, to_mj, q, v, a, data = inverse_in_mujoco(two_engines, seed)
    for body in range(1, mj_model.nbody):
        T_world_body = kinematics.pose(robot, q, mj_model.body(body).name)
        np.testing.assert_allclose(T_world_body[:3, 3], data.xpos[body], atol=1e-12)
        np.testing.assert_allclose(T_world_body[:3, :3], data.xmat[body].reshape(3, 3), atol=1e-12)
    tau = dynamics.inverse(robot, q, v, a)
    np.testing.assert_allclose(tau, to_mj.tau_from(q, data.qfrc_inverse), atol=1e-10)
    theirs = pinocchio.rnea(pin_model, pin_model.createData(), to_pin.q_to(q), to_pin.v_to(q, v), to_pin.a_to(q, v, a))
    np.testing.assert_allclose(tau, to_pin.tau_from(q, theirs), atol=1e-10)


# Several joints in one body, anchors off the origin, references, armature of joint and rotor, damping, a follower.
RICH_MJCF = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
<body name="a" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30"/>
<body name="b" pos="0.1 0.2 0.3" euler="40 50 60">
<joint name="x" axis="1 2 3" pos="0.1 0 0.2" ref="30" armature="0.3" damping="0.7"/>
<joint name="y" type="slide" axis="0 1 1" ref="0.2" armature="0.2"/>
<joint name="z" axis="0 0 1" pos="0 0.1 0"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/>
<body name="c" pos="0.3 0 0"><joint type="ball" pos="0.02 0.03 0" armature="0.1" damping="0.2"/><geom size="0.1"/>
<body name="d" pos="0 0 0.2"><joint name="follow" axis="0 1 0" ref="10"/><geom size="0.1" pos="0.1 0 0"/></body>
</body></body></body></worldbody>
<equality><joint joint1="follow" joint2="x" polycoef="0.1 -2 0 0 0"/></equality>
<actuator><motor joint="z" gear="5" armature="0.01" damping="0.02"/></actuator></mujoco>"""


@pytest.mark.parametrize("seed", range(5))
def test_efforts_of_a_robot_read_from_mjcf_agree_with_mujoco(seed):
    robot, model = Robot(with_base(parse_mjcf(RICH_MJCF))), mujoco_model(RICH_MJCF)
    c = convert.mujoco(robot, model)
    q, v, a, _ = random_state(robot, seed)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = c.q_to(q), c.v_to(q, v), c.a_to(q, v, a)
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(dynamics.inverse(robot, q, v, a), c.tau_from(q, data.qfrc_inverse), atol=1e-10)


@pytest.mark.parametrize("normal", ["0.6 0 0.8", "1 0 0", "0.48 -0.64 0.6"])
def test_planar_joints_of_any_upward_normal_agree_with_mujoco(normal):
    joints = urdf_joint("h", "planar", "a", "b", axis=normal)
    robot = urdf_robot(joints, links="ab")
    model = mujoco_model(f'<robot name="r">{urdf_link("a")}{urdf_link("b")}{joints}</robot>')
    data, q = mujoco.MjData(model), robot.random(seed=3)
    data.qpos = convert.mujoco(robot, model).q_to(q)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(kinematics.pose(robot, q, "b")[:3, 3], data.body("b").xpos, atol=1e-12)
    np.testing.assert_allclose(kinematics.pose(robot, q, "b")[:3, :3].ravel(), data.body("b").xmat, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_efforts_agree_with_pinocchio_models_without_mimic_joints(seed):
    q, v, a, _ = random_state(ROBOT, seed)
    efforts = []
    for mimic in (False, True):
        model = pinocchio.buildModelFromXML(URDF, mimic)
        c = convert.pinocchio(ROBOT, model)
        tau = pinocchio.rnea(model, model.createData(), c.q_to(q), c.v_to(q, v), c.a_to(q, v, a))
        efforts.append(c.tau_from(q, tau))
    np.testing.assert_allclose(efforts[0], efforts[1], atol=1e-10)


def test_followers_are_filled_in_for_engines_that_know_them_as_joints():
    q = ROBOT.random(seed=1)
    x, model = CONVERTERS["mujoco"][1].q_to(q), mujoco_model(URDF)
    places = {joint.name: joint.q.start for joint in ROBOT.joints}
    assert x[model.joint("r_follow").qposadr] == -2 * q[places["q_turn"]] + 0.3
    assert x[model.joint("s_follow").qposadr] == 0.5 * q[places["y_bend"]] - 0.1


def test_a_follower_of_a_follower_moves_with_the_first_leader():
    robot = urdf_robot(
        urdf_joint("c", "revolute", "x", "y", '<mimic joint="b" multiplier="3" offset="0.5"/>')
        + urdf_joint("a", "revolute", "x", "z")
        + urdf_joint("b", "prismatic", "z", "w", '<mimic joint="a" multiplier="-2" offset="0.25"/>'),
        links="xyzw",
    )
    layout = DrakeLayout({"a": DrakeJoint(0, 0), "b": DrakeJoint(1, 1, "prismatic"), "c": DrakeJoint(2, 2)}, 3, 3)
    c = convert.drake(robot, layout)
    np.testing.assert_allclose(c.q_to([0.1]), [0.1, 0.05, 0.65])
    np.testing.assert_allclose(c.v_to([0.1], [1.0]), [1.0, -2.0, -6.0])
    np.testing.assert_allclose(c.tau_from([0.1], [1.0, 1.0, 1.0]), [-7.0])


def test_joints_without_a_name_are_found_by_the_names_that_the_reader_gives():
    text = MJCF.replace('name="root"', "").replace('name="ball"', "").replace('name="hinge"', "")
    robot, model = Robot(with_base(parse_mjcf(text))), mujoco_model(text)
    assert robot.joints[-1].name == "joint3"
    q = robot.random(seed=2)
    np.testing.assert_array_equal(
        convert.mujoco(robot, model).q_to(q), convert.mujoco(BALL_ROBOT, mujoco_model(MJCF)).q_to(q)
    )


def test_a_free_base_of_another_name_is_found():
    robot = urdf_robot("", links="a", base="floating")
    text = '<mujoco><worldbody><body><freejoint name="float"/><geom size="1"/></body></worldbody></mujoco>'
    urdf = f'<robot name="r">{urdf_link("a")}</robot>'
    assert convert.mujoco(robot, mujoco_model(text)).nq == 7
    model = pinocchio.buildModelFromXML(urdf, pinocchio.JointModelFreeFlyer(), "float")
    assert convert.pinocchio(robot, model).nv == 6
    assert convert.drake(robot, DrakeLayout({"$world_a": DrakeJoint(0, 0, "quaternion_floating")}, 7, 6)).nq == 7


PLANAR = urdf_robot(urdf_joint("h", "planar", "a", "b"), links="ab")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: convert.pinocchio(ONE_HINGE, pinocchio.buildModelFromXML(URDF)),
            "the robot has no joint root_joint, deck, q_turn",
        ),
        (lambda: convert.pinocchio(ROBOT, pinocchio.Model()), "Pinocchio has no joint root_joint, z_turn"),
        (lambda: convert.pinocchio(PLANAR, hinge_of_pinocchio()), "'h' is planar here and JointModelRZ in Pinocchio"),
        (
            lambda: convert.mujoco(ONE_HINGE, mujoco_model(MJCF)),
            "MuJoCo has no joint h; the robot has no joint root, ball",
        ),
        (lambda: convert.mujoco(PLANAR, hinge_of_mujoco()), "'h' is planar here and mjJNT_HINGE in MuJoCo"),
        (lambda: convert.drake(ONE_HINGE, DrakeLayout({}, 0, 0)), "Drake has no joint h"),
        (lambda: convert.drake(ONE_HINGE, DrakeLayout({"h": DrakeJoint(0, 0, "screw")}, 1, 1)), "'screw' in Drake"),
        (lambda: convert.drake(ONE_HINGE, DrakeLayout({"h": DrakeJoint(1, 0)}, 1, 1)), "positions"),
        (lambda: convert.drake(ONE_HINGE, DrakeLayout({"h": DrakeJoint(0, 0)}, 1, 2)), "velocities"),
    ],
)
def test_models_of_another_robot_are_rejected(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_planar_joints_whose_plane_another_engine_cannot_have_are_rejected():
    joints = urdf_joint("h", "planar", "a", "b", axis="0.6 0 -0.8")
    robot, text = urdf_robot(joints, links="ab"), f'<robot name="r">{urdf_link("a")}{urdf_link("b")}{joints}</robot>'
    with pytest.raises(InputError, match="points down"):
        convert.mujoco(robot, mujoco_model(text))
    with pytest.raises(InputError, match="plane of z"):
        convert.pinocchio(robot, pinocchio.buildModelFromXML(text))


def hinge_of_pinocchio() -> pinocchio.Model:
    model = pinocchio.Model()
    model.addJoint(0, pinocchio.JointModelRZ(), pinocchio.SE3.Identity(), "h")
    return model


def hinge_of_mujoco() -> mujoco.MjModel:
    return mujoco_model('<mujoco><worldbody><body><joint name="h"/><geom size="1"/></body></worldbody></mujoco>')


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, q, v: c.q_to(q[:-1]), r"q must have shape \(\.\.\., 14\), got \(13,\)"),
        (lambda c, q, v: c.q_to(np.full_like(q, np.nan)), "NaN"),
        (lambda c, q, v: c.q_to(None), r"q must be real numbers of shape \(..., 14\)"),
        (lambda c, q, v: c.q_to(1.01 * q), "norm 1"),
        (lambda c, q, v: c.q_from(1.01 * c.q_to(q)), "norm 1"),
        (lambda c, q, v: c.v_to(q, v[:-1]), r"v must have shape \(..., 13\)"),
        (lambda c, q, v: c.v_to(np.stack([q] * 2), np.stack([v] * 3)), "batch axes"),
        (lambda c, q, v: c.tau_from(q, v), r"the other engine's efforts must have shape \(..., 15\)"),
    ],
)
def test_invalid_arrays_are_rejected(call, message):
    robot, c = CONVERTERS["pinocchio"]
    q, v, *_ = random_state(robot, 0)
    with pytest.raises(InputError, match=message):
        call(c, q, v)
