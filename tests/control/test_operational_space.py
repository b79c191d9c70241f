"""Operational space: a frame on its own, decoupled from its other directions and from the null space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control import Gains, OperationalSpaceControl, TaskSpaceControl, operational_space
from kinodyn.kinematics.singularities import part_rows

LAWS = [OperationalSpaceControl, TaskSpaceControl]
FREE = {"integrator": "rk4", "stops": None, "friction": False, "clip": False}


def frame_acceleration(robot: kd.Robot, q: object, v: object, tau: object, frame: str, part: str) -> np.ndarray:
    """Compute how the controlled rows of a frame accelerate under torques."""
    a = kd.dynamics.forward(robot, q, v, tau)
    return kd.kinematics.acceleration(robot, q, v, a, frame)[..., part_rows(part)]


def test_a_force_along_one_axis_accelerates_that_axis_only(arm: tuple) -> None:
    robot, q, frame, part = arm
    v = np.linspace(-0.5, 0.5, robot.nv)
    space = operational_space(robot, q, v, frame, part=part)
    assert not space.damped
    for axis in np.eye(len(space.p)):
        tau = space.J.T @ (space.Lambda @ axis + space.mu + space.p)
        got = frame_acceleration(robot, q, v, tau, frame, part)
        np.testing.assert_allclose(got, axis, atol=1e-9)


def test_torques_in_the_null_space_do_not_move_the_frame(arm: tuple) -> None:
    robot, q, frame, part = arm
    v = np.linspace(-0.5, 0.5, robot.nv)
    space = operational_space(robot, q, v, frame, part=part)
    base = space.J.T @ (space.mu + space.p)
    for tau0 in 10.0 * np.eye(robot.nv):
        got = frame_acceleration(robot, q, v, base + space.N.T @ tau0, frame, part)
        np.testing.assert_allclose(got, 0.0, atol=1e-9)


def test_the_quantities_obey_their_definitions_over_batches(arm: tuple) -> None:
    robot, _, frame, part = arm
    q = robot.random((3, 20), seed=1)
    v = np.random.default_rng(0).normal(size=(20, robot.nv))
    space = operational_space(robot, q, v, frame, part=part, max_mass=1e12)
    good = ~space.damped & (np.linalg.cond(space.Lambda) < 1e6)
    assert good.mean() > 0.5
    M = kd.dynamics.mass_matrix(robot, q)
    inverse = space.J @ np.linalg.solve(M, np.swapaxes(space.J, -1, -2))
    one = np.eye(space.p.shape[-1])
    np.testing.assert_allclose((space.Lambda @ inverse)[good], np.broadcast_to(one, inverse.shape)[good], atol=1e-6)
    np.testing.assert_allclose((space.J @ space.Jbar)[good], np.broadcast_to(one, inverse.shape)[good], atol=1e-6)
    np.testing.assert_allclose((space.N @ space.N - space.N)[good], 0.0, atol=1e-6)
    single = operational_space(robot, q[1, 4], v[4], frame, part=part, max_mass=1e12)
    for name, value in single._asdict().items():
        scale = np.abs(value).max() + 1.0
        np.testing.assert_allclose(getattr(space, name)[1, 4] / scale, value / scale, atol=1e-8)


def test_gravity_of_a_frame_is_the_force_that_balances_it(arm: tuple) -> None:
    robot, q, frame, part = arm
    space = operational_space(robot, q, np.zeros(robot.nv), frame, part=part)
    np.testing.assert_allclose(space.mu, 0.0, atol=1e-9)
    np.testing.assert_allclose(space.Jbar.T @ kd.dynamics.gravity(robot, q), space.p, atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_the_frame_acceleration_follows_the_error_dynamics(arm: tuple, law: type) -> None:
    robot, q, frame, part = arm
    v = np.linspace(-0.5, 0.5, robot.nv)
    T = kd.kinematics.pose(robot, q + 0.1, frame)
    gains = Gains.from_frequency(5.0, damping_ratio=0.6)
    controller = law(robot, frame, T, gains, part=part, posture=q - 0.3, torque_limits=np.inf)
    tau = controller(0.0, kd.State(robot, q, v))
    signals = controller.signals
    desired = 25.0 * signals["error"] + 6.0 * signals["error_rate"]
    assert not signals["damped"]
    np.testing.assert_allclose(frame_acceleration(robot, q, v, tau, frame, part), desired, atol=1e-9)


def test_torques_of_the_core_are_those_of_the_textbook_formula(arm: tuple) -> None:
    robot, q, frame, part = arm
    v = np.linspace(-0.5, 0.5, robot.nv)
    T = kd.kinematics.pose(robot, q + 0.1, frame)
    posture = q - 0.3
    controller = OperationalSpaceControl(
        robot, frame, T, Gains(25.0, 6.0), part=part, posture=posture, posture_gains=Gains(9.0, 2.0)
    )
    controller(0.0, kd.State(robot, q, v))
    space = operational_space(robot, q, v, frame, part=part)
    y = 25.0 * controller.signals["error"] + 6.0 * controller.signals["error_rate"]
    a0 = 9.0 * (posture - q) - 2.0 * v
    tau0 = kd.dynamics.inverse(robot, q, v, a0)
    expected = space.J.T @ (space.Lambda @ y + space.mu + space.p) + space.N.T @ tau0
    np.testing.assert_allclose(controller.signals["tau_desired"], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("max_mass", [100.0, 1.0, 0.01])
def test_the_core_damps_singularities_like_the_textbook_formula(load: Callable, max_mass: float) -> None:
    robot, bent = load("panda")
    q = np.array([0.0, 1e-4, 0.02, 1.0])[:, None] * bent  # stretched, then less and less
    v = np.random.default_rng(0).normal(size=(4, 7))
    frame, T = "panda_hand_tcp", kd.kinematics.pose(robot, q + 0.1, "panda_hand_tcp")
    controller = OperationalSpaceControl(robot, frame, T, Gains(25.0, 6.0), max_mass=max_mass, torque_limits=np.inf)
    space = operational_space(robot, q, v, frame, max_mass=max_mass)
    tau = controller(0.0, kd.State(robot, q, v))
    np.testing.assert_array_equal(controller.signals["damped"], space.damped)
    assert space.damped[0]
    y = 25.0 * controller.signals["error"] + 6.0 * controller.signals["error_rate"]
    tau0 = kd.dynamics.inverse(robot, q, v, -controller.posture.damping * v)
    force = np.einsum("...ij,...j->...i", space.Lambda, y) + space.mu + space.p
    expected = np.einsum("...ji,...j->...i", space.J, force) + np.einsum("...ji,...j->...i", space.N, tau0)
    np.testing.assert_allclose(tau, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("min_singular_value", [0.01, 0.1, 1.0])
def test_joint_accelerations_are_those_of_the_damped_pseudo_inverse(load: Callable, min_singular_value: float) -> None:
    robot, q = load("panda")
    v = np.linspace(-0.5, 0.5, 7)
    frame, scale = "panda_hand_tcp", np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])  # a radian counts as 0.1 m
    for place in (q, 1e-3 + np.zeros(7)):
        T = kd.kinematics.pose(robot, place + 0.1, frame)
        controller = TaskSpaceControl(
            robot, frame, T, Gains(25.0, 6.0), min_singular_value=min_singular_value, torque_limits=np.inf
        )
        tau = controller(0.0, kd.State(robot, place, v))
        U, values, Vt = np.linalg.svd(scale[:, None] * kd.kinematics.jacobian(robot, place, frame))
        small = values < min_singular_value
        assert controller.signals["damped"] == small.any()
        kept = np.where(small, values**3 / min_singular_value**4, 1.0 / values)
        y = 25.0 * controller.signals["error"] + 6.0 * controller.signals["error_rate"]
        a0 = -controller.posture.damping * v
        missing = y - kd.kinematics.acceleration(robot, place, v, a0, frame)
        a = a0 + Vt[:6].T @ (kept * (U.T @ (scale * missing)))
        np.testing.assert_allclose(tau, kd.dynamics.inverse(robot, place, v, a), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 3.1, np.pi - 1e-7])
def test_the_error_is_right_at_any_rotation_angle(load: Callable, angle: float) -> None:
    robot, q = load("ur5")
    here, axis = kd.kinematics.pose(robot, q, "wrist_3_link"), np.array([2.0, -1.0, 2.0]) / 3.0
    target = here.copy()
    target[:3, :3] = kd.spatial.exp3(angle * axis) @ here[:3, :3]
    target[:3, 3] += [0.1, -0.2, 0.3]
    controller = OperationalSpaceControl(robot, "wrist_3_link", target, Gains(25.0, 6.0))
    controller(0.0, kd.State(robot, q))
    np.testing.assert_allclose(controller.signals["error"], [0.1, -0.2, 0.3, *(angle * axis)], atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_a_batch_agrees_with_single_states(arm: tuple, law: type) -> None:
    robot, q, frame, part = arm
    qs = q + np.random.default_rng(0).uniform(-0.1, 0.1, size=(2, 3, robot.nv))
    vs = np.random.default_rng(1).normal(size=(2, 3, robot.nv))
    T = kd.kinematics.pose(robot, qs[::-1, ::-1], frame)
    gains = Gains.from_frequency(5.0)
    both = law(robot, frame, T, gains, part=part, posture=q)(0.0, kd.State(robot, qs, vs))
    for i in np.ndindex(2, 3):
        one = law(robot, frame, T[i], gains, part=part, posture=q)(0.0, kd.State(robot, qs[i], vs[i]))
        np.testing.assert_allclose(both[i], one, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("law", LAWS)
def test_the_hand_reaches_its_pose_and_the_elbow_its_posture(law: type, load: Callable) -> None:
    robot, q = load("panda")
    T = kd.kinematics.pose(robot, q, "panda_hand_tcp").copy()
    T[:3, 3] += [0.1, 0.1, -0.1]
    T[:3, :3] = T[:3, :3] @ kd.spatial.rot_y(0.3)
    final = []
    for elbow in (0.4, -0.4):
        controller = law(robot, "panda_hand_tcp", T, Gains.from_frequency(10.0), posture=q + elbow * np.eye(7)[2])
        recording = kd.sim.simulate(robot, controller, 4.0, q0=q, control_dt=2e-3, friction=False)
        assert np.abs(recording.signals["error"][-1]).max() < 1e-6
        final.append(recording.q[-1])
    np.testing.assert_allclose(*(kd.kinematics.pose(robot, q, "panda_hand_tcp") for q in final), atol=1e-5)
    assert final[0][2] - final[1][2] > 0.2


def test_a_robot_in_free_flight_moves_its_hand_in_the_world(load: Callable) -> None:
    robot, q = load("humanoid")
    v = np.random.default_rng(0).normal(size=robot.nv)
    T = kd.kinematics.pose(robot, q, "left_palm").copy()
    T[:3, 3] += [0.1, 0.0, 0.1]
    controller = OperationalSpaceControl(
        robot, "left_palm", T, Gains(25.0, 6.0), posture=robot.integrate(q, 0.1 * v), torque_limits=np.inf
    )
    tau = controller(0.0, kd.State(robot, q, v))
    desired = 25.0 * controller.signals["error"] + 6.0 * controller.signals["error_rate"]
    assert not tau[:6].any()
    np.testing.assert_allclose(frame_acceleration(robot, q, v, tau, "left_palm", "all"), desired, atol=1e-8)
    space = operational_space(robot, q, v, "left_palm")
    assert space.N.shape == (robot.nv - 6, robot.nv - 6)
    a0 = (0.1 * controller.posture.stiffness - controller.posture.damping) * v[6:]
    a = kd.dynamics.forward(robot, q, v, tau)[6:]
    np.testing.assert_allclose(space.N @ (a - a0), 0.0, atol=1e-8)  # the posture acts in the null space
    still = np.r_[np.zeros(6), space.J.T @ (space.mu + space.p)]
    np.testing.assert_allclose(frame_acceleration(robot, q, v, still, "left_palm", "all"), 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("law", "name", "damped", "undamped"),
    [(OperationalSpaceControl, "max_mass", 100.0, 1e9), (TaskSpaceControl, "min_singular_value", 0.03, 1e-6)],
)
def test_an_unreachable_target_stretches_the_arm_and_damping_keeps_it_stable(
    law: type, name: str, damped: float, undamped: float, load: Callable
) -> None:
    robot, _ = load("planar2r")
    stretched = np.array([0.3, 0.0])  # the tip cannot move along the arm
    T = kd.kinematics.pose(robot, stretched, "link2").copy()
    T[:2, 3] *= 1.1
    runs = []
    for threshold in (damped, undamped):
        controller = law(robot, "link2", T, Gains.from_frequency(10.0), part="x y", **{name: threshold})
        runs.append(kd.sim.simulate(robot, controller, 2.5, q0=[0.3, 0.4], integrator="rk4"))
    stable, wild = runs
    assert stable.status == "complete" and stable.signals["damped"][-1]
    np.testing.assert_allclose(stable.q[-1], stretched, atol=0.01)
    assert np.abs(stable.v[-100:]).max() < 0.01
    assert wild.status == "diverged" or np.abs(wild.v).max() > 10 * np.abs(stable.v).max()


def test_the_inertia_of_a_singular_direction_is_bounded(load: Callable) -> None:
    robot, _ = load("planar2r")
    space = operational_space(robot, [[0.3, 0.0], [0.3, 1e-4], [0.3, 0.9]], np.zeros(2), "link2", part="x y")
    assert space.damped.tolist() == [True, True, False]
    assert np.linalg.eigvalsh(space.Lambda).max() <= 100.0 * robot.mass * (1 + 1e-9)


def test_damping_sets_in_without_a_jump(load: Callable) -> None:
    robot, _ = load("planar2r")
    q = np.stack([np.full(2001, 0.3), np.linspace(0.0, 0.4, 2001)], axis=-1)
    space = operational_space(robot, q, np.zeros(2), "link2", part="x y")
    assert space.damped[0] and not space.damped[-1]
    step = np.abs(np.diff(space.Lambda, axis=0)).max()
    assert step < 0.05 * np.abs(space.Lambda).max()


def test_unknown_frames_parts_and_postures_raise(load: Callable) -> None:
    robot, q = load("panda")
    gains = Gains.from_frequency(5.0)
    with pytest.raises(kd.UnknownNameError, match="panda_hand_tcp"):
        OperationalSpaceControl(robot, "panda_hand_tpc", np.eye(4), gains)
    with pytest.raises(kd.UnknownNameError, match="frame"):
        operational_space(robot, q, 0 * q, "no_such_frame")
    with pytest.raises(kd.InputError, match="part"):
        OperationalSpaceControl(robot, "panda_link8", np.eye(4), gains, part="up")
    with pytest.raises(kd.InputError, match="shape"):
        OperationalSpaceControl(robot, "panda_link8", np.eye(4), gains, posture=q[:3])
    with pytest.raises(kd.InputError, match="max_mass"):
        operational_space(robot, q, 0 * q, "panda_link8", max_mass=0.0)
    with pytest.raises(kd.InputError, match="min_singular_value"):
        TaskSpaceControl(robot, "panda_link8", np.eye(4), gains, min_singular_value=-1.0)
    with pytest.raises(kd.InputError, match="damping of part"):
        OperationalSpaceControl(robot, "panda_link8", np.eye(4), Gains(1.0, np.ones(6)), part="linear")


@pytest.mark.parametrize("law", LAWS)
def test_a_posture_that_is_replaced_between_ticks_is_followed(law: type[OperationalSpaceControl]) -> None:
    robot, frame, q = kd.load("panda"), "panda_hand_tcp", np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
    goal, T = q + 0.3 * np.eye(7)[2], kd.kinematics.pose(robot, q, frame)
    state = kd.State(robot, q, np.zeros(7))
    moved, made = (law(robot, frame, T, Gains.from_frequency(10.0), posture=posture) for posture in (q, goal))
    before = moved(0.0, state).copy()
    moved.posture.target = goal
    np.testing.assert_allclose(moved(0.0, state), made(0.0, state), atol=1e-9)
    assert np.abs(moved(0.0, state) - before).max() > 0.1
