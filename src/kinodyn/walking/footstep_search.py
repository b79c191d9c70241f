"""Footsteps over a terrain to a goal, by anytime weighted A* in the core."""

from __future__ import annotations

import time as clock
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import layout, record
from kinodyn.terrain.footholds import STATUS, SoleOutline, footholds, grid_record
from kinodyn.terrain.height_map import HeightMap
from kinodyn.walking.biped import SIDES, Biped
from kinodyn.walking.footsteps import Footstep, both_feet, standing_feet, wrap
from kinodyn.walking.reachability import connected
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.terrain_limits import TerrainLimits

SPACING = 0.02  # [m] of the lattice, nearly: the nominal width is a multiple of it
YAWS = 16  # headings of the lattice in a full turn
OBSTACLE_CELL = 0.04  # [m] cells of the maps of obstacles
LEVEL_RANGE, LEVEL_CELL = 1.0, 3.0  # [m] around a goal, and cells in units of the lattice, of the costs on level ground
COSTS = {"step": 1.0, "length": 1.0, "width": 3.0, "height": 2.0, "support": 1.0, "slope": 1.0, "turn": 2.0}
WEIGHTS = (3.0, 2.0, 1.5)  # of the heuristic
EFFORT, MAX_EFFORT = 50_000, 5_000_000  # entries of the queue for improvements, and for the first path
MAX_STATES = 4_000_000
GOAL_TOLERANCE = 0.1  # [m] by which a goal may be moved to where both feet are supported


@displayed
@dataclass(frozen=True, eq=False)
class FootstepPlan:
    """Footsteps over a terrain.

    Attributes
    ----------
    status : str
        "solved"; "unreachable"; or "budget": the effort was spent before a path was found.
    reason : str
        Why there is no path.
    start : dict of side -> Footstep
        Both feet at the beginning.
    steps : tuple of Footstep
        With height and inclination of the soles.
    goal : (3,)
        x, y and yaw of the centre between the soles at the end; moved by at most 10 cm to where the feet are supported.
    cost : float
        In units of a step; a level step straight ahead costs 1, and 1 for each metre.
    weight : float
        The cost is at most this multiple of the least one on the lattice, as far as the heuristic is a lower bound.
    expanded, states : int
        States of the search that were expanded, and that were visited.
    seconds : float
        Computation time [s].
    """

    status: str
    reason: str
    start: dict[str, Footstep]
    steps: tuple[Footstep, ...]
    goal: Array
    cost: float
    weight: float
    expanded: int
    states: int
    seconds: float

    @property
    def success(self) -> bool:
        """Whether the steps lead to the goal."""
        return self.status == "solved"


def lattice_spacing(limits: StepLimits) -> float:
    """Return the distance of the points of the lattice [m]: about 2 cm, and a fraction of the nominal width."""
    return limits.width / max(1, round(limits.width / SPACING))


def step_actions(limits: StepLimits, spacing: float) -> Array:
    """List the steps x, y, yaw (n, 3) of the left foot from the right one that a search tries, before rounding.

    Straight steps at nearly the nominal width are listed finely, as small footholds need; all others coarsely.
    """
    x = np.arange(-int(limits.backward / spacing + 1e-9), int(limits.forward / spacing + 1e-9) + 1)
    y = np.arange(int(np.ceil(limits.min_width / spacing - 1e-9)), int(limits.max_width / spacing + 1e-9) + 1)
    turn = 2.0 * np.pi / YAWS
    k = int(max(limits.outward, limits.inward) / turn + 1e-9)
    i, j, n = (axis.ravel() for axis in np.meshgrid(x, y, np.arange(-k, k + 1), indexing="ij"))
    aside = j - round(limits.width / spacing)
    fine = (n == 0) & (np.abs(aside) <= 1)
    rows = np.column_stack([i * spacing, j * spacing, n * turn])
    rows = rows[fine | ((aside % 3 == 0) & (i % 3 == 0))]
    result: Array = rows[limits.excess("left", rows) <= 1e-9]
    return result


@lru_cache(maxsize=32)
def level_costs(limits: StepLimits, spacing: float) -> tuple[Array, float]:
    """Compute the costs of footsteps to a goal on level ground, for the heuristic of a search.

    Parameters
    ----------
    limits
    spacing
        Of the lattice [m].

    Returns
    -------
    table : (2 n n, yaws)
        By foot that has landed last, position and heading of the body around the goal.
    per_metre : float
        Cost of a metre of the fastest walk.
    """
    count = 2 * int(LEVEL_RANGE / (LEVEL_CELL * spacing)) + 1
    own, costs = record("step_limits", asdict(limits)), record("step_costs", COSTS)
    table = _core.footstep_costs(own, costs, step_actions(limits, spacing), count, YAWS, LEVEL_CELL * spacing)
    return table, COSTS["step"] / limits.forward + COSTS["length"]


