"""MJCF models with what URDF lacks, against MuJoCo: armature, ball joints, several joints in a body, references.

MuJoCo's velocity is B(q) v, with free bodies' linear velocities in world axes and followers as joints of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.mjcf import parse_mjcf
from kinodyn.model.convert import Converter
from kinodyn.model.robot import Robot

ARM = """<mujoco><option gravity="0.3 -0.2 -9.7"/><worldbody>
<body name="a" pos="0.1 0 0.5" euler="10 -20 30">
<joint name="swing" axis="1 2 3" armature="0.4" damping="0.6" ref="25"/>
<geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.2" euler="40 0 10"/><site name="mark" pos="0.1 0.2 0.3" euler="1 2 3"/>
<body name="b" pos="0 0 0.4"><joint name="lift" type="slide" axis="0 1 1" armature="0.2" damping="0.3" ref="0.1"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0.1 0"/>
<body name="c" pos="0.3 0 0" quat="0.5 0.5 -0.5 0.5"><joint name="twist" axis="0 0 -1" pos="0.1 0.2 0"/>
<geom size="0.1" pos="0.1 0 0.2"/></body></body></body></worldbody></mujoco>"""

BALLS = """<mujoco><worldbody><body name="a" pos="0 0 2" euler="5 6 7">
<joint name="hip" type="ball" armature="0.3" damping="0.1"/><geom type="capsule" size="0.07" fromto="0 0 0 0 0.1 -0.5"/>
<body name="b" pos="0 0.1 -0.5"><joint name="knee" type="ball" pos="0.02 0.03 -0.01"/>
<geom type="box" size="0.1 0.05 0.2" pos="0 0 -0.2"/>
<body name="c" pos="0 0 -0.4"><joint name="toe" axis="0 1 0"/><geom type="ellipsoid" size="0.1 0.2 0.05"/></body></body>
<body name="d" pos="0.2 0 0"><joint name="wing" type="ball"/><geom size="0.1" pos="0.3 0.1 0"/></body>
</body></worldbody></mujoco>"""

WRISTS = """<mujoco><worldbody><body name="a" pos="0 0 1">
<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0" armature="0.5"/>
<joint name="yaw" axis="0 0 1" pos="0.1 0 0" damping="0.2"/>
<geom type="box" size="0.2 0.1 0.05" pos="0.05 0 0.1" euler="10 20 30"/>
<body name="b" pos="0.2 0 0.1" euler="0 30 0">
<joint name="r" axis="1 0 0" ref="20"/><joint name="p" axis="0 1 0.2" pos="0 0 0.1"/><joint name="s" axis="0.1 0 1"/>
<geom type="capsule" size="0.04" fromto="0 0 0 0.2 0.1 0.3"/></body></body></worldbody></mujoco>"""

FREE = """<mujoco><worldbody>
<body name="a" pos="1 2 3" euler="10 20 30"><freejoint name="one"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
<body name="b" pos="0.3 0 0">
<joint name="arm" axis="0 1 0" armature="0.05"/><geom size="0.1" pos="0.2 0 0"/></body></body>
<body name="c" pos="0 0 1"><freejoint name="two"/>
<geom type="capsule" size="0.05" fromto="0 0.1 0 0.4 0.2 0.1"/></body>
<body name="d" pos="-1 0 1"><joint name="swing" axis="1 0 0"/><geom size="0.2" pos="0 0.3 0"/></body>
</worldbody></mujoco>"""

FOLLOWERS = """<mujoco><compiler autolimits="true"/><worldbody>
<body name="palm" pos="0 0 1"><freejoint name="base"/><geom type="box" size="0.1 0.1 0.02" pos="0.01 0 0"/>
<body name="f1" pos="0.1 0.05 0"><joint name="lead" axis="0 1 0" armature="0.02" damping="0.1" ref="10"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0.1 0 0"/>
<body name="f2" pos="0.1 0 0"><joint name="follow1" axis="0 1 0" armature="0.01"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0.05 0 0.01"/></body></body>
<body name="g1" pos="0.1 -0.05 0"><joint name="follow2" axis="0 1 0" damping="0.05" ref="-5"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0.1 0 0"/></body>
<body name="slider" pos="0 0 0.05"><joint name="follow3" type="slide" axis="1 0 0.3"/><geom size="0.02"/></body>
</body></worldbody><equality>
<joint joint1="follow1" joint2="lead" polycoef="0.2 0.7 0 0 0"/>
<joint joint1="follow2" joint2="lead" polycoef="0 -1 0 0 0"/>
<joint joint1="follow3" joint2="follow2" polycoef="0.01 0.05 0 0 0"/></equality></mujoco>"""

MODELS = {"arm": ARM, "balls": BALLS, "wrists": WRISTS, "free bodies": FREE, "followers": FOLLOWERS}
STATES = 25


@dataclass
class Case:
    """One model in both engines, at the same states."""

    robot: Robot
    model: mujoco.MjModel
    converter: Converter
    q: Array
    v: Array
    a: Array
    tau: Array

    def data(self, i: int) -> mujoco.MjData:
        """Put MuJoCo into state i, with everything computed but forces of the joints and from outside."""
        data = mujoco.MjData(self.model)
        data.qpos, data.qvel = self.converter.q_to(self.q[i]), self.converter.v_to(self.q[i], self.v[i])
        mujoco.mj_forward(self.model, data)
        return data

    def B(self, i: int) -> Array:
        return np.asarray(self.converter.v_to(self.q[i], np.eye(self.robot.nv)).T)

    def bodies(self) -> list[tuple[int, str]]:
        return [(index, self.model.body(index).name) for index in range(1, self.model.nbody)]


@pytest.fixture(scope="module", params=MODELS)
def case(request: pytest.FixtureRequest) -> Case:
    text = MODELS[request.param]
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    robot = Robot(parse_mjcf(text))
    v, a, tau = np.random.default_rng(1).normal(size=(3, STATES, robot.nv))
    return Case(robot, model, kd.convert.mujoco(robot, model), robot.random(STATES, seed=2), v, a, tau)


def assert_agree(found: Array, expected: list[Array]) -> None:
    stacked = np.stack(expected)
    np.testing.assert_allclose(found, stacked, rtol=1e-10, atol=1e-10 * np.abs(stacked).max())


def full_mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Multiply by unit vectors: the function that unpacks M differs between versions of MuJoCo."""
    M = np.zeros((model.nv, model.nv))
    for row, unit in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    return M


