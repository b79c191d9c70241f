"""Everything that Pinocchio can tell, on robots of example-robot-data: batches, single states, every instruction set.

Pinocchio's coordinates are ours in another order, with those of followers beside: its velocity is B v with a constant
matrix B. So its torques are pulled back by B^T and its matrices projected by B on both sides.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import DescriptionWarning
from kinodyn.model.convert import Converter
from kinodyn.model.robot import Robot

ROBOTS = [
    ("talos", "floating"),
    ("g1", "floating"),
    ("simple_humanoid", "floating"),
    ("solo12", "floating"),
    ("anymal_b_simple", "floating"),
    ("go2", "floating"),
    ("hyq", "floating"),
    ("b1-z1", "floating"),
    ("borinot_flying_arm_2", "floating"),
    ("panda_description", "floating"),  # a finger follows the other
    ("panda_description", "fixed"),
    ("talos", "fixed"),
    ("allegro_left_hand", "fixed"),
    ("ur5_robot", "fixed"),
    ("kinova", "fixed"),
    ("xarm7", "fixed"),
    ("tiago", "fixed"),
    ("tiago_pro", "fixed"),  # ten followers
    ("baxter", "fixed"),
    ("so101", "fixed"),
    ("double_pendulum_continuous", "fixed"),
]
STATES = 100
REFERENCES = {"local_world_aligned": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL, "world": pin.WORLD}

VALUES, DERIVATIVES = 1e-10, 1e-8
DIFFERENTIATED = ("d(inverse)/dq", "d(inverse)/dv", "d(forward)/dq", "d(forward)/dv")

# The tolerance of an element is relative to its largest value over all states, or to this fraction of the largest value
# of the whole quantity if that is more: an element that is zero up to rounding has no scale of its own.
MIN_RELATIVE_SCALE = 1e-4

Answers = dict[str, Array]


@dataclass
class Case:
    """One robot in both engines, at the same states."""

    robot: Robot
    model: pin.Model
    converter: Converter
    B: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    step: Array
    wrench: Array
    frames: list[str]
    expected: Answers

    @property
    def common(self) -> list[str]:
        return [name for name in self.robot.frame_names if self.model.existFrame(name, pin.FrameType.BODY)]


def load(name: str, base: str) -> tuple[Robot, pin.Model]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        robot = kd.load(name, base=base).replace(damping=0.0)
    path = str(robot.description.source)
    floating = base == "floating"
    return robot, pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)


@pytest.fixture(scope="module", params=ROBOTS, ids=lambda pair: "-".join(pair))
def case(request: pytest.FixtureRequest) -> Case:
    robot, model = load(*request.param)
    converter = kd.convert.pinocchio(robot, model)
    rng = np.random.default_rng(1)
    v, a, tau = rng.normal(size=(3, STATES, robot.nv))
    q = robot.random(STATES, seed=2)
    B = converter.v_to(q[0], np.eye(robot.nv)).T
    step, wrench = rng.uniform(-1.5, 1.5, (STATES, robot.nv)), rng.normal(size=(2, STATES, 6)) * 10
    new = Case(robot, model, converter, B, q, v, a, 10 * tau, step, wrench, [], {})
    # Beyond the base: there, some quantities are zero in Pinocchio and rounding here.
    far = [name for name in new.common if model.frames[model.getFrameId(name, pin.FrameType.BODY)].parentJoint > 1]
    new.frames = list(dict.fromkeys([far[-1], far[len(far) // 2]]))
    new.wrench = new.wrench[: len(new.frames)]
    each = [theirs(new, i) for i in range(STATES)]
    new.expected = {key: np.stack([answers[key] for answers in each]) for key in each[0]}
    return new


def ours(case: Case, at: int | slice) -> Answers:
    """Ask kinodyn for everything at one state or at several."""
    robot, q, v, a, tau, step = (case.robot, case.q[at], case.v[at], case.a[at], case.tau[at], case.step[at])
    K, D, C = kd.kinematics, kd.dynamics, kd.centroidal
    wrenches = dict(zip(case.frames, case.wrench[:, at], strict=True))
    later = robot.integrate(q, step)
    dtau_dq, dtau_dv, M = D.inverse_derivatives(robot, q, v, a)
    da_dq, da_dv, M_inverse = D.forward_derivatives(robot, q, v, tau)
    found = {
        "poses": K.poses(robot, q, frames=case.common),
        "com": K.com(robot, q),
        "com jacobian": K.com_jacobian(robot, q),
        "com velocity": K.com_velocity(robot, q, v),
        "inverse": D.inverse(robot, q, v, a),
        "inverse with wrenches": D.inverse(robot, q, v, a, wrenches),
        "forward": D.forward(robot, q, v, tau),
        "forward with wrenches": D.forward(robot, q, v, tau, wrenches),
        "mass matrix": D.mass_matrix(robot, q),
        "mass matrix beside derivatives": M,
        "inverse of the mass matrix": M_inverse,
        "solve": D.factorize(robot, q).solve(tau),
        "coriolis matrix": D.coriolis_matrix(robot, q, v),
        "gravity": D.gravity(robot, q),
        "bias": D.bias(robot, q, v),
        "kinetic energy": D.kinetic_energy(robot, q, v),
        "potential energy": D.potential_energy(robot, q),
        "momentum matrix": C.momentum_matrix(robot, q),
        "momentum": C.momentum(robot, q, v),
        "momentum rate": C.momentum_rate(robot, q, v, a),
        "regressor": D.regressor(robot, q, v, a),
        "d(inverse)/dq": dtau_dq,
        "d(inverse)/dv": dtau_dv,
        "d(forward)/dq": da_dq,
        "d(forward)/dv": da_dv,
        "integrate": one_sign(robot, later),
        "difference": robot.difference(q, later),
        "interpolate": one_sign(robot, robot.interpolate(q, later, 0.3)),
    }
    for frame in case.frames:
        found[f"pose of {frame}"] = K.pose(robot, q, frame)
        for name in REFERENCES:
            reference: dict = {"reference": name}
            found[f"{name} jacobian of {frame}"] = K.jacobian(robot, q, frame, **reference)
            found[f"{name} jacobian_dot of {frame}"] = K.jacobian_dot(robot, q, v, frame, **reference)
            found[f"{name} velocity of {frame}"] = K.velocity(robot, q, v, frame, **reference)
            found[f"{name} classical of {frame}"] = K.acceleration(robot, q, v, a, frame, **reference)
            found[f"{name} spatial of {frame}"] = K.acceleration(robot, q, v, a, frame, **reference, kind="spatial")
    return found


def one_sign(robot: Robot, q: Array) -> Array:
    """Choose among the two quaternions of the base's rotation."""
    if robot.base == "floating":
        q[..., 3:7] *= np.sign(q[..., 6:7])
    return q