@check_types
def plan_footsteps(
    body: Biped,
    ground: HeightMap,
    goal: ArrayLike,
    *,
    limits: StepLimits | None = None,
    terrain_limits: TerrainLimits | None = None,
    start: dict[str, Footstep] | None = None,
    effort: int = EFFORT,
    optimal: bool = False,
) -> FootstepPlan:
    """Plan footsteps over a terrain to a goal: on patches that support the soles, around obstacles and holes.

    Parameters
    ----------
    body
    ground
        Map of the terrain.
    goal
        x, y [m] and yaw [rad] of the centre between the soles (3,).
    limits
        Of steps on level ground, by default derived from the robot.
    terrain_limits
        Heights and footholds, by default derived from the robot.
    start
        Both feet at the beginning, side -> Footstep; by default the stance at the origin.
    effort
        Entries of the queue, about a microsecond each, up to which the first path is improved. Entries, not seconds:
        plans do not depend on the load of the machine.
    optimal
        Whether to search for the cheapest path on the lattice, however long that takes.

    Returns
    -------
    FootstepPlan

    Notes
    -----
    M. Likhachev, G. Gordon, S. Thrun, "ARA*: anytime A* with provable bounds on sub-optimality", 2003; A. Hornung et
    al., "Anytime search-based footstep planning with suboptimality bounds", 2012.

    Examples
    --------
    >>> import kinodyn as kd
    >>> body = kd.walking.Biped.from_robot(kd.load("humanoid"))
    >>> ground = kd.terrain.stairs(0.1, 0.3, 3).map()
    >>> plan = kd.walking.plan_footsteps(body, ground, (1.8, 0.0, 0.0))
    >>> plan.status, round(plan.steps[-1].z, 3)
    ('solved', 0.3)
    """
    begin = clock.perf_counter()
    own = limits or StepLimits.from_robot(body)
    heights = terrain_limits or TerrainLimits.from_robot(body, own)
    target, budget = vector("goal", goal, 3), integer("effort", effort, 1)
    problem = _Problem(body, ground, own, heights, start)
    reason, target = problem.checked_goal(target)
    if reason:
        return problem.without_steps("unreachable", reason, target, clock.perf_counter() - begin)
    if not problem.connected(target):
        return problem.without_steps("unreachable", problem.obstruction(target), target, clock.perf_counter() - begin)
    found = problem.search(target, budget, optimal)
    seconds = clock.perf_counter() - begin
    effort_spent = (found.expanded, found.states)
    if len(found.steps) == 0:
        if not found.exhausted:
            reason = f"{problem.no_footsteps(target)} were found in {MAX_EFFORT} entries of the queue"
            return problem.without_steps("budget", reason, target, seconds, *effort_spent)
        return problem.without_steps("unreachable", problem.obstruction(target), target, seconds, *effort_spent)
    return FootstepPlan(
        status="solved",
        reason="",
        start=problem.start,
        steps=_footsteps(found.steps, problem.start["left"].yaw),
        goal=target,
        cost=found.cost,
        weight=found.weight,
        expanded=found.expanded,
        states=found.states,
        seconds=seconds,
    )


def _footsteps(steps: np.ndarray, yaw: float) -> tuple[Footstep, ...]:
    """Convert records of the core; headings are continuous over full turns, beginning at `yaw`."""
    result = []
    for x, y, heading, z, rise_x, rise_y, side in steps[["x", "y", "yaw", "z", "gx", "gy", "side"]].tolist():
        yaw += wrap(heading - yaw)
        result.append(Footstep(SIDES[side], x, y, yaw, z, (rise_x, rise_y)))
    return tuple(result)


def _records(feet: dict[str, Footstep]) -> np.ndarray:
    """Return both feet as records of the core."""
    result = np.zeros(len(SIDES), dtype=layout("footstep"))
    for field in ("x", "y", "yaw", "z"):
        result[field] = [getattr(feet[side], field) for side in SIDES]
    result["gx"], result["gy"] = np.transpose([feet[side].gradient for side in SIDES])
    result["side"] = range(len(SIDES))
    return result


