"""Actuation: virtual work, power, finite differences, and a whole mechanism of cranks and rods closed by loops."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.solids import box, cylinder
from kinodyn.description.types import Description, Frame, Joint, Link
from kinodyn.dynamics.actuation import BetweenLinks, CrankAnkle, Piston, PistonAnkle, TorqueMotor
from kinodyn.errors import InputError, SingularError, UnknownNameError
from kinodyn.model.robot import Robot

MOTORS = np.array([[-0.01, 0.05, 0.28], [-0.01, -0.05, 0.18]])
MOTOR_AXES = np.array([[0.0, 1.0, 0.1], [0.0, 1.0, -0.1]])
CRANK_ENDS = np.array([[-0.06, 0.055, 0.285], [-0.06, -0.055, 0.175]])
FOOT_POINTS = np.array([[-0.055, 0.045, -0.01], [-0.055, -0.045, -0.01]])
OFFSET = np.array([0.01, 0.0, -0.02])
JOINTS = ("pitch", "roll")

ANKLES = {
    "cranks": CrankAnkle(MOTORS, MOTOR_AXES, CRANK_ENDS, FOOT_POINTS, offset=OFFSET, joints=JOINTS),
    "pistons": PistonAnkle(CRANK_ENDS, FOOT_POINTS, offset=OFFSET, joints=JOINTS),
}
Ankle = CrankAnkle | PistonAnkle


@pytest.fixture(params=list(ANKLES))
def ankle(request: pytest.FixtureRequest) -> Ankle:
    return ANKLES[request.param]


def angles(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return rng.uniform(-0.4, 0.4, size=(n, 2)), rng.normal(size=(n, 2))


# Selection


def test_the_selection_matrix_maps_motors_to_their_joints() -> None:
    robot = kd.load("humanoid")
    S = kd.actuation.selection(robot, passive=["left_knee", "head_roll"])
    assert S.shape == (robot.nv - 6 - 2, robot.nv)
    np.testing.assert_array_equal(S @ S.T, np.eye(len(S)))
    tau = S.T @ np.arange(1.0, len(S) + 1)
    assert (tau[:6] == 0).all() and tau[robot.joint("left_knee").v] == 0
    driven = [name for name in robot.joint_names if name not in ("left_knee", "head_roll")]
    np.testing.assert_array_equal([tau[robot.joint(name).v][0] for name in driven], np.arange(1.0, len(S) + 1))


def test_the_matrix_of_all_motors_is_the_selection_matrix() -> None:
    robot = kd.load("humanoid")
    B = kd.actuation.matrix(robot, robot.random(3), robot.joint_names)
    np.testing.assert_array_equal(B, np.broadcast_to(kd.actuation.selection(robot), B.shape))


# Between two links


def between(kind: str) -> BetweenLinks | Piston | TorqueMotor:
    a, b = "torso", "left_forearm"
    if kind == "piston":
        return Piston(a, b, point_a=(0.1, 0.2, 0.3), point_b=(0.02, -0.03, -0.1))
    if kind == "motor":
        return TorqueMotor(a, b, axis=(1.0, 2.0, -1.0))
    places = kd.spatial.exp(np.random.default_rng(5).normal(size=(2, 6)))
    return BetweenLinks(a, b, T_a=places[0], T_b=places[1])


@pytest.mark.parametrize("kind", ["piston", "motor", "wrench"])
def test_generalised_forces_are_those_of_the_wrenches_on_both_links(kind: str) -> None:
    robot, actuator = kd.load("humanoid"), between(kind)
    rng = np.random.default_rng(1)
    q, v = robot.random(6, seed=1).reshape(3, 2, -1), rng.normal(size=(2, robot.nv))
    effort = rng.normal(size=(3, 2, 6) if kind == "wrench" else (3, 2))
    wrenches = actuator.wrenches(robot, q, effort)
    still = np.zeros(robot.nv)
    through = kd.dynamics.inverse(robot, q, v, still) - kd.dynamics.inverse(robot, q, v, still, wrenches)
    tau = actuator.generalised_forces(robot, q, effort)
    np.testing.assert_allclose(tau, through, rtol=0, atol=1e-11 * np.abs(effort).max())
    power = np.sum(tau * v, axis=-1)
    rate = actuator.rate(robot, q, v)
    np.testing.assert_allclose(power, np.sum(rate * effort, axis=-1) if kind == "wrench" else rate * effort, atol=1e-11)
    # inner forces leave the momentum of the whole robot alone
    np.testing.assert_allclose(tau[..., :6], 0.0, atol=1e-11 * np.abs(effort).max())


def test_the_rate_of_a_piston_is_the_derivative_of_its_length() -> None:
    robot, piston = kd.load("humanoid"), between("piston")
    assert isinstance(piston, Piston)
    q, v = robot.random(5, seed=2), np.random.default_rng(2).normal(size=(5, robot.nv))
    step = 1e-6
    later, before = (piston.length(robot, robot.integrate(q, sign * step * v)) for sign in (1, -1))
    np.testing.assert_allclose(piston.rate(robot, q, v), (later - before) / (2 * step), atol=1e-8)


def test_a_torque_motor_along_a_joint_is_the_motor_of_that_joint() -> None:
    robot = kd.load("panda")
    joint = robot.joints[3]
    own = next(one for one in robot.description.joints if one.name == joint.name)
    axis = own.T_parent_child[:3, :3] @ own.axis
    rows = kd.actuation.matrix(robot, robot.random(4), [TorqueMotor(joint.parent, joint.child, axis)])
    np.testing.assert_allclose(rows[..., 0, :], np.broadcast_to(np.eye(robot.nv)[joint.v], (4, robot.nv)), atol=1e-12)


# Transmissions


def test_a_differential_adds_and_subtracts_and_keeps_the_power() -> None:
    pair = kd.actuation.differential(10.0)
    q, rate = angles(7)
    tau = np.random.default_rng(3).normal(size=(7, 2))
    np.testing.assert_allclose(pair.motor_positions(q), 10 * np.stack([q.sum(axis=-1), q[:, 0] - q[:, 1]], axis=-1))
    np.testing.assert_allclose(pair.joint_positions(pair.motor_positions(q)), q, atol=1e-14)
    assert_power_is_kept(pair, q, rate, tau)
    np.testing.assert_allclose(pair.reflected_inertia(q[0], [1e-4, 1e-4]), 0.02 * np.eye(2), atol=1e-15)


def assert_power_is_kept(coupling: kd.actuation.Coupling, q: Array, rate: Array, motor_torque: Array) -> None:
    motors, joints = coupling.motor_velocity(q, rate), coupling.joint_torque(q, motor_torque)
    np.testing.assert_allclose((motors * motor_torque).sum(axis=-1), (rate * joints).sum(axis=-1), rtol=1e-11)
    np.testing.assert_allclose(coupling.joint_velocity(q, motors), rate, atol=1e-11)
    np.testing.assert_allclose(coupling.motor_torque(q, joints), motor_torque, atol=1e-11)


def test_redundant_motors_make_the_torques_with_the_least_effort() -> None:
    three = kd.actuation.Transmission([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    tau = np.array([2.0, -1.0])
    motors = three.motor_torque([0.0, 0.0], tau)
    np.testing.assert_allclose(three.joint_torque([0.0, 0.0], motors), tau, atol=1e-14)
    np.testing.assert_allclose(motors @ [1.0, 1.0, -1.0], 0.0, atol=1e-14)  # nothing in what only strains the gears


# Parallel ankle


def test_power_at_the_motors_is_power_at_the_ankle(ankle: Ankle) -> None:
    q, rate = angles(50)
    assert_power_is_kept(ankle, q, rate, np.random.default_rng(4).normal(size=(50, 2)))


def test_motor_rates_and_accelerations_are_derivatives_of_motor_positions(ankle: Ankle) -> None:
    q, rate = angles(50)
    bend = np.random.default_rng(6).normal(size=(50, 2))
    h = 1e-4
    before, here, after = (ankle.motor_positions(q + t * rate + 0.5 * t * t * bend).values for t in (-h, 0.0, h))
    np.testing.assert_allclose(ankle.motor_velocity(q, rate), (after - before) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(ankle.motor_acceleration(q, rate, bend), (after - 2 * here + before) / h**2, atol=1e-4)


def test_motor_positions_close_the_legs_and_convert_back_to_joint_positions(ankle: Ankle) -> None:
    q = angles(60)[0].reshape(3, 20, 2)
    there = ankle.motor_positions(q)
    assert there.success.all() and there.success.shape == (3, 20)
    assert there.residual.max() < 1e-14
    back = ankle.joint_positions(there.values)
    assert back.success.all()
    np.testing.assert_allclose(back.values, q, atol=1e-11)
    alone = ankle.joint_positions(there.values[1, 3])
    np.testing.assert_allclose(alone.values, back.values[1, 3], rtol=0, atol=1e-14)
    zero = [0.0, 0.0] if isinstance(ankle, CrankAnkle) else LENGTHS
    np.testing.assert_allclose(ankle.motor_positions([0.0, 0.0]).values, zero, rtol=0, atol=1e-14)


LENGTHS = np.linalg.norm(FOOT_POINTS + OFFSET - CRANK_ENDS, axis=-1)


def test_unreachable_angles_and_those_beyond_a_singularity_are_reported() -> None:
    ankle = ANKLES["cranks"]
    far = ankle.motor_positions([[2.0, 0.0], [0.0, 3.0], [0.1, 0.1]])
    assert far.status.tolist() == ["unreachable", "other assembly", "solved"]
    assert np.isnan(far.values[0]).all() and far.residual[0] > 1e-3
    with pytest.raises(InputError, match="out of the mechanism's reach"):
        ankle.jacobian([[0.0, 0.0], [2.0, 0.0]])
    stuck = ANKLES["pistons"].joint_positions([[0.1, 2.0], *LENGTHS[None]])
    assert stuck.status.tolist() == ["not converged", "solved"]
    assert np.isnan(stuck.values[0]).all() and stuck.residual[0] > 0.1


def test_a_rod_in_line_with_its_crank_is_a_dead_centre() -> None:
    """In the plane: a crank of 0.03 and a rod to a lever of 0.05, stretched when its end is both lengths away."""
    flat = CrankAnkle(
        motors=[[0.0, 0.05, 0.25], [0.0, -0.05, 0.25]],
        motor_axes=[[0, 1, 0], [0, 1, 0]],
        crank_ends=[[-0.03, 0.05, 0.25], [-0.03, -0.05, 0.25]],
        foot_points=[[-0.05, 0.05, 0.0], [-0.05, -0.05, 0.0]],
    )
    # the foot's end at pitch t is at (-0.05 cos t, 0.05 sin t), the motor at (0, 0.25)
    reach = 0.03 + np.hypot(0.02, 0.25)
    dead = float(np.arcsin((0.05**2 + 0.25**2 - reach**2) / (2 * 0.05 * 0.25)))
    before, near = (flat.singularity([dead + gap, 0.0]).motors for gap in (1e-2, 1e-4))
    assert (np.abs(near) < 0.2 * np.abs(before)).all() and (np.abs(near) < 0.02).all()
    assert flat.motor_positions([dead - 1e-6, 0.0]).status == "unreachable"
    assert np.abs(flat.jacobian([dead + 1e-8, 0.0])[0, 0]) > 1e3


def test_at_a_singularity_the_ankle_torques_cannot_be_produced() -> None:
    ankle = ANKLES["pistons"]
    low, high = 0.0, 3.0
    assert ankle.singularity([0.0, low]).foot * ankle.singularity([0.0, high]).foot < 0
    for _ in range(60):
        middle = 0.5 * (low + high)
        same = ankle.singularity([0.0, middle]).foot * ankle.singularity([0.0, 0.0]).foot > 0
        low, high = (middle, high) if same else (low, middle)
    statuses = ankle.motor_positions([[0.0, low - 1e-3], [0.0, high + 1e-3]]).status
    assert statuses.tolist() == ["solved", "other assembly"]
    with pytest.raises(SingularError, match="do not move all 2 joints"):
        ankle.motor_torque([0.0, low], [1.0, 1.0])
    with pytest.raises(SingularError, match="do not move all 2 joints"):
        ankle.joint_velocity([0.0, low], [1.0, 1.0])
    # a motion of the foot that the pistons do not feel
    G = ankle.jacobian([0.0, low])
    loose = np.linalg.svd(G)[2][1]
    np.testing.assert_allclose(G @ loose, 0.0, atol=1e-9)


def mechanism() -> tuple[Robot, list[kd.contact.Loop]]:
    """A shank in the world, the foot on two axes, cranks with motors, rods on ball joints; loops close at the foot."""
    unit = MOTOR_AXES / np.linalg.norm(MOTOR_AXES, axis=-1, keepdims=True)
    links = [Link("shank"), Link("middle", box(0.1, (0.03, 0.03, 0.03))), Link("foot", box(1.0, (0.2, 0.1, 0.05)))]
    joints = [
        Joint("pitch", "revolute", "shank", "middle", np.eye(4), np.array([0.0, 1.0, 0.0])),
        Joint("roll", "revolute", "middle", "foot", kd.spatial.pose(OFFSET), np.array([1.0, 0.0, 0.0])),
    ]
    frames = []
    for k in range(2):
        crank, rod = CRANK_ENDS[k] - MOTORS[k], FOOT_POINTS[k] + OFFSET - CRANK_ENDS[k]
        links.append(Link(f"crank{k}", box(0.2, (0.05, 0.01, 0.01), com=0.5 * crank)))
        links.append(Link(f"rod{k}", cylinder(0.3, 0.005, 0.2, com=0.5 * rod)))
        joints.append(Joint(f"motor{k}", "revolute", "shank", f"crank{k}", kd.spatial.pose(MOTORS[k]), unit[k]))
        joints.append(Joint(f"ball{k}", "ball", f"crank{k}", f"rod{k}", kd.spatial.pose(crank)))
        frames.append(Frame(f"end{k}", f"rod{k}", kd.spatial.pose(rod)))
        frames.append(Frame(f"hold{k}", "foot", kd.spatial.pose(FOOT_POINTS[k])))
    robot = Robot(Description("ankle", tuple(links), tuple(joints), tuple(frames)))
    return robot, [kd.contact.Loop(f"hold{k}", f"end{k}", directions="x y z") for k in range(2)]


def closed(robot: Robot, ankle: CrankAnkle, joints: Array) -> Array:
    """Configuration of the mechanism at angles of the ankle: motors as the ankle says, rods turned to the foot."""
    q = robot.neutral()
    motors = ankle.motor_positions(joints).values
    for name, value in zip((*JOINTS, "motor0", "motor1"), (*joints, *motors), strict=True):
        q[robot.joint(name).q] = value
    for k in range(2):
        rod, wanted = (
            np.linalg.inv(kd.kinematics.pose(robot, q, f"crank{k}"))[:3, :3]
            @ (kd.kinematics.pose(robot, q, end)[:3, 3] - kd.kinematics.pose(robot, q, f"rod{k}")[:3, 3])
            for end in (f"end{k}", f"hold{k}")
        )
        axis = np.cross(rod, wanted)
        turn = np.arctan2(np.linalg.norm(axis), rod @ wanted) * axis / max(np.linalg.norm(axis), 1e-12)
        q[robot.joint(f"ball{k}").q] = kd.spatial.as_quaternion(kd.spatial.exp3(turn))
    return q


def motion(robot: Robot, loops: list[kd.contact.Loop], q: Array) -> Array:
    """Velocities (nv, 2) of the whole mechanism, rods not spinning about themselves, at unit rates of the joints."""
    J = kd.contact.jacobian(robot, q, loops)
    own = [robot.joint(name).v.start for name in JOINTS]
    rest = [k for k in range(robot.nv) if k not in own]
    N = np.zeros((robot.nv, 2))
    N[own] = np.eye(2)
    N[rest] = -np.linalg.pinv(J[:, rest], rcond=1e-10) @ J[:, own]
    np.testing.assert_allclose(J @ N, 0.0, atol=1e-12)
    return N


def test_the_mechanism_of_cranks_and_rods_agrees_with_the_transmission() -> None:
    ankle, (robot, loops) = ANKLES["cranks"], mechanism()
    motors = [robot.joint(f"motor{k}").v.start for k in range(2)]
    own = [robot.joint(name).v.start for name in JOINTS]
    rng = np.random.default_rng(7)
    for joints, rate in zip(*angles(10), strict=True):
        q = closed(robot, ankle, joints)
        for k in range(2):  # the loops are closed where the ankle says that they are
            gap = kd.kinematics.pose(robot, q, f"end{k}") - kd.kinematics.pose(robot, q, f"hold{k}")
            np.testing.assert_allclose(gap[:3, 3], 0.0, atol=1e-12)
        N = motion(robot, loops, q)
        np.testing.assert_allclose(N[motors], ankle.jacobian(joints), rtol=0, atol=1e-10)
        v = N @ rate
        # motors on the cranks, or the torques that they map to on the ankle's own axes: the same accelerations
        torque = rng.normal(size=2)
        driven, mapped = np.zeros((2, robot.nv))
        driven[motors], mapped[own] = torque, ankle.joint_torque(joints, torque)
        a, _ = kd.contact.dynamics(robot, q, v, driven, loops)
        same, _ = kd.contact.dynamics(robot, q, v, mapped, loops)
        np.testing.assert_allclose(a, same, rtol=0, atol=1e-8 * np.abs(a).max())
        expected = ankle.motor_acceleration(joints, rate, a[own])
        np.testing.assert_allclose(a[motors], expected, rtol=0, atol=1e-8 * np.abs(a).max())


def test_a_mechanism_with_massless_rods_accelerates_as_the_robot_without_it() -> None:
    """Rods as pure distances, which a loop along the rod keeps at rest; the cranks' inertia is reflected."""
    ankle, (robot, _) = ANKLES["cranks"], mechanism()
    description = robot.description
    kept = [one for one in description.joints if one.kind != "ball"]
    links = tuple(link for link in description.links if not link.name.startswith("rod"))
    frames = tuple(frame for frame in description.frames if not frame.name.startswith("end"))
    full = Robot(Description("cranks", links, tuple(kept), frames, gravity=(0.0, 0.0, 0.0)))
    bare = Robot(Description("foot", links[:3], tuple(kept[:2]), frames, gravity=(0.0, 0.0, 0.0)))
    rng = np.random.default_rng(8)
    rotors = np.diag(kd.dynamics.mass_matrix(full, full.neutral()))[[full.joint(f"motor{k}").v.start for k in range(2)]]
    for joints in angles(10)[0]:
        motors = ankle.motor_positions(joints).values
        q = np.zeros(4)
        for name, value in zip((*JOINTS, "motor0", "motor1"), (*joints, *motors), strict=True):
            q[full.joint(name).q] = value
        loops = []
        for k in range(2):
            T_crank = kd.kinematics.pose(full, q, f"crank{k}")
            end = T_crank[:3, :3] @ (CRANK_ENDS[k] - MOTORS[k]) + T_crank[:3, 3]
            along = kd.kinematics.pose(full, q, f"hold{k}")[:3, 3] - end
            x = T_crank[:3, :3].T @ along / np.linalg.norm(along)
            y = np.cross([0.3, -0.5, 0.1], x) / np.linalg.norm(np.cross([0.3, -0.5, 0.1], x))
            T_other = kd.spatial.pose(CRANK_ENDS[k] - MOTORS[k], np.stack([x, y, np.cross(x, y)], axis=-1))
            loops.append(kd.contact.Loop(f"hold{k}", f"crank{k}", T_other=T_other, directions="x"))
        torque = rng.normal(size=2)
        tau = np.zeros(4)
        for k in range(2):
            tau[full.joint(f"motor{k}").v] = torque[k]
        a, _ = kd.contact.dynamics(full, q, np.zeros(4), tau, loops)
        M = kd.dynamics.mass_matrix(bare, joints) + ankle.reflected_inertia(joints, rotors)
        expected = np.linalg.solve(M, ankle.joint_torque(joints, torque))
        got = [a[full.joint(name).v][0] for name in JOINTS]
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_an_ankle_is_part_of_the_actuation_matrix() -> None:
    robot = kd.load("humanoid")
    names = ("left_ankle_pitch", "left_ankle_roll")
    ankle = CrankAnkle(MOTORS, MOTOR_AXES, CRANK_ENDS, FOOT_POINTS, joints=names)
    q = np.array(np.broadcast_to(robot.configuration("standing"), (4, robot.nq)))
    places = [robot.joint(name).q.start for name in names]
    q[:, places] = angles(4)[0]
    B = kd.actuation.matrix(robot, q, ["left_knee", ankle])
    assert B.shape == (4, 3, robot.nv)
    u = np.random.default_rng(9).normal(size=(4, 3))
    tau = np.einsum("...ij,...i->...j", B, u)
    own = [robot.joint(name).v.start for name in names]
    np.testing.assert_allclose(tau[:, own], ankle.joint_torque(q[:, places], u[:, 1:]))
    np.testing.assert_array_equal(tau[:, robot.joint("left_knee").v.start], u[:, 0])


