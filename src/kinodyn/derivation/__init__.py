"""Three derivations of the equation of motion, in addition to the recursive one of `kd.dynamics.inverse`.

- `lagrange`: Lagrange's equations in symbols, M, C and g as formulas (SymPy, imported on first use).
- `projected_newton_euler`: Newton's and Euler's equations of each link, projected by its Jacobian; for every robot.
- `virtual_work`: d'Alembert's principle for mechanisms with loops, in independent coordinates.
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


def __dir__() -> list[str]:
    return list(__all__)