class _Problem:
    """A search with its maps and points."""

    def __init__(
        self,
        body: Biped,
        ground: HeightMap,
        limits: StepLimits,
        heights: TerrainLimits,
        start: dict[str, Footstep] | None,
    ) -> None:
        self.body, self.ground, self.limits, self.heights = body, ground, limits, heights
        self.soles = {
            side: SoleOutline(foot.corners, foot.middle, margin=heights.rules.margin)
            for side, foot in body.feet.items()
        }
        self.start = self._on_ground(standing_feet(body) if start is None else both_feet(start))

    def _on_ground(self, feet: dict[str, Footstep]) -> dict[str, Footstep]:
        placed = {}
        for side in SIDES:
            foot = feet[side]
            found = footholds(self.ground, self.soles[side], (foot.x, foot.y, foot.yaw), self.heights.rules)
            if not found.supported:
                raise InputError(
                    f"the {side} foot cannot stand at its start, x={foot.x:.3g}, y={foot.y:.3g} m: "
                    f"{STATUS[int(found.code)]}"
                )
            rise_x, rise_y = found.gradient.tolist()
            placed[side] = replace(foot, z=float(found.height), gradient=(rise_x, rise_y))
        return placed

    def checked_goal(self, goal: Array) -> tuple[str, Array]:
        """Move a goal to the nearest place where both feet are supported; or return the reason why there is none."""
        if not self.ground.contains(goal[:2]):
            low, high = np.round(self.ground.region, 2).tolist()
            return f"the goal {np.round(goal[:2], 3).tolist()} is off the map, which is from {low} to {high} m", goal
        count = int(GOAL_TOLERANCE / SPACING)
        axis = SPACING * np.arange(-count, count + 1)
        shifts = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        shifts = shifts[np.argsort(np.hypot(*shifts.T), kind="stable")]
        shifts = shifts[np.hypot(*shifts.T) <= GOAL_TOLERANCE + 1e-9]
        good, reasons, height = np.ones(len(shifts), dtype=bool), {}, []
        for side, foot in standing_feet(self.body, goal).items():
            poses = np.column_stack([shifts + foot.position, np.full(len(shifts), foot.yaw)])
            found = footholds(self.ground, self.soles[side], poses, self.heights.rules)
            good &= found.supported
            if not found.supported[0]:
                reasons[side] = STATUS[int(found.code[0])]
            height.append(found.height)
        good &= np.abs(height[0] - height[1]) <= self.heights.max_rise
        if not good.any():
            where = np.round(goal[:2], 3).tolist()
            why = ", ".join(f"{side} foot: {reason}" for side, reason in reasons.items())
            return f"no ground supports both feet within {GOAL_TOLERANCE:g} m of the goal {where} ({why})", goal
        return "", goal + [*shifts[int(good.argmax())], 0.0]

    def connected(self, goal: Array) -> bool:
        """Return whether ground within the reach of single steps may connect start and goal."""
        longest = float(np.hypot(*step_actions(self.limits, lattice_spacing(self.limits))[:, :2].T).max())
        length, width = sorted((float(size) for size in self.body.left.size), reverse=True)
        # a disc of the width of a sole is more of it than may lack support: there is ground below the disc
        overhang = 0.5 * (width if 0.25 * np.pi * width / length > 1.0 - self.heights.rules.min_support else length)
        start = 0.5 * (self.start["left"].position + self.start["right"].position)
        return connected(
            self.ground,
            start,
            np.asarray(goal[:2]),
            reach=longest + 2.0 * overhang,
            max_rise=self.heights.max_rise,
            passage=width + 2.0 * self.heights.rules.margin,
        )

    def search(self, goal: Array, budget: float, optimal: bool) -> _core.FootstepPath:
        """Run the search in the core."""
        factor = max(1, round(OBSTACLE_CELL / self.ground.cell))
        coarse = self.ground.coarser(factor)
        foot = 0.5 * float(min(self.body.left.size))
        spacing = lattice_spacing(self.limits)
        limits, heights = self.limits, self.heights
        level, per_metre = level_costs(limits, spacing)
        settings = {
            "max_rise": heights.max_rise,
            "obstacle": heights.obstacle,
            "spacing": spacing,
            "effort": budget,
            "max_effort": np.inf if optimal else MAX_EFFORT,
            "yaws": YAWS,
            "max_states": MAX_STATES,
            "guided": not optimal,
            "level_cell": LEVEL_CELL * spacing,
            "per_metre": per_metre,
        }
        return _core.footstep_search(
            np.ascontiguousarray(self.ground.heights),
            grid_record(self.ground),
            np.ascontiguousarray(coarse.highest(heights.body_radius).heights),
            np.ascontiguousarray(coarse.highest(foot).heights),
            grid_record(coarse),
            [self.soles[side].inner for side in SIDES],
            [self.soles[side].outer for side in SIDES],
            np.array([self.soles[side].centre for side in SIDES]),
            heights.rules.record(),
            record("step_limits", asdict(limits)),
            record("step_costs", COSTS),
            record("footstep_search", settings),
            _records(self.start),
            _records(standing_feet(self.body, goal)),
            np.array([1.0] if optimal else WEIGHTS),
            step_actions(limits, spacing),
            level,
        )

    def obstruction(self, goal: Array) -> str:
        """Explain what separates start and goal, when the search has visited all that can be reached."""
        return f"{self.no_footsteps(goal)} exist: a gap, a step or an obstacle in between cannot be passed"

    def no_footsteps(self, goal: Array) -> str:
        """Begin a sentence about footsteps to a goal that do not exist or were not found, with their limits."""
        limits, heights = self.limits, self.heights
        step = float(np.hypot(limits.forward, limits.width))
        return (
            f"no footsteps to the goal {np.round(goal[:2], 3).tolist()} with steps of up to {limits.forward:.3g} m "
            f"({step:.3g} m from foot to foot), {heights.max_rise:.3g} m up or down and "
            f"{heights.rules.max_tilt_deg:g} degrees"
        )

    def without_steps(
        self, status: str, reason: str, goal: Array, seconds: float, expanded: int = 0, states: int = 0
    ) -> FootstepPlan:
        """Make a plan without steps."""
        return FootstepPlan(
            status=status,
            reason=reason,
            start=self.start,
            steps=(),
            goal=goal,
            cost=np.inf,
            weight=0.0,
            expanded=expanded,
            states=states,
            seconds=seconds,
        )
