"""The algebra of sums of cosines and sines, against SymPy's."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from kinodyn.derivation.expressions import Writer
from kinodyn.derivation.parameters import exact
from kinodyn.derivation.trigonometric import TrigSum, constant, cosine_and_sine

SYMBOLS = {name: sympy.Symbol(name, real=True) for name in ("q1", "q2", "m")}
WRITER = Writer([SYMBOLS["q1"], SYMBOLS["q2"]], SYMBOLS)
C1, S1 = cosine_and_sine(0, Fraction(1), 2)
C2, S2 = cosine_and_sine(1, Fraction(-3, 2), 2)
EXAMPLES = {
    "product": (C1 * S2 + S1 * C2, "cos(q1) * sin(-3*q2/2) + sin(q1) * cos(-3*q2/2)"),
    "squares": (S1 * S1 - C2 * C2, "sin(q1)**2 - cos(3*q2/2)**2"),
    "cube": (S1 * S1 * S1, "sin(q1)**3"),
    "slide": (constant(2, 2, "q1", "q1", "m") * C2, "2 * q1**2 * m * cos(3*q2/2)"),
}


def assert_zero(expression: sympy.Expr) -> None:
    assert sympy.expand(expression.rewrite(sympy.exp)).simplify() == 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_products_agree_with_sympy(name: str) -> None:
    found, text = EXAMPLES[name]
    assert_zero(WRITER.expression(found) - sympy.sympify(text, locals=SYMBOLS))


@pytest.mark.parametrize("name", EXAMPLES)
def test_derivatives_agree_with_sympy(name: str) -> None:
    found, _ = EXAMPLES[name]
    for j, q in enumerate(("q1", "q2")):
        assert_zero(WRITER.expression(found.derivative(j, q)) - WRITER.expression(found).diff(SYMBOLS[q]))


def test_terms_that_cancel_are_removed() -> None:
    assert constant(1, 2) == S1 * S1 + C1 * C1
    assert not (C1 * S2 - S2 * C1)
    assert C1 - C1 == TrigSum({}) == constant(0, 2)


def test_floats_become_exact_fractions() -> None:
    assert exact(6.1e-17) == 0 and exact(1.0 - 1.1e-16) == 1
    assert exact(1.0 / 12.0) == Fraction(1, 12) and exact(0.4318) == Fraction(4318, 10000)
    assert exact(1e-3) == Fraction(1, 1000)
    assert float(exact(0.7071067811865476)) == 0.7071067811865476
    assert float(exact(2e-13)) == 2e-13