def theirs(case: Case, i: int) -> Answers:
    """Ask Pinocchio for everything at state i."""
    model, data, B = case.model, case.model.createData(), case.B
    x = case.converter.q_to(case.q[i])
    w, b = B @ case.v[i], B @ case.a[i]
    pin.forwardKinematics(model, data, x, w, b)
    pin.updateFramePlacements(model, data)
    found = of_frames(case, data, x, w)
    found |= of_steps(case, i, x)
    found |= of_dynamics(case, i, x, w, b)
    return found


def of_frames(case: Case, data: pin.Data, x: Array, w: Array) -> Answers:
    model, B = case.model, case.B
    ids = {name: model.getFrameId(name, pin.FrameType.BODY) for name in case.common}
    found = {"poses": np.stack([data.oMf[index].homogeneous for index in ids.values()])}
    for frame in case.frames:
        found[f"pose of {frame}"] = data.oMf[ids[frame]].homogeneous
        for name, reference in REFERENCES.items():
            where = (model, data, ids[frame], reference)
            found[f"{name} velocity of {frame}"] = pin.getFrameVelocity(*where).vector
            found[f"{name} spatial of {frame}"] = pin.getFrameAcceleration(*where).vector
            found[f"{name} classical of {frame}"] = pin.getFrameClassicalAcceleration(*where).vector
    data = model.createData()
    pin.computeJointJacobiansTimeVariation(model, data, x, w)
    pin.updateFramePlacements(model, data)
    for frame in case.frames:
        for name, reference in REFERENCES.items():
            rate = pin.getFrameJacobianTimeVariation(model, data, ids[frame], reference)
            found[f"{name} jacobian of {frame}"] = pin.getFrameJacobian(model, data, ids[frame], reference) @ B
            found[f"{name} jacobian_dot of {frame}"] = rate @ B
    return found


