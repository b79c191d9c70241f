"""The same torques by four methods: symbolic Lagrange, projected Newton-Euler, virtual work, recursive Newton-Euler.

The planar arm of two equal rods at q = (0, 90 degrees), velocities (1, 1) rad/s and accelerations (1, 1) rad/s^2.
--plot FILE draws the torques over the elbow angle, by Lagrange and by the recursion.
"""

import argparse

import numpy as np
import sympy

import kinodyn as kd
from kinodyn.description import Description, Frame, Inertia, Joint, Link

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
np.set_printoptions(precision=6, suppress=True)
arm = kd.load("planar2r")
q, v, a = np.array([0.0, np.pi / 2]), np.array([1.0, 1.0]), np.array([1.0, 1.0])

# First, Lagrange. With symbols for masses, lengths and inertias the formulas are those of textbooks.
print("1. Lagrange: d/dt dT/dqd - dT/dq + dV/dq = tau, in symbols")
general = kd.derivation.lagrange(arm, parameters="symbols")
print(general.text())
print("with", ", ".join(f"{name} = {value:.4g}" for name, value in general.parameters.items()))

# The same with the robot's numbers, then evaluated step by step at this state.
model = kd.derivation.lagrange(arm)
state = {symbol: sympy.nsimplify(value, [sympy.pi]) for symbol, value in zip(model.q, q, strict=True)}
state |= {symbol: int(value) for symbol, value in zip((*model.qd, *model.qdd), (*v, *a), strict=True)}
print("\n   with numbers, and at q = (0, pi/2), qd = (1, 1), qdd = (1, 1)")
print("   T   =", sympy.sstr(model.kinetic_energy, full_prec=False), "=", model.kinetic_energy.subs(state), "J")
height = sympy.sstr(model.potential_energy.subs(state), full_prec=False)
print("   V   =", sympy.sstr(model.potential_energy, full_prec=False), "=", height, "J")
print("   M   =", model.M.tolist(), "=", model.M.subs(state).tolist())
for i, j, k in ((1, 1, 2), (1, 2, 2), (2, 1, 1)):
    print(f"   Christoffel symbol {i}{j}{k} =", model.christoffel(i, j, k), "=", model.christoffel(i, j, k).subs(state))
print("   C   =", model.C.tolist(), "=", model.C.subs(state).tolist())
inertial = model.mass_matrix(q) @ a
centrifugal = model.coriolis_matrix(q, v) @ v
weight = model.gravity(q)
by_lagrange = inertial + centrifugal + weight
print("   tau = M qdd + C qd + g =", inertial, "+", centrifugal, "+", weight, "=", by_lagrange, "N m")

# Second, Newton-Euler for each link: a force m (ac - gravity) at its CoM and a moment I w' + w x I w, projected to the
# joints by the transposed Jacobian of the link.
print("\n2. Projected Newton-Euler: the sum over the links of Jc^T m (ac - gravity) + Jw^T (I w' + w x I w)")
for link, part in kd.derivation.link_forces(arm, q, v, a).items():
    print(f"   {link} contributes {part}")
by_projection = kd.derivation.projected_newton_euler(arm, q, v, a)
print("   tau =", by_projection, "N m")

# Third, virtual work. The arm taken apart: two rods that move freely in the plane (x, y, angle), joined by two pins.
# Of the six coordinates two are independent, the angles of the rods; the pins do no work in admissible motions.
print("\n3. Virtual work: two free rods, held by pins at the shoulder and at the elbow")
inertia = Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([1e-3, 1 / 12, 1 / 12]))
T_rod_end = kd.spatial.pose([1.0, 0.0, 0.0], np.eye(3))
rods = kd.Robot(
    Description(
        "rods",
        links=(Link("ground"), Link("rod1", inertia), Link("rod2", inertia)),
        joints=tuple(Joint(f"free{i}", "planar", "ground", f"rod{i}") for i in (1, 2)),
        frames=(Frame("elbow", "rod1", T_rod_end),),
        gravity=tuple(arm.gravity),
    )
)
pins = [kd.contact.Loop(rod, place, directions="x y z") for rod, place in (("rod1", "ground"), ("rod2", "elbow"))]
to_absolute = np.array([[1.0, 0.0], [1.0, 1.0]])  # angles of the rods from those of the joints
angles = to_absolute @ q
q_rods = np.array([0.0, 0.0, angles[0], 0.0, 0.0, angles[1]])
closed = kd.contact.project(rods, q_rods, pins, fixed=[2, 5])
work = kd.derivation.virtual_work(rods, closed.q, to_absolute @ v, to_absolute @ a, pins, independent=[2, 5])
by_virtual_work = to_absolute.T @ work.tau  # equal power: tau . qd is the same for both sets of angles
print(f"   pins closed: {closed.success}; rods at {closed.q}")
print("   torques on the rods:", work.tau, "N m; force of the shoulder:", work.multipliers[:2], end=" ")
print("N, of the elbow:", work.multipliers[3:5], "N")
print("   tau =", by_virtual_work, "N m")

# Fourth, the recursive Newton-Euler algorithm (RNEA) of the core: motions outwards, forces inwards.
print("\n4. Recursive Newton-Euler algorithm (RNEA), the core")
by_recursion = kd.dynamics.inverse(arm, q, v, a)
print("   tau =", by_recursion, "N m")

difference = max(np.abs(other - by_recursion).max() for other in (by_lagrange, by_projection, by_virtual_work))
print(f"\nlargest difference: {difference:.0e} N m")
assert difference < 1e-12

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    bend = np.deg2rad(np.linspace(-180.0, 180.0, 181))
    at = np.stack([0 * bend, bend], axis=-1)
    rates, pull = np.broadcast_to(v, at.shape), np.broadcast_to(a, at.shape)
    terms = {
        "inertia, M qdd": np.array([model.mass_matrix(x) @ a for x in at]),
        "centrifugal and Coriolis, C qd": np.array([model.coriolis_matrix(x, v) @ v for x in at]),
        "gravity, g": np.array([model.gravity(x) for x in at]),
    }
    total = np.sum([*terms.values()], axis=0)
    recursion = kd.dynamics.inverse(arm, at, rates, pull)
    for joint, ax in enumerate(figure.subplots(1, 2)):
        for name, values in terms.items():
            ax.plot(np.rad2deg(bend), values[:, joint], lw=1.2, label=name)
        ax.plot(np.rad2deg(bend), total[:, joint], "k", label="sum, by Lagrange")
        ax.plot(np.rad2deg(bend[::12]), recursion[::12, joint], "ko", mfc="none", label="RNEA")
        ax.plot(90.0, by_recursion[joint], "r*", ms=12, label="state above")
        ax.set(title=f"joint {joint + 1}", xlabel="elbow [deg]", ylabel="torque [N m]")
        ax.grid(alpha=0.3)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    figure.savefig(options.plot, dpi=80)
