"""Lyapunov functions decrease, up to the integration error, which shrinks with the time step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control import (
    AdaptiveControl,
    CartesianImpedance,
    ComputedTorque,
    Gains,
    JointImpedance,
    OperationalSpaceControl,
    Payload,
    PDGravity,
    RobustControl,
    TaskSpaceControl,
)

GAINS = Gains.from_frequency(8.0, damping_ratio=0.4)
FRAMES = {"panda": ("panda_hand_tcp", "all"), "puma560": ("link6", "all"), "scara": ("link4", "x y z rz")}
LINKS = {"panda": "panda_link7", "puma560": "link6", "scara": "link4"}


def distant_pose(robot: kd.Robot, q: np.ndarray, frame: str, part: str) -> np.ndarray:
    """Return a pose of the frame far from the current one."""
    return kd.kinematics.pose(robot, q + 0.25, frame)


def stiffness(part: str) -> np.ndarray:
    """Give a full stiffness matrix for the controlled rows."""
    rows = {"all": [0, 1, 2, 3, 4, 5], "x y z rz": [0, 1, 2, 5]}[part]
    K = np.diag([300.0, 400.0, 500.0, 10.0, 20.0, 30.0])
    K[0, 1] = K[1, 0] = 100.0
    K[3, 4] = K[4, 3] = 5.0
    return K[np.ix_(rows, rows)]


LAWS: dict[str, Callable] = {
    "pd": lambda robot, q, frame, part, motion: PDGravity(robot, q + 0.25, GAINS, torque_limits=np.inf),
    "joint impedance": lambda robot, q, frame, part, motion: JointImpedance(robot, motion, GAINS, torque_limits=np.inf),
    "computed torque": lambda robot, q, frame, part, motion: ComputedTorque(robot, motion, GAINS, torque_limits=np.inf),
    "task space": lambda robot, q, frame, part, motion: TaskSpaceControl(
        robot, frame, distant_pose(robot, q, frame, part), GAINS, part=part, torque_limits=np.inf
    ),
    "operational space": lambda robot, q, frame, part, motion: OperationalSpaceControl(
        robot, frame, distant_pose(robot, q, frame, part), GAINS, part=part, torque_limits=np.inf
    ),
    "cartesian impedance": lambda robot, q, frame, part, motion: CartesianImpedance(
        robot, frame, distant_pose(robot, q, frame, part), stiffness(part), part=part, torque_limits=np.inf
    ),
    "shaped impedance": lambda robot, q, frame, part, motion: CartesianImpedance(
        robot,
        frame,
        distant_pose(robot, q, frame, part),
        stiffness(part),
        inertia=0.01 * stiffness(part),
        external=lambda t, state: np.zeros(6),
        damping_ratio=0.4,
        part=part,
        torque_limits=np.inf,
    ),
}


def run(robot: kd.Robot, controller: object, q: np.ndarray, dt: float, truth: kd.Robot | None = None) -> tuple:
    """Simulate half a second and give V, the sum of its rises, and how its rate misses its differences."""
    recording = kd.sim.simulate(
        truth or robot,
        controller,
        0.5,
        q0=q,
        dt=dt,
        integrator="rk4",
        stops=None,
        friction=False,
        clip=False,
        model=robot,
    )
    assert recording.status == "complete"
    V, rate = recording.signals["lyapunov"][:-1], recording.signals["lyapunov_rate"][:-1]
    steps = np.diff(V)
    miss = np.abs(np.cumsum(steps) - np.cumsum(0.5 * dt * (rate[1:] + rate[:-1]))).max()
    return V, np.maximum(steps, 0.0).sum(), miss


@pytest.mark.parametrize("name", list(FRAMES))
@pytest.mark.parametrize("law", list(LAWS))
def test_the_lyapunov_function_falls_at_the_reported_rate(law: str, name: str, load: Callable, sine: type) -> None:
    robot, q = load(name)
    robot = robot.replace(armature=robot.armature + 0.1)
    misses = []
    for dt in (2e-3, 5e-4):
        controller = LAWS[law](robot, q, *FRAMES[name], sine(q + 0.25, 0.2, 3.0))
        V, rises, miss = run(robot, controller, q, dt)
        assert V[0] > 0 and V[-1] < 0.5 * V[0]
        assert rises <= 2.0 * dt * V[0]
        misses.append(miss / V[0])
    assert misses[1] < 0.01
    assert misses[1] < 0.35 * misses[0] + 1e-9  # four times as many steps, a fourth of the error


@pytest.mark.parametrize("name", list(FRAMES))
def test_adaptation_lowers_energy_plus_parameter_error(name: str, load: Callable, sine: type) -> None:
    robot, q = load(name)
    robot = robot.replace(armature=robot.armature + 0.1)
    parameters = robot.inertial_parameters.copy()
    start = 10 * robot.parameter_links.index(LINKS[name])
    parameters[start : start + 10] += [2.0, 0.02, 0.0, 0.16, 0.02, 0.0, 0.02, 0.0, 0.0, 0.01]
    truth = kd.identification.with_parameters(robot, parameters).replace(armature=robot.armature)
    rises = []
    for dt in (2e-3, 5e-4):
        controller = AdaptiveControl(
            robot,
            sine(q + 0.1, 0.2, 3.0),
            Gains.from_frequency(8.0),
            Payload(LINKS[name], 3.0, 0.2),
            true_robot=truth,
            torque_limits=np.inf,
        )
        V, rise, _ = run(robot, controller, q, dt, truth)
        assert V[-1] < V[0]
        rises.append(rise / V[0])
    assert rises[0] < 0.01 and rises[1] < 0.35 * rises[0] + 1e-9


@pytest.mark.parametrize("name", list(FRAMES))
def test_outside_the_boundary_layer_robust_control_loses_energy_at_the_reported_rate(
    name: str, load: Callable, sine: type
) -> None:
    robot, q = load(name)
    robot = robot.replace(armature=robot.armature + 0.1)
    controller = RobustControl(
        robot,
        sine(q + 0.1, 0.2, 3.0),
        Gains.from_frequency(8.0),
        Payload(LINKS[name], 2.0, 0.15),
        true_robot=robot,
        torque_limits=np.inf,
    )
    recording = kd.sim.simulate(
        robot, controller, 0.5, q0=q, dt=5e-4, integrator="rk4", stops=None, friction=False, clip=False
    )
    V, bound = recording.signals["lyapunov"][:-1], recording.signals["lyapunov_rate"][:-1]
    sliding = recording.signals["sliding"][:-2] > 0
    assert sliding.sum() > 20
    steps = np.diff(V)
    assert (steps <= 5e-4 * bound[:-1] + 2e-3 * V[0]).all()
    far = (np.abs(recording.signals["s"][:-2]) > controller.layer).all(axis=-1)
    assert (steps[far] < 0).all()
