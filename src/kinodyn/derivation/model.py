"""LagrangeModel: the equation of motion of a robot in symbols, to read, print and evaluate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.derivation.expressions import Compiled, Writer, to_latex, to_text
from kinodyn.derivation.trigonometric import TrigSum
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name

_TITLES = {
    "kinetic_energy": ("T", "T"),
    "potential_energy": ("V", "V"),
    "M": ("M", "M(q)"),
    "C": ("C", r"C(q, \dot q)"),
    "D": ("D", "D"),
    "g": ("g", "g(q)"),
}


@displayed
@dataclass(frozen=True, eq=False)
class LagrangeModel:
    """The equation of motion M qdd + C qd + D qd + g = tau as SymPy expressions. Made by `lagrange`.

    Attributes
    ----------
    joint_names : tuple of str
        The joint of each coordinate; a planar joint is listed three times.
    q, qd, qdd : tuples of symbols
        Coordinates q1, q2, ..., their rates and accelerations.
    M : (n, n) matrix
        Mass matrix, armature included.
    C : (n, n) matrix
        Coriolis matrix by Christoffel symbols: dM/dt - 2 C is skew symmetric.
    D : (n, n) matrix
        Damping of the joints, a diagonal matrix.
    g : (n, 1) matrix
        Generalised forces that balance gravity: the gradient of the potential energy.
    kinetic_energy, potential_energy : expressions
        T = qd . M qd / 2, and V, zero with the CoM at the origin of the world [J].
    parameters : dict of str to float
        Values of the symbols of the robot's constants; empty for `parameters="numbers"`.
    """

    joint_names: tuple[str, ...]
    q: tuple[Any, ...]
    qd: tuple[Any, ...]
    qdd: tuple[Any, ...]
    M: Any
    C: Any
    D: Any
    g: Any
    kinetic_energy: Any
    potential_energy: Any
    parameters: Mapping[str, float]
    _christoffel: Sequence[Sequence[Sequence[TrigSum]]] = field(repr=False)
    _writer: Writer = field(repr=False)
    _compiled: dict[str, Compiled] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"LagrangeModel(joints={self.joint_names}, parameters={tuple(self.parameters)})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_compiled": {}}  # compiled functions cannot be pickled

    def christoffel(self, i: int, j: int, k: int) -> Any:
        """Return the Christoffel symbol of the first kind (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.

        C_ij is the sum over k of these times qd_k (Siciliano, Sciavicco, Villani and Oriolo, "Robotics: Modelling,
        Planning and Control", 2009, chapter 7).

        Parameters
        ----------
        i, j, k : int
            Indices from 1 to n.

        Returns
        -------
        SymPy expression
        """
        n = len(self.q)
        if not all(isinstance(index, SupportsIndex) and 1 <= int(index) <= n for index in (i, j, k)):
            raise InputError(f"i, j, k must be integers from 1 to {n}, got {i!r}, {j!r}, {k!r}")
        return self._writer.expression(self._christoffel[i - 1][j - 1][k - 1])

    def tau(self) -> Any:
        """Return the generalised forces M qdd + C qd + D qd + g (n, 1) as expressions."""
        import sympy

        qd, qdd = sympy.Matrix(self.qd), sympy.Matrix(self.qdd)
        return sympy.ImmutableMatrix(self.M * qdd + self.C * qd + self.D * qd + self.g)

    def text(self) -> str:
        """Return the energies, M, C, D (if any) and g as lines of text, one for each entry."""
        return "\n".join(to_text(_TITLES[part][0], getattr(self, part)) for part in self._parts())

    def latex(self) -> str:
        """Return the same as LaTeX, one equation each, with dots for rates and subscripts."""
        names = {symbol: _latex_name(symbol.name) for symbol in self._symbols()}
        return "\n".join(to_latex(_TITLES[part][1], getattr(self, part), names) for part in self._parts())

    def code(self) -> str:
        """Return the source of a Python function tau(q, qd, qdd, ...): NumPy code with common terms computed once."""
        import sympy
        from sympy.printing.numpy import NumPyPrinter

        printer = NumPyPrinter()
        shared, results = sympy.cse(list(self.tau()), optimizations="basic")
        lines = ["import numpy", "", "", f"def tau({', '.join(['q', 'qd', 'qdd', *self.parameters])}):"]
        for name, symbols in (("q", self.q), ("qd", self.qd), ("qdd", self.qdd)):
            lines.append(f"    [{', '.join(symbol.name for symbol in symbols)}] = numpy.moveaxis({name}, -1, 0)")
        lines += [f"    {symbol} = {printer.doprint(value)}" for symbol, value in shared]
        lines += [f"    tau{i} = {printer.doprint(value)}" for i, value in enumerate(results, start=1)]
        returned = ", ".join(f"tau{i}" for i in range(1, len(results) + 1))
        return "\n".join([*lines, f"    return numpy.stack(numpy.broadcast_arrays({returned}), axis=-1)", ""])

    @check_types
    def mass_matrix(self, q: ArrayLike, *, parameters: Mapping[str, float] | None = None) -> Array:
        """Evaluate the mass matrix.

        Parameters
        ----------
        q : (..., n)
        parameters : mapping of str -> float, optional
            Other values of some of `self.parameters`.

        Returns
        -------
        (..., n, n)
        """
        return self._evaluate("M", (q,), parameters)

    @check_types
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, parameters: Mapping[str, float] | None = None) -> Array:
        """Evaluate the Coriolis matrix.

        Parameters
        ----------
        q, v : (..., n)
        parameters : mapping of str -> float, optional
            Other values of some of `self.parameters`.

        Returns
        -------
        (..., n, n)
        """
        return self._evaluate("C", (q, v), parameters)

    @check_types
    def gravity(self, q: ArrayLike, *, parameters: Mapping[str, float] | None = None) -> Array:
        """Evaluate the generalised forces of gravity.

        Parameters
        ----------
        q : (..., n)
        parameters : mapping of str -> float, optional
            Other values of some of `self.parameters`.

        Returns
        -------
        (..., n)
        """
        return self._evaluate("g", (q,), parameters)[..., 0]

    @check_types
    def inverse(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, parameters: Mapping[str, float] | None = None
    ) -> Array:
        """Evaluate the generalised forces for an acceleration, damping included.

        Parameters
        ----------
        q, v, a : (..., n)
        parameters : mapping of str -> float, optional
            Other values of some of `self.parameters`.

        Returns
        -------
        (..., n)
        """
        return self._evaluate("tau", (q, v, a), parameters)[..., 0]

    def _evaluate(self, part: str, arrays: tuple[ArrayLike, ...], parameters: Mapping[str, float] | None) -> Array:
        groups = (self.q, self.qd, self.qdd)[: len(arrays)]
        names = ("q", "v", "a")
        checked = [numbers(name, array, len(self.q)) for name, array in zip(names, arrays, strict=False)]
        if part not in self._compiled:
            expressions = self.tau() if part == "tau" else getattr(self, part)
            self._compiled[part] = Compiled([*groups, self._parameter_symbols()], expressions)
        return self._compiled[part](*checked, self._values(parameters or {}))

    def _values(self, changes: Mapping[str, float]) -> Array:
        for name in changes:
            if name not in self.parameters:
                raise unknown_name("parameter", name, self.parameters)
        values = np.array([changes.get(name, value) for name, value in self.parameters.items()], dtype=float)
        if not np.isfinite(values).all():
            raise InputError("a parameter is not finite")
        return values

    def _parts(self) -> list[str]:
        return [part for part in _TITLES if part != "D" or not self.D.is_zero_matrix]

    def _parameter_symbols(self) -> list[Any]:
        import sympy

        return [sympy.Symbol(name, real=True) for name in self.parameters]

    def _symbols(self) -> list[Any]:
        return [*self.q, *self.qd, *self.qdd, *self._parameter_symbols()]


def _latex_name(name: str) -> str:
    """Write qd1 as a q with a dot and the index 1, I2xx as I with the index 2 and xx."""
    match = re.fullmatch(r"(qdd|qd|[A-Za-z]+?)(\d*(?:_\d+)?)([xyz]*)", name)
    if match is None:
        return name
    letter, number, axes = match.groups()
    letter = {"qd": r"\dot{q}", "qdd": r"\ddot{q}"}.get(letter, letter)
    index = ",".join(part for part in (number.replace("_", ","), axes) if part)
    return f"{letter}_{{{index}}}" if index else letter
