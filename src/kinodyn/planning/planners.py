"""Planners by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kinodyn.errors import unknown_name
from kinodyn.planning.ompl import ompl_planners
from kinodyn.planning.ompl_search import search_with_ompl
from kinodyn.planning.prm import search_prm
from kinodyn.planning.search import Found, SearchProblem, search

PREFIX = "ompl:"


Search = Callable[[SearchProblem], Found]
NATIVE: dict[str, Search] = {"rrt_connect": search, "anytime": search, "prm": search_prm}


def search_named(planner: str | Search) -> Search:
    """Return the search of a planner.

    Parameters
    ----------
    planner
        A name of NATIVE, "ompl:" and the name of a planner of OMPL, or a search itself.
    """
    if not isinstance(planner, str):
        if not callable(planner):
            raise unknown_name("planner", planner, NATIVE)
        return planner
    if planner in NATIVE:
        return NATIVE[planner]
    if planner.startswith(PREFIX):
        name = planner[len(PREFIX) :]
        if name not in ompl_planners():
            raise unknown_name("planner of OMPL", name, ompl_planners())
        return partial(search_with_ompl, name)
    raise unknown_name("planner", planner, (*NATIVE, f"{PREFIX}RRTConnect", f"{PREFIX}BITstar"))
