"""Collisions of the start and the goal of a path: which parts, how deep, and whether that is certain."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kinodyn.arrays import Array
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query
from kinodyn.planning.result import Status

MAX_LISTED = 3  # pairs that are named


class Collision(NamedTuple):
    """Parts that collide, and whether this is certain: not if spheres touch without time for an exact check."""

    parts: str
    is_certain: bool

    def outcome(self, end: Literal["start", "goal"]) -> tuple[Status, str]:
        """Return the status and the message of a plan whose start or goal collides."""
        if self.is_certain:
            status: Status = "start_in_collision" if end == "start" else "goal_in_collision"
            return status, f"the {end} collides: {self.parts}"
        return "no_path", f"no time is left to check the exact shapes at the {end}: {self.parts} touch"


def collision_at(query: Query, checks: ExactChecks | None, q: Array) -> Collision | None:
    """Return which parts collide at a configuration (nq,), None if none do.

    Parameters
    ----------
    query
        Checks of all parts on spheres.
    checks
        Checks on the exact shapes, None where coal is not installed: the spheres decide then.
    q
        The configuration.
    """
    if query.free(q):
        return None
    if checks is None or not checks.can_decide(q):
        return Collision(_listed([f"spheres of {a} and {b}" for a, b in query.touching(q)]), checks is None)
    depths = checks.colliding(q).items()
    parts = [f"{a} with {b}, {1e3 * depth:.3g} mm deep" for (a, b), depth in depths]
    return Collision(_listed(parts), True) if parts else None


def _listed(parts: list[str]) -> str:
    return "; ".join(parts[:MAX_LISTED]) + (f" and {len(parts) - MAX_LISTED} more" if len(parts) > MAX_LISTED else "")