# Bad input


def test_errors_explain_invalid_actuators() -> None:
    robot = kd.load("humanoid")
    q = robot.neutral()
    with pytest.raises(UnknownNameError, match="left_knee"):
        kd.actuation.selection(robot, passive=["left_nee"])
    with pytest.raises(InputError, match="twice"):
        Piston("torso", "torso")
    with pytest.raises(UnknownNameError, match="frame"):
        Piston("torso", "left_forearms").rows(robot, q)
    with pytest.raises(SingularError, match="coincide"):
        Piston("left_foot", "left_sole", point_a=(0.0646, 0.0, -0.0663)).rows(robot, q)
    with pytest.raises(InputError, match="axis"):
        TorqueMotor("torso", "left_hand", axis=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="effort"):
        Piston("torso", "left_hand").generalised_forces(robot, q, np.nan)
    with pytest.raises(InputError, match="actuators"):
        kd.actuation.matrix(robot, q, [])
    with pytest.raises(InputError, match="rows"):
        kd.actuation.matrix(robot, q, [3])  # type: ignore[list-item]
    with pytest.raises(InputError, match="joints="):
        kd.actuation.gears([2.0]).rows(robot, q)
    with pytest.raises(InputError, match="one coordinate"):
        kd.actuation.gears([2.0], joints=["ball0"]).rows(mechanism()[0], mechanism()[0].neutral())


