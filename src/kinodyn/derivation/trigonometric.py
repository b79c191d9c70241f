"""Sums of cosines and sines in normal form: the exact algebra on which `lagrange` is built.

Every product of sines and cosines is immediately written as a sum, cos a cos b = (cos(a - b) + cos(a + b)) / 2 and so
on. Two sums are then equal only if their terms are: terms that cancel vanish, and nothing is left to simplify.
Coefficients are fractions; other symbols, such as the position of a sliding joint or a mass, are factors of a term.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

HALF = Fraction(1, 2)
Wave = tuple[Fraction | int, ...]


class Term(NamedTuple):
    """The factor of a coefficient: symbols by name, sorted, and the cosine or sine of the sum of wave[j] * q[j]."""

    factors: tuple[str, ...]
    wave: Wave
    sine: bool


class TrigSum:
    """A sum of terms with their coefficients, none of which is zero."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Term, Fraction]) -> None:
        self.terms = terms

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrigSum) and self.terms == other.terms

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: TrigSum) -> TrigSum:
        if not self.terms or not other.terms:
            return self if self.terms else other
        terms = dict(self.terms)
        for term, coefficient in other.terms.items():
            _put(terms, term, coefficient)
        return TrigSum(terms)

    def __neg__(self) -> TrigSum:
        return self.times(-1)

    def __sub__(self, other: TrigSum) -> TrigSum:
        return self + -other

    def __mul__(self, other: TrigSum) -> TrigSum:
        terms: dict[Term, Fraction] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                _put_product(terms, left, right, a * b)
        return TrigSum(terms)

    def times(self, number: Fraction | int) -> TrigSum:
        """Multiply by a number."""
        if not number:
            return TrigSum({})
        return TrigSum({term: number * coefficient for term, coefficient in self.terms.items()})

    def with_factor(self, name: str) -> TrigSum:
        """Multiply by a symbol."""
        terms = self.terms.items()
        return TrigSum({Term(tuple(sorted((*t.factors, name))), t.wave, t.sine): number for t, number in terms})

    def derivative(self, j: int, name: str) -> TrigSum:
        """Differentiate with respect to coordinate j, which as a factor is called `name`."""
        terms: dict[Term, Fraction] = {}
        for (factors, wave, sine), coefficient in self.terms.items():
            if wave[j]:
                slope = wave[j] if sine else -wave[j]
                _put(terms, Term(factors, wave, not sine), slope * coefficient)
            if power := factors.count(name):
                place = factors.index(name)
                _put(terms, Term(factors[:place] + factors[place + 1 :], wave, sine), power * coefficient)
        return TrigSum(terms)


def constant(value: Fraction | int, size: int, *factors: str) -> TrigSum:
    """Make the product of a number and symbols, for `size` coordinates."""
    return TrigSum({Term(tuple(sorted(factors)), (0,) * size, False): Fraction(value)} if value else {})


def cosine_and_sine(j: int, scale: Fraction, size: int) -> tuple[TrigSum, TrigSum]:
    """Make cos(scale * q[j]) and sin(scale * q[j])."""
    wave: list[Fraction | int] = [0] * size
    wave[j] = int(abs(scale)) if scale.denominator == 1 else abs(scale)
    cosine = TrigSum({Term((), tuple(wave), False): Fraction(1)})
    sine = TrigSum({Term((), tuple(wave), True): Fraction(1 if scale > 0 else -1)})
    return cosine, sine


def total(parts: Iterable[TrigSum], size: int) -> TrigSum:
    """Return the sum."""
    result = constant(0, size)
    for part in parts:
        result = result + part
    return result


def _put(terms: dict[Term, Fraction], term: Term, coefficient: Fraction) -> None:
    new = terms.get(term, 0) + coefficient
    if new:
        terms[term] = Fraction(new)
    else:
        terms.pop(term, None)


def _put_product(terms: dict[Term, Fraction], left: Term, right: Term, coefficient: Fraction) -> None:
    factors = tuple(sorted(left.factors + right.factors)) if left.factors and right.factors else left[0] or right[0]
    if not any(left.wave) or not any(right.wave):  # one is constant: the product has one term
        wave = left.wave if any(left.wave) else right.wave
        _put(terms, Term(factors, wave, left.sine or right.sine), coefficient)
        return
    coefficient = coefficient * HALF
    plus = tuple(a + b for a, b in zip(left.wave, right.wave, strict=True))
    minus = tuple(a - b for a, b in zip(left.wave, right.wave, strict=True))
    sine = left.sine != right.sine
    _put_wave(terms, factors, plus, sine, -coefficient if left.sine and right.sine else coefficient)
    _put_wave(terms, factors, minus, sine, -coefficient if right.sine and not left.sine else coefficient)


def _put_wave(terms: dict[Term, Fraction], factors: tuple[str, ...], wave: Wave, sine: bool, value: Fraction) -> None:
    """Add a term in normal form: the first coefficient of its wave is positive."""
    lead = next((k for k in wave if k), 0)
    if lead == 0 and sine:
        return
    if lead < 0:
        wave, value = tuple(-k for k in wave), -value if sine else value
    _put(terms, Term(factors, wave, sine), value)
