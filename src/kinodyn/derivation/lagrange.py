"""Lagrange's equations of a robot in symbols."""

from __future__ import annotations

from kinodyn.argument_types import check_types
from kinodyn.checks import one_of
from kinodyn.derivation.energy import Matrix, mass_matrix, potential_energy
from kinodyn.derivation.expressions import Writer
from kinodyn.derivation.model import LagrangeModel
from kinodyn.derivation.parameters import Namer, Parameters, body_constants, gravity_vector
from kinodyn.derivation.trigonometric import HALF, TrigSum, total
from kinodyn.errors import InputError
from kinodyn.model.compile import DOFS, compile_tree
from kinodyn.model.robot import Robot, require_robot

MAX_COORDINATES = 6
_ALLOWED = ("revolute", "continuous", "prismatic", "planar")


@check_types
def lagrange(robot: Robot, *, parameters: Parameters = "numbers") -> LagrangeModel:
    """Derive the equation of motion d/dt dT/dqd - dT/dq + dV/dq = tau of a robot symbolically.

    Parameters
    ----------
    robot : Robot
        A tree on a fixed base with up to six coordinates: revolute, continuous, prismatic, planar and mimic joints.
    parameters : "numbers" or "symbols"
        "numbers" writes the robot's own numbers into the formulas. "symbols" names those that are not zero: of body i
        the mass m<i>, the CoM c<i> from its joint, the inertia I<i>xx, ... about the CoM, and l<i>, the position of the
        next joint on it (l0 on the base); gravity g; of joint j armature b<j> and damping d<j>. A vector with several
        components has x, y or z at the end. All are expressed in the axes of the base at q = 0 or, for a joint that is
        not along a coordinate axis, in axes rotated such that z is along the joint.

    Returns
    -------
    LagrangeModel

    Notes
    -----
    Products of sines and cosines are written as sums: cos(q1) cos(q2) is cos(q1 - q2)/2 + cos(q1 + q2)/2. In this
    normal form equal formulas look alike, and terms that cancel vanish.

    Examples
    --------
    >>> import kinodyn as kd
    >>> model = kd.derivation.lagrange(kd.load("planar2r"))
    >>> model.M[0, 0]
    cos(q2) + 5/3
    >>> model.C
    Matrix([
    [-qd2*sin(q2)/2, -(qd1 + qd2)*sin(q2)/2],
    [ qd1*sin(q2)/2,                      0]])
    """
    _check(robot, parameters)
    n = robot.nv
    namer = Namer(n, parameters == "symbols")
    bodies = compile_tree(robot.description).bodies
    constants = body_constants(bodies, namer)
    M = mass_matrix(bodies, constants, namer)
    for j in range(n):
        M[j][j] = M[j][j] + namer.scalar(f"b{j + 1}", float(robot.armature[j]))
    V = potential_energy(bodies, constants, gravity_vector(robot, namer), namer)
    D = [
        [namer.scalar(f"d{j + 1}", float(robot.damping[j])) if j == k else namer.zero() for k in range(n)]
        for j in range(n)
    ]
    return _write(robot, M, V, D, namer)


def _check(robot: Robot, parameters: str) -> None:
    require_robot(robot)
    one_of("parameters", parameters, ("numbers", "symbols"))
    for joint in robot.joints:
        if joint.kind not in _ALLOWED:
            raise InputError(
                f"joint {joint.name!r} is {joint.kind}; allowed are {', '.join(_ALLOWED)} joints on a fixed base. "
                "projected_newton_euler takes every robot"
            )
    if not 1 <= robot.nv <= MAX_COORDINATES:
        raise InputError(
            f"the robot has {robot.nv} coordinates; allowed are 1 to {MAX_COORDINATES}. Derive a part of it, such as "
            "kd.derivation.cut(robot, joint), or compute with numbers: projected_newton_euler, kd.dynamics"
        )


def _write(robot: Robot, M: Matrix, V: TrigSum, D: Matrix, namer: Namer) -> LagrangeModel:
    import sympy

    n = robot.nv
    q, qd, qdd = (tuple(sympy.Symbol(f"{letter}{j + 1}", real=True) for j in range(n)) for letter in ("q", "qd", "qdd"))
    constants = [sympy.Symbol(name, real=True) for name in namer.values]
    writer = Writer(q, {symbol.name: symbol for symbol in (*q, *qd, *constants)})
    symbols = christoffel_symbols(M, n)
    C = [[total((symbols[i][j][k].with_factor(f"qd{k + 1}") for k in range(n)), n) for j in range(n)] for i in range(n)]
    T = total((M[i][j].with_factor(f"qd{i + 1}").with_factor(f"qd{j + 1}") for i in range(n) for j in range(n)), n)
    return LagrangeModel(
        joint_names=tuple(joint.name for joint in robot.joints if joint.mimic is None for _ in range(DOFS[joint.kind])),
        q=q,
        qd=qd,
        qdd=qdd,
        M=writer.matrix(M),
        C=writer.matrix(C),
        D=writer.matrix(D),
        g=writer.matrix([[V.derivative(j, f"q{j + 1}")] for j in range(n)]),
        kinetic_energy=writer.expression(T.times(HALF)),
        potential_energy=writer.expression(V),
        parameters=_used(namer.values, [T, V, *(row[j] for j, row in enumerate(D))]),
        _christoffel=symbols,
        _writer=writer,
    )


def christoffel_symbols(M: Matrix, n: int) -> list[list[list[TrigSum]]]:
    """Derive c[i][j][k] = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2."""
    slopes = [[[M[i][j].derivative(k, f"q{k + 1}") for k in range(n)] for j in range(n)] for i in range(n)]
    return [
        [[(slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]).times(HALF) for k in range(n)] for j in range(n)]
        for i in range(n)
    ]


def _used(values: dict[str, float], sums: list[TrigSum]) -> dict[str, float]:
    """Leave out symbols that appear in no formula, such as the inertia across a planar arm."""
    names = {name for value in sums for term in value.terms for name in term.factors}
    return {name: value for name, value in values.items() if name in names}
