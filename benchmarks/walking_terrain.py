"""The scenarios of `benchmarks/walking.py` over terrain: every one must succeed in 95 % of its runs."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

import kinodyn as kd
from walking_scenarios import Extra, Scenario

RANDOM = ("boxes", "field", "stones")  # terrains that change with the seed


def over(text: str, **options: Any) -> Extra:
    """Walk over a terrain."""

    def extra(body: kd.walking.Biped, rng: Generator) -> dict[str, Any]:
        seed = f",seed={rng.integers(10_000)}" if text.partition(":")[0] in RANDOM else ""
        return {"terrain": text + seed, **options}

    return extra


def scenario(name: str, text: str, robot: str = "humanoid", **options: Any) -> Scenario:
    """Make a scenario: the goal is straight ahead unless the walk is blind."""
    return Scenario(name, robot=robot, options={}, extra=over(text, **options), fraction=0.95, terrain=True)


TERRAIN = (
    scenario("stairs 18.5/24 cm up", "stairs:0.185,0.24,10", goal=(3.4, 0, 0)),
    scenario("stairs 18.5/24 cm down", "stairs:-0.185,0.24,10", goal=(3.4, 0, 0)),
    scenario("stairs 10/28 cm up", "stairs:0.1,0.28,10", goal=(3.8, 0, 0)),
    scenario("stairs 10/28 cm down", "stairs:-0.1,0.28,10", goal=(3.8, 0, 0)),
    scenario("talos, 10/30 cm up", "stairs:0.1,0.3,10", "talos", goal=(4.0, 0, 0)),
    scenario("talos, 10/30 cm down", "stairs:-0.1,0.3,10", "talos", goal=(4.0, 0, 0)),
    scenario("g1, 8/30 cm up", "stairs:0.08,0.3,10", "g1", goal=(4.0, 0, 0)),
    scenario("g1, 8/30 cm down", "stairs:-0.08,0.3,10", "g1", goal=(4.0, 0, 0)),
    scenario("10 degrees up", "slope:10", goal=(4.0, 0, 0)),
    scenario("10 degrees down", "slope:-10", goal=(4.0, 0, 0)),
    scenario("10 degrees across", "slope:10,across", goal=(4.0, 0, 0)),
    scenario("stones, 10 cm gaps", "stones:0.3,0.1", goal=(3.3, 0, 0)),
    scenario("boxes of 8 cm", "boxes:0.08", goal=(3.8, 0, 0)),
    scenario("boxes of 8 cm, noisy", "boxes:0.08", goal=(3.8, 0, 0), map="noisy"),
    scenario("10 degrees up, noisy", "slope:10", goal=(4.0, 0, 0), map="noisy"),
    scenario("field of 5 cm, blind", "field:0.05", map="blind", distance=4.0),
    scenario("3 cm up, blind", "stairs:0.03,1.0,1", map="blind", distance=2.0),
    scenario("3 cm down, blind", "stairs:-0.03,1.0,1", map="blind", distance=2.0),
)
