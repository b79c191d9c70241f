"""Small dense quadratic programmes: the one door to the solver DAQP, with answers that are checked."""

from kinodyn.qp.quick import QuickResult, quick
from kinodyn.qp.solver import QP, QPResult, solve

__all__ = ["QP", "QPResult", "QuickResult", "quick", "solve"]