def of_steps(case: Case, i: int, x: Array) -> Answers:
    step = case.B @ case.step[i]
    later = pin.integrate(case.model, x, step)
    between = pin.interpolate(case.model, x, later, 0.3)
    # Pinocchio has a continuous joint's angle only up to full turns: take the turns from kinodyn.
    own = case.robot.integrate(case.q[i], case.step[i])
    own_between = case.q[i] + 0.3 * (own - case.q[i])
    back = [case.converter.q_from(y) for y in (later, between)]
    for joint in case.robot.joints:
        if joint.kind == "continuous" and joint.mimic is None:
            for y, near in zip(back, (own, own_between), strict=True):
                y[joint.q] += 2 * np.pi * np.round((near[joint.q] - y[joint.q]) / (2 * np.pi))
    return {
        "integrate": one_sign(case.robot, back[0]),
        "interpolate": one_sign(case.robot, back[1]),
        "difference": np.linalg.pinv(case.B) @ pin.difference(case.model, x, later),
    }


def of_dynamics(case: Case, i: int, x: Array, w: Array, b: Array) -> Answers:
    model, data, B, v, tau = case.model, case.model.createData(), case.B, case.v[i], case.tau[i]
    forces = joint_forces(case, i, x)
    M = B.T @ symmetric(pin.crba(model, data, x)) @ B
    bias = B.T @ pin.nonLinearEffects(model, data, x, w)
    pushed = B.T @ pin.rnea(model, data, x, w, 0 * b, forces)
    pin.computeCentroidalMomentumTimeVariation(model, data, x, w, b)
    rate = data.dhg.vector.copy()
    pin.centerOfMass(model, data, x, w)
    velocity = data.vcom[0].copy()
    found = {
        "com": pin.centerOfMass(model, data, x).copy(),
        "com jacobian": pin.jacobianCenterOfMass(model, data, x) @ B,
        "com velocity": velocity,
        "inverse": B.T @ pin.rnea(model, data, x, w, b),
        "inverse with wrenches": B.T @ pin.rnea(model, data, x, w, b, forces),
        "mass matrix": M,
        "mass matrix beside derivatives": M,
        "coriolis matrix": B.T @ pin.computeCoriolisMatrix(model, data, x, w) @ B,
        "gravity": B.T @ pin.computeGeneralizedGravity(model, data, x),
        "bias": bias,
        "kinetic energy": np.array(pin.computeKineticEnergy(model, data, x, w)),
        "potential energy": np.array(pin.computePotentialEnergy(model, data, x)),
        "momentum matrix": pin.computeCentroidalMap(model, data, x) @ B,
        "momentum": pin.computeCentroidalMomentum(model, data, x, w).vector,
        "momentum rate": rate,
        "regressor": B.T @ pin.computeJointTorqueRegressor(model, data, x, w, b)[:, regressor_columns(case)],
        "solve": np.linalg.solve(M, tau),
    }
    pin.computeRNEADerivatives(model, data, x, w, b)
    found["d(inverse)/dq"], found["d(inverse)/dv"] = B.T @ data.dtau_dq @ B, B.T @ data.dtau_dv @ B
    if len(B) == len(v):
        pin.computeABADerivatives(model, data, x, w, B @ tau)
        found["d(forward)/dq"], found["d(forward)/dv"] = B.T @ data.ddq_dq @ B, B.T @ data.ddq_dv @ B
        found["inverse of the mass matrix"] = B.T @ symmetric(data.Minv) @ B
        found["forward"] = B.T @ pin.aba(model, data, x, w, B @ tau)
        found["forward with wrenches"] = B.T @ pin.aba(model, data, x, w, B @ tau, forces)
    else:  # Pinocchio has no forward dynamics with followers: through its inverse dynamics
        M_inverse = np.linalg.inv(M)
        found["forward"], found["inverse of the mass matrix"] = np.linalg.solve(M, tau - bias), M_inverse
        found["forward with wrenches"] = np.linalg.solve(M, tau - pushed)
        pin.computeRNEADerivatives(model, data, x, w, B @ found["forward"])
        found["d(forward)/dq"] = -M_inverse @ B.T @ data.dtau_dq @ B
        found["d(forward)/dv"] = -M_inverse @ B.T @ data.dtau_dv @ B
    return found


