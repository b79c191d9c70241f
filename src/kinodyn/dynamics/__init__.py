"""Rigid-body dynamics: pure functions of (robot, q, ...), over any batch axes.

The equation of motion is M(q) a + C(q, v) v + D v + g(q) = tau + sum of J^T wrench, with D the joint damping and with
the armature (reflected rotor inertia) in M; `robot.replace(damping=0, armature=0)` disables both. External
wrenches are a dict of frame -> (..., 6): force and moment at the frame's origin, in world axes.

R. Featherstone, "Rigid Body Dynamics Algorithms", 2008.
"""

from kinodyn.dynamics.rigid_body import (
    MassFactor,
    Wrenches,
    bias,
    coriolis_matrix,
    factorize,
    forward,
    forward_derivatives,
    gravity,
    inverse,
    inverse_derivatives,
    kinetic_energy,
    mass_matrix,
    potential_energy,
    regressor,
)

__all__ = [
    "MassFactor",
    "Wrenches",
    "bias",
    "coriolis_matrix",
    "factorize",
    "forward",
    "forward_derivatives",
    "gravity",
    "inverse",
    "inverse_derivatives",
    "kinetic_energy",
    "mass_matrix",
    "potential_energy",
    "regressor",
]


def __dir__() -> list[str]:
    return list(__all__)
