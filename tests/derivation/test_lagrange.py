"""Lagrange in symbols: the formulas of the books, the numbers of the core, laws that hold for every robot."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.derivation import LagrangeModel, lagrange
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot

Check = Callable[[Array, Array], None]
States = Callable[[Robot], tuple[Array, Array, Array]]
MODES = ("numbers", "symbols")


@pytest.fixture(scope="session", params=MODES)
def model(request: pytest.FixtureRequest, robot: Robot) -> LagrangeModel:
    return lagrange(robot, parameters=request.param)


def book() -> tuple[dict[str, Any], sympy.Matrix, sympy.Matrix, sympy.Matrix]:
    """M, C and g of the planar arm as in Spong, Hutchinson and Vidyasagar, 2nd ed. 2020, section 6.4."""
    names = "q1 q2 qd1 qd2 m1 m2 c1 c2 l1 I1zz I2zz g"
    s = {name: sympy.Symbol(name, real=True) for name in names.split()}
    q1, q2, qd1, qd2, m1, m2, c1, c2, l1, I1, I2, g = s.values()
    m12 = m2 * (c2**2 + l1 * c2 * sympy.cos(q2)) + I2
    m11 = m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * sympy.cos(q2)) + I1 + I2
    h = -m2 * l1 * c2 * sympy.sin(q2)
    M = sympy.Matrix([[m11, m12], [m12, m2 * c2**2 + I2]])
    C = sympy.Matrix([[h * qd2, h * (qd1 + qd2)], [-h * qd1, 0]])
    tip = m2 * c2 * g * sympy.cos(q1 + q2)
    return s, M, C, sympy.Matrix([(m1 * c1 + m2 * l1) * g * sympy.cos(q1) + tip, tip])


def assert_same_formulas(found: Any, expected: Any) -> None:
    assert (found - expected).expand() == sympy.zeros(*expected.shape)


def test_the_planar_arm_has_the_textbook_formulas() -> None:
    model = lagrange(kd.load("planar2r"), parameters="symbols")
    _, M, C, g = book()
    assert_same_formulas(model.M, M)
    assert_same_formulas(model.C, C)
    assert_same_formulas(model.g, g)


def test_parameters_have_the_values_of_the_robot() -> None:
    model = lagrange(kd.load("planar2r"), parameters="symbols")
    rod = {"m1": 1, "m2": 1, "c1": 0.5, "c2": 0.5, "l1": 1, "I1zz": 1 / 12, "I2zz": 1 / 12, "g": 9.81}
    assert model.parameters == pytest.approx(rod, abs=1e-15)


def test_numeric_parameters_become_simple_fractions() -> None:
    model = lagrange(kd.load("planar2r"))
    q2 = model.q[1]
    third, half = sympy.Rational(1, 3), sympy.Rational(1, 2)
    m12 = third + half * sympy.cos(q2)
    assert sympy.Matrix([[5 * third + sympy.cos(q2), m12], [m12, third]]) == model.M
    assert not model.parameters and model.joint_names == ("joint1", "joint2")


def test_formulas_agree_with_the_core(model: LagrangeModel, robot: Robot, states: States, assert_equal: Check) -> None:
    q, v, a = states(robot)
    assert_equal(model.inverse(q, v, a), kd.dynamics.inverse(robot, q, v, a))
    assert_equal(model.mass_matrix(q), kd.dynamics.mass_matrix(robot, q))
    assert_equal(model.coriolis_matrix(q, v), kd.dynamics.coriolis_matrix(robot, q, v))
    assert_equal(model.gravity(q), kd.dynamics.gravity(robot, q))


def test_energies_agree_with_the_core(model: LagrangeModel, robot: Robot, states: States, assert_equal: Check) -> None:
    q, v, _ = states(robot)
    symbols = [*model.q, *model.qd, *(sympy.Symbol(name, real=True) for name in model.parameters)]
    values = [*q.T, *v.T, *model.parameters.values()]
    for energy, expected in (
        (model.kinetic_energy, kd.dynamics.kinetic_energy(robot, q, v)),
        (model.potential_energy, kd.dynamics.potential_energy(robot, q)),
    ):
        assert_equal(np.broadcast_to(sympy.lambdify(symbols, energy)(*values), expected.shape), expected)


def test_the_mass_matrix_is_symmetric_and_mdot_minus_2c_is_skew() -> None:
    for name in ("planar2r", "planar3r", "scara"):
        model = lagrange(kd.load(name), parameters="symbols")
        rate = sum((model.M.diff(q) * qd for q, qd in zip(model.q, model.qd, strict=True)), sympy.zeros(*model.M.shape))
        N = rate - 2 * model.C
        assert model.M == model.M.T
        assert_same_formulas(N + N.T, sympy.zeros(*N.shape))


def test_lagranges_equations_written_out_give_the_same_torques() -> None:
    """d/dt dT/dqd - dT/dq + dV/dq, differentiated by SymPy from the energies alone."""
    model = lagrange(kd.load("scara"), parameters="symbols")
    T, V = model.kinetic_energy, model.potential_energy
    for j, (q, qd) in enumerate(zip(model.q, model.qd, strict=True)):
        momentum = T.diff(qd)
        rate = sum(momentum.diff(x) * xd for x, xd in zip(model.q, model.qd, strict=True))
        rate += sum(momentum.diff(xd) * xdd for xd, xdd in zip(model.qd, model.qdd, strict=True))
        assert sympy.expand(rate - T.diff(q) + V.diff(q) - model.tau()[j]) == 0


def test_christoffel_symbols_make_the_coriolis_matrix() -> None:
    model = lagrange(kd.load("planar3r"))
    n = range(1, 4)
    C = sympy.Matrix(3, 3, lambda i, j: sum(model.christoffel(i + 1, j + 1, k) * model.qd[k - 1] for k in n))
    assert_same_formulas(C, model.C)
    assert all(model.christoffel(i, j, k) == model.christoffel(i, k, j) for i in n for j in n for k in n)
    with pytest.raises(InputError, match="integers from 1 to 3"):
        model.christoffel(0, 1, 2)


def test_other_parameters_make_another_robot(assert_equal: Check) -> None:
    """Twice all masses and inertias: twice all torques. Another planet: other gravity alone."""
    robot = kd.load("planar2r")
    model = lagrange(robot, parameters="symbols")
    q, v, a = robot.random(5), np.ones((5, 2)), np.full(2, 0.3)
    heavy = {name: 2 * value for name, value in model.parameters.items() if name[0] in "mI"}
    assert_equal(model.inverse(q, v, a, parameters=heavy), 2 * kd.dynamics.inverse(robot, q, v, a))
    moon = robot.replace(gravity=[0.0, -1.62, 0.0])
    assert_equal(model.gravity(q, parameters={"g": 1.62}), kd.dynamics.gravity(moon, q))
    with pytest.raises(UnknownNameError, match="unknown parameter 'm3'; did you mean"):
        model.gravity(q, parameters={"m3": 1.0})
    with pytest.raises(InputError, match="not finite"):
        model.gravity(q, parameters={"g": np.nan})


def test_batch_axes_broadcast(assert_equal: Check) -> None:
    robot = kd.load("planar3r")
    model = lagrange(robot)
    q, v, a = robot.random((4, 1)), np.ones((5, 3)), np.full(3, 0.2)
    assert_equal(model.inverse(q, v, a), kd.dynamics.inverse(robot, q, v, a))
    assert model.mass_matrix(q).shape == (4, 1, 3, 3)
    assert model.gravity(q[0, 0]).shape == (3,)
    assert model.mass_matrix(np.zeros((0, 3))).shape == (0, 3, 3)


@pytest.mark.parametrize("mode", MODES)
def test_the_printed_code_computes_the_torques(mode: Any, states: States, assert_equal: Check) -> None:
    robot = kd.load("planar3r")
    model = lagrange(robot, parameters=mode)
    namespace: dict[str, Any] = {}
    exec(model.code(), namespace)
    q, v, a = states(robot)
    assert_equal(namespace["tau"](q, v, a, *model.parameters.values()), kd.dynamics.inverse(robot, q, v, a))


def test_text_and_latex_show_every_part() -> None:
    model = lagrange(kd.load("planar2r").replace(damping=0.5), parameters="symbols")
    text, latex = model.text(), model.latex()
    assert "g[2] = c2*g*m2*cos(q1 + q2)" in text.splitlines()
    assert "C[2, 1] = c2*l1*m2*qd1*sin(q2)" in text.splitlines()
    assert "D[1, 1] = d1" in text.splitlines()
    assert [line.partition(" = ")[0] for line in latex.splitlines()] == [
        "T", "V", "M(q)", r"C(q, \dot q)", "D", "g(q)",
    ]  # fmt: skip
    assert r"\dot{q}_{1}" in latex and "I_{2,zz}" in latex
    assert "D[" not in lagrange(kd.load("planar2r")).text()


def test_a_model_survives_pickling(assert_equal: Check) -> None:
    model = lagrange(kd.load("planar2r"))
    q = [0.3, 0.5]
    before = model.mass_matrix(q)
    again = pickle.loads(pickle.dumps(model))
    assert again.M == model.M and again.christoffel(1, 1, 2) == model.christoffel(1, 1, 2)
    assert_equal(again.mass_matrix(q), before)


def test_unsupported_robots_are_rejected(make_tree: Callable[..., Robot]) -> None:
    with pytest.raises(InputError, match=r"is floating; allowed are revolute, continuous, prismatic, planar joints"):
        lagrange(kd.load("humanoid"))
    with pytest.raises(InputError, match="'j1' is ball"):
        lagrange(make_tree([("ball", "l0", None)]))
    with pytest.raises(InputError, match=r"coordinates; allowed are 1 to \d+. Derive a part"):
        lagrange(kd.load("humanoid", base="fixed"))
    with pytest.raises(InputError, match='parameters must be "numbers" or "symbols"'):
        lagrange(kd.load("planar2r"), parameters="letters")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"robot must be a kinodyn.Robot, got 'planar2r'"):
        lagrange("planar2r")  # type: ignore[arg-type]


def test_invalid_arrays_are_rejected() -> None:
    model = lagrange(kd.load("planar2r"))
    with pytest.raises(InputError, match=r"q must have shape \(..., 2\), got \(3,\)"):
        model.mass_matrix([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="v must be finite numbers"):
        model.coriolis_matrix([0.0, 0.0], [np.inf, 0.0])
    with pytest.raises(InputError, match=r"q must be real numbers of shape \(..., 2\)"):
        model.gravity("here")  # type: ignore[arg-type]


def test_importing_kinodyn_does_not_import_sympy() -> None:
    code = "import sys, kinodyn; assert 'sympy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
