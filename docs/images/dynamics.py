"""Draw the figures of the page "Dynamics": python docs/images/dynamics.py."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scene import HERE

import kinodyn as kd


def parts() -> None:
    """Show the terms of the torques of a motion, and that they add up."""
    robot = kd.load("puma560")
    q0 = robot.configuration("nominal")
    q1 = q0 + [1.2, -0.9, 0.4, 0.5, -0.7, 0.4]
    motion = kd.trajectory.quintic(q0, q1, 0.9, robot=robot)
    time, q, v, a = motion.sample(0.002)
    M, C = kd.dynamics.mass_matrix(robot, q), kd.dynamics.coriolis_matrix(robot, q, v)
    terms = {
        "inertia M a": np.einsum("nij,nj->ni", M, a),
        "Coriolis C v": np.einsum("nij,nj->ni", C, v),
        "damping D v": robot.damping * v,
        "gravity g": kd.dynamics.gravity(robot, q),
    }
    total = kd.dynamics.inverse(robot, q, v, a)
    assert np.allclose(sum(terms.values()), total)
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    for axes, joint in zip(figure.subplots(1, 3), (0, 1, 2), strict=True):
        for name, term in terms.items():
            axes.plot(time, term[:, joint], label=name)
        axes.plot(time, total[:, joint], "k", lw=2.2, label="torque")
        axes.set(title=robot.joint_names[joint], xlabel="time [s]", ylabel="[N m]")
        axes.grid(alpha=0.3)
    figure.axes[0].legend(fontsize=8)
    figure.savefig(HERE / "torque_parts.png", dpi=80, bbox_inches="tight")


def conserved() -> None:
    """Show conservation laws: energy of a falling arm, momentum of a body in free flight."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    arm = kd.load("ur5").replace(damping=0.0)
    q0 = np.array([0.3, -1.0, 0.8, 0.2, 0.5, 0.0])
    run = kd.sim.simulate(arm, None, 1.2, q0=q0, integrator="rk4", friction=False, stops=None)
    kinetic, potential = kd.dynamics.kinetic_energy(arm, run.q, run.v), kd.dynamics.potential_energy(arm, run.q)
    for name, energy in (
        ("kinetic", kinetic),
        ("potential", potential - potential[0]),
        ("sum", kinetic + potential - potential[0]),
    ):
        first.plot(run.time, energy, label=name, lw=2.4 if name == "sum" else 1.5)
    first.set(title="energy of a falling UR5", xlabel="time [s]", ylabel="[J]")
    first.legend(fontsize=8)

    body = kd.load("humanoid").replace(gravity=[0.0, 0.0, 0.0])
    q, v = body.configuration("upright"), np.zeros(body.nv)
    swing = kick(body)
    run = kd.sim.simulate(body, swing, 1.5, q0=q, v0=v, integrator="rk4", stops=None)
    second.plot(run.time, np.degrees(run.q[:, body.joint("left_hip_pitch").q]), label="both hips")
    second.plot(run.time, 2 * np.degrees(np.arctan2(run.q[:, 4], run.q[:, 6])), label="pelvis, pitch")
    second.set(title="a humanoid swings its legs in free flight", xlabel="time [s]", ylabel="[degrees]")
    second.legend(fontsize=8, loc="lower right")
    h = kd.centroidal.momentum(body, run.q, run.v)
    legs_only = run.v.copy()
    legs_only[:, :6] = 0.0
    of_legs = kd.centroidal.momentum(body, run.q, legs_only)
    third.plot(run.time, of_legs[:, 4], label="of the limbs relative to the pelvis")
    third.plot(run.time, h[:, 4] - of_legs[:, 4], label="of the body rotating with the pelvis")
    third.plot(run.time, h[:, 4], "k", lw=2.2, label="sum")
    third.set(title="angular momentum about y", xlabel="time [s]", ylabel="[kg m²/s]")
    third.set_ylim(-18, 12)
    third.legend(fontsize=8, loc="lower left")
    for axes in (first, second, third):
        axes.grid(alpha=0.3)
    figure.savefig(HERE / "conserved.png", dpi=80, bbox_inches="tight")


def kick(body: kd.Robot) -> Any:
    """Return a controller that swings both hips forward and keeps all other joints in place."""
    rest, hips = body.neutral(), [body.joint(name).v.start for name in ("left_hip_pitch", "right_hip_pitch")]

    def torques(t: float, state: kd.State) -> Any:
        error = body.difference(state.q, rest)
        error[hips] -= 0.7 * np.sin(np.pi * min(t, 1.0)) ** 2
        tau = 300.0 * error - 20.0 * state.v
        tau[:6] = 0.0
        return tau

    return torques


if __name__ == "__main__":
    parts()
    conserved()
