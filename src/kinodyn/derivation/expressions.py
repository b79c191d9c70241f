"""From sums in normal form to SymPy expressions, and from those to text and NumPy code."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.derivation.trigonometric import TrigSum, Wave

# Fractions up to this denominator stay fractions, 5/3 or 1/12; others are decimals of this many digits.
_DENOMINATOR, _DIGITS = 48, 15

Polynomial = dict[tuple[str, ...], Fraction]


class Writer:
    """Converts sums to SymPy expressions, for the coordinates `q` and all symbols by name."""

    def __init__(self, q: Sequence[Any], symbols: dict[str, Any]) -> None:
        self._q, self._symbols = q, symbols

    def expression(self, value: TrigSum) -> Any:
        """Convert one sum, with the coefficients of each cosine or sine collected."""
        import sympy

        collected: dict[tuple[Wave, bool], Polynomial] = {}
        for term, coefficient in value.terms.items():
            collected.setdefault((term.wave, term.sine), {})[term.factors] = coefficient
        return sympy.Add(*(self._collected(*key, polynomial) for key, polynomial in collected.items()))

    def matrix(self, rows: Sequence[Sequence[TrigSum]]) -> Any:
        """Convert a matrix of sums."""
        import sympy

        return sympy.ImmutableMatrix([[self.expression(value) for value in row] for row in rows])

    def _collected(self, wave: Wave, sine: bool, polynomial: Polynomial) -> Any:
        """Write l1 (m2 + m3) cos(q2): the common factor, the rest, and the cosine or sine."""
        import sympy

        if not any(wave):
            return self._sum(polynomial)
        content, shared = _content(list(polynomial.values())), _shared(list(polynomial))
        rest = {_less(factors, shared): number / content for factors, number in polynomial.items()}
        angle = sympy.Add(*(_number(Fraction(k)) * q for k, q in zip(wave, self._q, strict=True) if k))
        oscillation = sympy.sin(angle) if sine else sympy.cos(angle)
        return sympy.Mul(_number(content), *(self._symbols[name] for name in shared), self._sum(rest), oscillation)

    def _sum(self, polynomial: Polynomial) -> Any:
        import sympy

        terms = polynomial.items()
        return sympy.Add(*(sympy.Mul(_number(c), *(self._symbols[name] for name in names)) for names, c in terms))


def _number(value: Fraction) -> Any:
    import sympy

    if value.denominator <= _DENOMINATOR:
        return sympy.Rational(value.numerator, value.denominator)
    return sympy.Float(float(value), _DIGITS)


def _content(numbers: list[Fraction]) -> Fraction:
    """Find the number to factor out: negative if all are, 1 where the quotients would not be simpler."""
    sign = -1 if all(number < 0 for number in numbers) else 1
    if len({abs(number) for number in numbers}) == 1:
        return sign * abs(numbers[0])
    if any(number.denominator > _DENOMINATOR for number in numbers):
        return Fraction(sign)
    top, bottom = math.gcd(*(x.numerator for x in numbers)), math.lcm(*(x.denominator for x in numbers))
    return Fraction(sign * top, bottom)


def _shared(terms: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Find the symbols that all terms have, as often as all have them."""
    counts = Counter(terms[0])
    for factors in terms[1:]:
        counts &= Counter(factors)
    return tuple(sorted(counts.elements()))


def _less(factors: tuple[str, ...], shared: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted((Counter(factors) - Counter(shared)).elements()))


class Compiled:
    """A matrix of expressions as a NumPy function of vectors, over any leading axes."""

    def __init__(self, groups: Sequence[Sequence[Any]], expressions: Any) -> None:
        import sympy

        self._shape = expressions.shape
        arguments = [symbol for group in groups for symbol in group]
        self._function: Callable[..., list[Array]] = sympy.lambdify(arguments, list(expressions), "numpy", cse=True)

    def __call__(self, *arrays: Array) -> Array:
        """Evaluate at arrays (..., n), one for each group of symbols: (..., rows, columns)."""
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        columns = [array[..., j] for array in arrays for j in range(array.shape[-1])]
        result = np.empty((*batch, *self._shape))
        flat = result.reshape(*batch, math.prod(self._shape))
        for j, entry in enumerate(self._function(*columns)):
            flat[..., j] = entry
        return result


def to_text(name: str, expression: Any) -> str:
    """Write an expression or the entries of a matrix as lines of text, numbers without needless digits."""
    import sympy

    if not getattr(expression, "is_Matrix", False):
        return f"{name} = {sympy.sstr(expression, full_prec=False)}"
    rows, columns = expression.shape
    places = [(i, j) for i in range(rows) for j in range(columns)]
    return "\n".join(
        f"{name}[{i + 1}{f', {j + 1}' if columns > 1 else ''}] = {sympy.sstr(expression[i, j], full_prec=False)}"
        for i, j in places
    )


def to_latex(name: str, expression: Any, symbol_names: dict[Any, str]) -> str:
    """Write `name = expression` in LaTeX."""
    import sympy

    body = sympy.latex(expression, symbol_names=symbol_names, full_prec=False, mat_str="matrix", mat_delim="[")
    return f"{name} = {body}"
