"""Draw the figures of the page "Control" that are not drawn by an example: python docs/images/control.py."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import kinodyn as kd
from kinodyn.control import (
    AdaptiveControl,
    CartesianImpedance,
    ComputedTorque,
    Gains,
    JointImpedance,
    Payload,
    PDGravity,
    RobustControl,
)

HERE = Path(__file__).parent
FREE: dict[str, Any] = {"integrator": "rk4", "friction": False}


def save(name: str, panels: list[tuple[str, str, dict[str, tuple[Any, Any]]]], note: str = "time [s]") -> None:
    """Draw panels of title, unit and curves side by side."""
    figure = Figure(figsize=(4.4 * len(panels), 3.4), layout="constrained")
    for axes, (title, unit, curves) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for label, (x, y) in curves.items():
            axes.plot(x, y, label=label)
        axes.set(title=title, xlabel=note, ylabel=unit)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(HERE / name, dpi=80)


def joints() -> None:
    """Compare the joint controllers: step response and tracking."""
    robot = kd.load("ur5")
    q = np.array([0.2, -1.2, 1.4, -1.0, 1.1, 0.3])

    def sine(t: float, order: int = 0) -> Any:
        value = (np.sin(4 * t), 4 * np.cos(4 * t), -16 * np.sin(4 * t))[order]
        return (q if order == 0 else 0.0) + 0.3 * value * np.ones(6)

    gains = Gains.from_frequency(15.0)
    laws = {"PD with gravity": PDGravity, "joint impedance": JointImpedance, "computed torque": ComputedTorque}
    step, follow = {}, {}
    for name, law in laws.items():
        run = kd.sim.simulate(robot, law(robot, q, gains, torque_limits=np.inf), 0.8, q0=q - 0.2, clip=False, **FREE)
        step[name] = (run.time, run.signals["error"][:, 1])
        run = kd.sim.simulate(
            robot, law(robot, sine, gains, torque_limits=np.inf), 2.0, q0=q, v0=sine(0.0, 1), clip=False, **FREE
        )
        follow[name] = (run.time, run.signals["error"][:, 1])
    save("joint_control.png", [("step of 0.2 rad", "[rad]", step), ("tracking a sine of 0.3 rad", "[rad]", follow)])


def impedance() -> None:
    """Push a hand under impedance control, with its own and with a shaped inertia."""
    robot, hand = kd.load("panda"), "panda_hand_tcp"
    q = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
    T = kd.kinematics.pose(robot, q, hand)
    K = [400, 400, 400, 30, 30, 30]
    push = kd.sim.Push(hand, [20.0, 0.0, 0.0], start=0.2, duration=1.5)

    def measured(t: float, state: kd.State) -> Any:
        return np.array([20.0, 0, 0, 0, 0, 0]) if 0.2 <= t < 1.7 else np.zeros(6)

    displacements = {}
    for name, more in {
        "own inertia, ratio 1": {},
        "own inertia, ratio 0.3": {"damping_ratio": 0.3},
        "10 kg, ratio 0.3": {"damping_ratio": 0.3, "inertia": [10, 10, 10, 1, 1, 1], "external": measured},
    }.items():
        run = kd.sim.simulate(
            robot, CartesianImpedance(robot, hand, T, K, posture=q, **more), 3.0, q0=q, pushes=[push], **FREE
        )
        x = kd.kinematics.pose(robot, run.q, hand)[:, 0, 3] - T[0, 3]
        displacements[name] = (run.time, 1e3 * x)
    curves = {
        "static: 20 N / 400 N/m": (run.time, np.where((run.time >= 0.2) & (run.time < 1.7), 50.0, 0.0)),
        **displacements,
    }
    save("cartesian_impedance.png", [("displacement under a push of 20 N along x", "[mm]", curves), *energy()])


def energy() -> list[tuple[str, str, dict[str, tuple[Any, Any]]]]:
    """Show the Lyapunov function when the hand is released 10 cm away."""
    robot, hand = kd.load("panda"), "panda_hand_tcp"
    q = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
    T = kd.kinematics.pose(robot, q, hand).copy()
    T[:3, 3] += [0.1, 0.05, -0.05]
    curves = {}
    for ratio in (0.2, 0.5, 1.0):
        soft = CartesianImpedance(robot, hand, T, [400, 400, 400, 30, 30, 30], damping_ratio=ratio)
        run = kd.sim.simulate(robot, soft, 1.0, q0=q, **FREE)
        curves[f"ratio {ratio:g}"] = (run.time[:-1], run.signals["lyapunov"][:-1])
    return [("Lyapunov function after release", "[J]", curves)]


def payload() -> None:
    """Track a motion with an unknown load of 3 kg."""
    robot = kd.load("panda").replace(armature=0.1)
    q = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
    parameters = robot.inertial_parameters.copy()
    com, mass = np.array([0.02, -0.03, 0.08]), 3.0  # a ball of 5 cm radius
    inertia = 0.4 * mass * 0.05**2 * np.eye(3) + mass * (com @ com * np.eye(3) - np.outer(com, com))
    parameters[-10:] += [mass, *(mass * com), *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
    true = kd.identification.with_parameters(robot, parameters).replace(armature=0.1)

    def sine(t: float, order: int = 0) -> Any:
        value = (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))[order]
        return (q if order == 0 else 0.0) + 0.3 * value * np.ones(7)

    gains, bounds = Gains.from_frequency(8.0), Payload("panda_link7", 3.6, 0.15)
    laws = {
        "PD with gravity": PDGravity(robot, sine, gains),
        "robust": RobustControl(robot, sine, gains, bounds),
        "adaptive": AdaptiveControl(robot, sine, gains, bounds),
    }
    errors = {}
    for name, law in laws.items():
        run = kd.sim.simulate(true, law, 5.0, q0=q, v0=sine(0.0, 1), model=robot, **FREE)
        errors[name] = (run.time, np.abs(run.signals["error"]).max(axis=1))
    estimates = {"mass of the load, estimated": (run.time, run.signals["parameters"][:, 0])}
    estimates["true"] = (run.time, np.full(len(run.time), 3.0))
    small = {name: errors[name] for name in ("robust", "adaptive")}
    panels = [("largest error", "[rad]", errors), ("without PD", "[rad]", small), ("load", "[kg]", estimates)]
    save("wrong_payload.png", panels)


if __name__ == "__main__":
    joints()
    impedance()
    payload()
