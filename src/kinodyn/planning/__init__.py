"""Motion planning around obstacles."""

from kinodyn.planning.ompl import ompl_planners, plan_with_ompl

__all__ = ["ompl_planners", "plan_with_ompl"]


def __dir__() -> list[str]:
    return list(__all__)
