"""Small dense quadratic programs: one adapter to the solver DAQP; an answer is verified before it is called solved."""

from kinodyn.qp.result import QPResult
from kinodyn.qp.solver import QP, solve

__all__ = ["QP", "QPResult", "solve"]


def __dir__() -> list[str]:
    return list(__all__)
