"""Small dense quadratic programs: an adapter to the solver DAQP; every solution is verified."""

from kinodyn.qp.result import QPResult
from kinodyn.qp.solver import QP, solve

__all__ = ["QP", "QPResult", "solve"]


def __dir__() -> list[str]:
    return list(__all__)
