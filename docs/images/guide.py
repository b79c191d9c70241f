"""Draw figures of the pages on identification, contacts and derivations: python docs/images/guide.py."""

import numpy as np
from matplotlib.figure import Figure
from scene import HERE, arrow, label, show, take

import kinodyn as kd


def identification() -> None:
    """Show an exciting trajectory, torques before and after a fit, and validation errors."""
    ident = kd.identification
    robot = kd.load("planar2r")
    motion = ident.exciting_trajectory(robot, period=5.0, starts=10, iterations=5)
    time = motion.times(100)
    data = ident.simulate(robot, time, *motion(time), noise=0.02)
    prior = ident.with_parameters(robot, 1.3 * robot.inertial_parameters)
    result = ident.fit(prior, data)
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    first.plot(time, motion(time)[0], label=robot.joint_names)
    first.set(title="exciting trajectory", ylabel="[rad]")
    second.plot(time, data.tau[:, 0], ".", color="0.7", ms=3, label="measured")
    second.plot(time, kd.dynamics.inverse(prior, *motion(time))[:, 0], "C1", lw=1, label="before: masses + 30 %")
    second.plot(time, result.predict(data)[:, 0], "C0", lw=1.4, label="after the fit")
    second.set(title="torque of the first joint", ylabel="[N m]")
    before, after, noise = result.prior_residuals(), result.residuals(), np.asarray(result.noise)
    place = np.arange(robot.nv)
    for k, (name, values) in enumerate((("before", before), ("after", after), ("noise", noise))):
        third.bar(place + 0.25 * (k - 1), values, 0.25, label=name, color=("C1", "C0", "0.7")[k])
    third.set(title="error on held-out samples", ylabel="[N m], rms", xticks=place)
    third.set_xticklabels(robot.joint_names)
    for axes in (first, second, third):
        axes.legend(fontsize=8)
    for axes in (first, second):
        axes.set_xlabel("time [s]")
        axes.grid(alpha=0.3)
    figure.savefig(HERE / "identification.png", dpi=80, bbox_inches="tight")


def contacts() -> None:
    """Show the contact forces of a standing and of a pushed humanoid, with friction cones."""
    robot = kd.load("humanoid")
    q, still = robot.configuration("standing"), np.zeros(robot.nv)
    q[2] -= kd.kinematics.pose(robot, q, "left_sole")[2, 3]
    feet = [kd.contact.Contact(name) for name in ("left_sole", "right_sole")]
    soles = dict.fromkeys(("left_sole", "right_sole"), (0.1, 0.05))
    figure = Figure(figsize=(10.6, 5.6), layout="constrained")
    pushes = {"standing": {}, "pushed with 45 N to its left": {"torso": [0.0, 45.0, 0.0, 0.0, 0.0, 0.0]}}
    for axes, (title, push) in zip(figure.subplots(1, 2), pushes.items(), strict=True):
        effort = kd.contact.inverse(robot, q, still, still, feet, push, method="qp", soles=soles)
        view = take(robot, q, lookat=(0.05, 0.0, 0.75), distance=2.7, azimuth=180.0, elevation=-10.0, alpha=0.6)
        show(axes, view, f"{title}: {effort.status}")
        for name in soles:
            force = effort.forces[name]
            sole = kd.kinematics.pose(robot, q, name)[:3, 3]
            pressure = sole + [-force[4] / force[2], force[3] / force[2], 0.0]
            for side in (-1.0, 1.0):  # the cone, seen from the front
                edge = pressure + 0.25 * np.array([0.0, side * 0.7, 1.0])
                axes.plot(*zip(view.at(pressure), view.at(edge), strict=True), color="#b2560d", lw=1.0, ls="--")
            arrow(axes, view, pressure, pressure + force[:3] / 1000.0, "#d62728", width=2.6)
            size = np.linalg.norm(force[:3])
            label(axes, view.at(sole) + [70 * np.sign(sole[1]), 8], f"{size:.0f} N", "#d62728", 10)
        if push:
            waist = kd.kinematics.pose(robot, q, "torso")[:3, 3]
            arrow(axes, view, waist - [0.0, 0.48, 0.0], waist - [0.0, 0.16, 0.0], "black", width=2.6)
            label(axes, view.at(waist - [0.0, 0.42, 0.0]) + [0, -18], "45 N")
    figure.savefig(HERE / "contact_forces.png", dpi=80, bbox_inches="tight")


def derivations() -> None:
    """Show the torques of the planar arm by several methods, which agree to rounding."""
    arm = kd.load("planar2r")
    model = kd.derivation.lagrange(arm)
    time = np.linspace(0.0, 2.0, 201)
    q = np.stack([np.sin(3 * time), 1.2 * np.cos(2 * time)], axis=-1)
    v = np.stack([3 * np.cos(3 * time), -2.4 * np.sin(2 * time)], axis=-1)
    a = np.stack([-9 * np.sin(3 * time), -4.8 * np.cos(2 * time)], axis=-1)
    core = kd.dynamics.inverse(arm, q, v, a)
    methods = {
        "Lagrange, symbolic": model.inverse(q, v, a),
        "projected Newton-Euler": kd.derivation.projected_newton_euler(arm, q, v, a),
    }
    links = kd.derivation.link_forces(arm, q, v, a)
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    first.plot(time, core, label=arm.joint_names)
    first.set(title="torques by RNEA", ylabel="[N m]")
    for name, tau in links.items():
        second.plot(time, tau[:, 0], label=f"contribution of {name.split('/')[0]}")
    second.plot(time, core[:, 0], "k", lw=1.2, label="sum")
    second.set(title="torque of the first joint by link", ylabel="[N m]")
    for name, tau in methods.items():
        third.semilogy(time, np.abs(tau - core).max(axis=1) + 1e-17, label=name)
    third.set(title="difference of the other methods", ylabel="[N m]", ylim=(1e-17, 1e-12))
    for axes in (first, second, third):
        axes.set_xlabel("time [s]")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    figure.savefig(HERE / "derivations.png", dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    identification()
    contacts()
    derivations()