def test_errors_explain_invalid_transmissions() -> None:
    with pytest.raises(InputError, match="full rank"):
        kd.actuation.Transmission([[1.0, 1.0], [2.0, 2.0]])
    with pytest.raises(InputError, match="at least as many motors"):
        kd.actuation.Transmission([[1.0, 1.0]])
    with pytest.raises(InputError, match="ratio"):
        kd.actuation.differential(0.0)
    with pytest.raises(InputError, match="2 joint names"):
        kd.actuation.differential(1.0, joints=["left_knee"])
    with pytest.raises(InputError, match="foot_points"):
        CrankAnkle(MOTORS, MOTOR_AXES, CRANK_ENDS, FOOT_POINTS[0])
    with pytest.raises(InputError, match="singular at its zero"):
        CrankAnkle(MOTORS, MOTOR_AXES, CRANK_ENDS, 2 * CRANK_ENDS - MOTORS)
    with pytest.raises(InputError, match="no length"):
        CrankAnkle(MOTORS, MOTOR_AXES, MOTORS, FOOT_POINTS)
    with pytest.raises(InputError, match=r"q must be finite numbers, at most 1e\+60"):
        ANKLES["cranks"].motor_positions([np.nan, 0.0])
    with pytest.raises(InputError, match=r"motors must have shape \(..., 2\)"):
        ANKLES["cranks"].joint_positions([0.0, 0.0, 0.0])
