"""The same torques by four derivations: recursion (`kd.dynamics.inverse`), and the three here.

- `lagrange`: Lagrange's equations in symbols, M, C and g as formulas. It needs SymPy, which is imported on first use.
- `projected_newton_euler`: the laws of Newton and Euler for each link, projected by its Jacobian. For every robot.
- `virtual_work`: d'Alembert's principle for a mechanism with loops, in independent coordinates.
"""

from kinodyn.derivation.cutting import cut
from kinodyn.derivation.lagrange import lagrange
from kinodyn.derivation.model import LagrangeModel
from kinodyn.derivation.newton_euler import link_forces, projected_newton_euler
from kinodyn.derivation.virtual_work import VirtualWork, reduced_dynamics, virtual_work

__all__ = [
    "LagrangeModel",
    "VirtualWork",
    "cut",
    "lagrange",
    "link_forces",
    "projected_newton_euler",
    "reduced_dynamics",
    "virtual_work",
]
