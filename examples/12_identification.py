"""Identify an arm: exciting trajectory, noisy recording, physically consistent fit, URDF of the result.

--plot FILE draws measured and predicted torques of a validation trajectory.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
ident = kd.identification

# The arm of the humanoid as a separate robot: all other joints are fixed.
human = kd.load("humanoid")
arm = ident.sub_robot(human, human.description.chains["left_arm"], human.configuration("standing"))
base = ident.base_parameters(arm)
print(f"{arm.nv} joints, {len(base.parameters)} parameters, {base.rank} combinations are identifiable from torques:")
for name in base.names[:4]:
    print("  ", name)

# A trajectory within the limits with a well-conditioned regressor, optimised from random Fourier series.
motion = ident.exciting_trajectory(arm, period=5.0, starts=20, iterations=4)
other = ident.exciting_trajectory(arm, period=5.0, starts=20, iterations=0, seed=1)
print(f"condition number {motion.condition:.1f}, largest torque {motion.effort:.0%} of its limit, {motion.status}")

# Two recordings with 1 % noise on the torques; on a real robot they come from files (kd.identification.read).
time = motion.times(200)
data = ident.simulate(arm, time, *motion(time), noise=0.01)
held_out = ident.simulate(arm, time, *other(time), noise=0.01, seed=1)

# The prior has masses that are wrong by 30 % and no damping.
links = arm.inertial_parameters.reshape(-1, 10)
factors = np.random.default_rng(0).choice([0.7, 1.3], size=(len(links), 1))
prior = ident.with_parameters(arm, (factors * links).ravel(), damping=np.zeros(arm.nv))
result = ident.fit(prior, data, held_out=held_out)
print(f"\n{result.method} fit, {result.status}; all inertias physically consistent: {result.is_physically_consistent}")
true_tau = ident.torques(arm, *other(time))
noise = 0.01 * np.sqrt(np.mean(true_tau**2, axis=0))
print(f"{'held-out torque':22} {'before':>8} {'after':>8} {'noise':>8} {'ratio':>6}")
for row in zip(arm.joint_names, result.prior_residuals(), result.residuals(), noise, strict=True):
    print(f"{row[0]:22} {row[1]:8.4f} {row[2]:8.4f} {row[3]:8.4f} {row[2] / row[3]:6.2f}")
print(f"{len(result.unidentified)} combinations cannot be distinguished from noise, such as {result.unidentified[0]}")

# The result is a robot that can be written to URDF, which has no armature: it is set again.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "arm.urdf"
    kd.write_urdf(result.robot.description, path)
    again = kd.load(path).replace(armature=result.robot.armature)
    off = np.abs(kd.dynamics.inverse(again, *other(time)) - kd.dynamics.inverse(result.robot, *other(time))).max()
    print(f"\nwritten to URDF and read back: torques differ by at most {off:.1e} N m")

# Data without excitation are not an error; the report says what is not identifiable.
still = np.tile(arm.random(seed=3), (100, 1))
report = ident.fit(prior, ident.simulate(arm, np.arange(100) / 100, still, 0 * still, 0 * still))
print(f"at rest, {sum(report.identified)} of {report.base.rank} combinations are identifiable")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.6), layout="constrained")
    before, after = (ident.torques(robot, *other(time)) for robot in (prior, result.robot))
    for ax, k in zip(figure.subplots(2, 2).ravel(), (0, 1, 3, 6), strict=True):
        ax.plot(held_out.time, held_out.tau[:, k], ".", color="0.6", ms=4, label="measured")
        ax.plot(time, before[:, k], color="tab:orange", lw=1, label="predicted before")
        ax.plot(time, after[:, k], color="tab:blue", lw=1.5, label="predicted after")
        ax.set(title=arm.joint_names[k], ylabel="[N m]")
        ax.grid(alpha=0.3)
    ax.set_xlabel("time [s]")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    figure.savefig(options.plot, dpi=80)