def joint_forces(case: Case, i: int, x: Array) -> list[pin.Force]:
    """Move wrenches from the frames, in world axes, to Pinocchio's joints, in theirs."""
    model, data = case.model, case.model.createData()
    pin.framesForwardKinematics(model, data, x)
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    for frame, wrench in zip(case.frames, case.wrench[:, i], strict=True):
        index = model.getFrameId(frame, pin.FrameType.BODY)
        joint, p = model.frames[index].parentJoint, data.oMf[index].translation
        forces[joint] += data.oMi[joint].actInv(pin.Force(wrench[:3], wrench[3:] + np.cross(p, wrench[:3])))
    return forces


def regressor_columns(case: Case) -> list[int]:
    columns = []
    for link in case.robot.parameter_links:
        joint = case.model.frames[case.model.getFrameId(link, pin.FrameType.BODY)].parentJoint
        columns += range(10 * (joint - 1), 10 * joint)
    return columns


def symmetric(upper: Array) -> Array:
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


def disagreements(found: Answers, expected: Answers) -> dict[str, float]:
    """Find the quantities that are farther from Pinocchio's than allowed, with their relative errors."""
    assert found.keys() == expected.keys()
    wrong = {}
    for key, theirs in expected.items():
        assert found[key].shape == theirs.shape, key
        own_scale = np.abs(theirs).max(axis=0)
        scale = np.maximum(own_scale, MIN_RELATIVE_SCALE * own_scale.max(initial=1e-300))
        error = float((np.abs(found[key] - theirs) / scale).max())
        if not error <= (DERIVATIVES if key in DIFFERENTIATED else VALUES):
            wrong[key] = error
    return wrong


def test_a_batch_agrees_with_pinocchio(case: Case, instruction_set: str) -> None:
    assert disagreements(ours(case, slice(None)), case.expected) == {}


def test_one_state_at_a_time_agrees_with_pinocchio(case: Case, instruction_set: str) -> None:
    each = [ours(case, i) for i in range(0, STATES, 4)]
    found = {key: np.stack([answers[key] for answers in each]) for key in each[0]}
    assert disagreements(found, {key: value[::4] for key, value in case.expected.items()}) == {}


def test_the_total_mass_agrees_with_pinocchio(case: Case) -> None:
    assert case.robot.mass == pytest.approx(sum(inertia.mass for inertia in list(case.model.inertias)[1:]), rel=1e-12)


def test_all_frames_but_the_world_are_known_to_pinocchio(case: Case) -> None:
    assert len(case.robot.frame_names) - len(case.common) <= 1


@pytest.mark.parametrize("name", ["panda_description", "tiago_pro", "baxter"])
def test_mimic_joints_agree_with_those_of_pinocchio(name: str) -> None:
    """Where Pinocchio is told of followers, it has as many velocities as kinodyn."""
    robot, _ = load(name, "fixed")
    model = pin.buildModelFromUrdf(str(robot.description.source), True)
    data, converter = model.createData(), kd.convert.pinocchio(robot, model)
    assert model.nv == robot.nv
    q = robot.random(20, seed=3)
    B = converter.v_to(q[0], np.eye(robot.nv)).T
    v, a = np.random.default_rng(4).normal(size=(2, 20, robot.nv))
    expected: dict[str, list[Array]] = {"inverse": [], "bias": [], "gravity": [], "mass matrix": [], "com": []}
    for i, x in enumerate(converter.q_to(q)):
        expected["inverse"].append(B.T @ pin.rnea(model, data, x, B @ v[i], B @ a[i]))
        expected["bias"].append(B.T @ pin.nonLinearEffects(model, data, x, B @ v[i]))
        expected["gravity"].append(B.T @ pin.rnea(model, data, x, 0 * v[i], 0 * v[i]))
        expected["mass matrix"].append(B.T @ symmetric(pin.crba(model, data, x)) @ B)
        expected["com"].append(pin.centerOfMass(model, data, x).copy())
    found = {
        "inverse": kd.dynamics.inverse(robot, q, v, a),
        "bias": kd.dynamics.bias(robot, q, v),
        "gravity": kd.dynamics.gravity(robot, q),
        "mass matrix": kd.dynamics.mass_matrix(robot, q),
        "com": kd.kinematics.com(robot, q),
    }
    assert disagreements(found, {key: np.stack(value) for key, value in expected.items()}) == {}