def body_jacobian(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Array:
    J = np.zeros((6, model.nv))
    mujoco.mj_jacBody(model, data, J[:3], J[3:], body)
    return J


def test_body_poses_agree_with_mujoco(case: Case, instruction_set: str) -> None:
    data = [case.data(i) for i in range(STATES)]
    for body, name in case.bodies():
        poses = kd.kinematics.pose(case.robot, case.q, name)
        assert_agree(poses[:, :3, 3], [d.xpos[body].copy() for d in data])
        assert_agree(poses[:, :3, :3], [d.xmat[body].reshape(3, 3).copy() for d in data])


def test_site_poses_agree_with_mujoco() -> None:
    model, robot = mujoco.MjModel.from_xml_string(ARM), Robot(parse_mjcf(ARM))
    data = mujoco.MjData(model)
    q = robot.random(seed=1)
    data.qpos = kd.convert.mujoco(robot, model).q_to(q)
    mujoco.mj_kinematics(model, data)
    T = kd.kinematics.pose(robot, q, "mark")
    np.testing.assert_allclose(T[:3, 3], data.site("mark").xpos, atol=1e-14)
    np.testing.assert_allclose(T[:3, :3], data.site("mark").xmat.reshape(3, 3), atol=1e-14)


def test_jacobians_agree_with_mujoco(case: Case, instruction_set: str) -> None:
    data = [case.data(i) for i in range(STATES)]
    for body, name in case.bodies():
        expected = [body_jacobian(case.model, d, body) @ case.B(i) for i, d in enumerate(data)]
        assert_agree(kd.kinematics.jacobian(case.robot, case.q, name), expected)


def test_velocities_agree_with_mujoco(case: Case) -> None:
    for body, name in case.bodies():
        expected = []
        for i in range(STATES):
            twist = np.zeros(6)
            mujoco.mj_objectVelocity(case.model, case.data(i), mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
            expected.append(np.concatenate([twist[3:], twist[:3]]))
        assert_agree(kd.kinematics.velocity(case.robot, case.q, case.v, name), expected)


def test_the_com_agrees_with_mujoco(case: Case) -> None:
    expected, jacobians = [], []
    for i in range(STATES):
        data, J = case.data(i), np.zeros((3, case.model.nv))
        mujoco.mj_jacSubtreeCom(case.model, data, J, 0)
        expected.append(data.subtree_com[0].copy())
        jacobians.append(J @ case.B(i))
    assert_agree(kd.kinematics.com(case.robot, case.q), expected)
    assert_agree(kd.kinematics.com_jacobian(case.robot, case.q), jacobians)
    assert case.robot.mass == pytest.approx(case.model.body_mass.sum(), rel=1e-12)


def test_angular_momentum_agrees_with_mujoco(case: Case) -> None:
    expected = []
    for i in range(STATES):
        A = np.zeros((3, case.model.nv))
        mujoco.mj_angmomMat(case.model, case.data(i), A, 0)
        expected.append(A @ case.B(i))
    assert_agree(kd.centroidal.momentum_matrix(case.robot, case.q)[:, 3:], expected)


def test_mass_matrices_agree_with_mujoco(case: Case, instruction_set: str) -> None:
    """Armature is in them, that of followers seen through their gears."""
    expected = [case.B(i).T @ full_mass_matrix(case.model, case.data(i)) @ case.B(i) for i in range(STATES)]
    assert_agree(kd.dynamics.mass_matrix(case.robot, case.q), expected)


def at_acceleration(case: Case, i: int) -> mujoco.MjData:
    data = case.data(i)
    data.qacc = case.converter.a_to(case.q[i], case.v[i], case.a[i])
    mujoco.mj_inverse(case.model, data)
    return data


def test_inverse_dynamics_agrees_with_mujoco(case: Case, instruction_set: str) -> None:
    expected = [case.converter.tau_from(case.q[i], at_acceleration(case, i).qfrc_inverse) for i in range(STATES)]
    assert_agree(kd.dynamics.inverse(case.robot, case.q, case.v, case.a), expected)


def test_recursive_newton_euler_agrees_with_mujoco(case: Case) -> None:
    """Without damping and, as MuJoCo's recursion leaves it to others, without armature."""
    bare = case.robot.replace(damping=0.0, armature=0.0)
    expected = []
    for i in range(STATES):
        result = np.zeros(case.model.nv)
        mujoco.mj_rne(case.model, at_acceleration(case, i), 1, result)
        expected.append(case.converter.tau_from(case.q[i], result))
    assert_agree(kd.dynamics.inverse(bare, case.q, case.v, case.a), expected)


def test_bias_agrees_with_mujoco(case: Case) -> None:
    """MuJoCo's velocities turn with nothing, ours with the free body: the drift of B makes the difference."""
    undamped = case.robot.replace(damping=0.0)
    expected = []
    for i in range(STATES):
        data = case.data(i)
        drift = case.converter.a_to(case.q[i], case.v[i], 0 * case.v[i])
        force = data.qfrc_bias + full_mass_matrix(case.model, data) @ drift
        expected.append(case.converter.tau_from(case.q[i], force))
    assert_agree(kd.dynamics.bias(undamped, case.q, case.v), expected)


def test_energies_agree_with_mujoco(case: Case) -> None:
    kinetic, potential = [], []
    for i in range(STATES):
        data = case.data(i)
        mujoco.mj_energyPos(case.model, data)
        mujoco.mj_energyVel(case.model, data)
        potential.append(data.energy[0])
        kinetic.append(data.energy[1])
    assert_agree(kd.dynamics.potential_energy(case.robot, case.q), potential)
    assert_agree(kd.dynamics.kinetic_energy(case.robot, case.q, case.v), kinetic)


def accelerations(case: Case, push: Callable[[mujoco.MjData, int], None]) -> list[Array]:
    """Let MuJoCo move, with the efforts of the case and what `push` adds."""
    found = []
    for i in range(STATES):
        data = case.data(i)
        data.qfrc_applied = case.converter.tau_to(case.q[i], case.tau[i])
        push(data, i)
        mujoco.mj_forward(case.model, data)
        if case.model.neq:
            found.append(held_together(case, i, data))
        else:
            found.append(case.converter.a_from(case.q[i], case.v[i], data.qacc))
    return found


def held_together(case: Case, i: int, data: mujoco.MjData) -> Array:
    """Solve for the accelerations of leaders: MuJoCo itself holds followers by soft constraints, kinodyn exactly."""
    M, B = full_mass_matrix(case.model, data), case.B(i)
    drift = case.converter.a_to(case.q[i], case.v[i], 0 * case.v[i])
    return np.linalg.solve(B.T @ M @ B, B.T @ (data.qfrc_smooth - M @ drift))


def test_forward_dynamics_agrees_with_mujoco(case: Case, instruction_set: str) -> None:
    assert_agree(kd.dynamics.forward(case.robot, case.q, case.v, case.tau), accelerations(case, lambda data, i: None))


def test_external_wrenches_agree_with_mujoco(case: Case, instruction_set: str) -> None:
    body, name = case.bodies()[-1]
    wrench = np.random.default_rng(3).normal(size=(STATES, 6)) * 5

    def push(data: mujoco.MjData, i: int) -> None:
        force, arm = wrench[i, :3], data.xpos[body] - data.xipos[body]
        data.xfrc_applied[body] = np.concatenate([force, wrench[i, 3:] + np.cross(arm, force)])

    assert_agree(
        kd.dynamics.forward(case.robot, case.q, case.v, case.tau, {name: wrench}),
        accelerations(case, push),
    )


def test_integrated_configurations_agree_with_mujoco(case: Case) -> None:
    """MuJoCo moves a free body straight while it turns, kinodyn along a screw: all but those positions agree."""
    expected, kept = [], np.ones(case.robot.nq, dtype=bool)
    for joint in case.robot.joints:
        if joint.kind == "floating":
            kept[joint.q.start : joint.q.start + 3] = False
    for i in range(STATES):
        x = case.converter.q_to(case.q[i])
        mujoco.mj_integratePos(case.model, x, case.converter.v_to(case.q[i], case.v[i]), 0.1)
        expected.append(case.converter.q_from(x)[kept])
    assert_agree(case.robot.integrate(case.q, 0.1 * case.v)[:, kept], expected)
