"""Draw the pushes that the humanoid, Talos and G1 survive: python docs/images/pushes.py; hundreds of simulations.

Pushes on a robot that stands without a step grow by a quarter of the bound of the pendulum, others by half of it.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import kinodyn as kd
from kinodyn.walking import PushMap
from kinodyn.walking.plots import draw_pushes_on

STANDING: tuple[dict[str, Any], ...] = ({"resolution": 0.25}, {"resolution": 0.5, "stepping": True})
WALKING: dict[str, Any] = {"resolution": 0.5, "velocity": (0.3, 0.0, 0.0)}
EXPERIMENTS = {"humanoid": (*STANDING, WALKING), "talos": STANDING, "g1": STANDING}


def panels(maps: dict[str, list[PushMap]]) -> Figure:
    """Draw one panel for each robot."""
    figure = Figure(figsize=(4.6 * len(maps), 5.4), layout="constrained")
    axes = figure.subplots(1, len(maps), subplot_kw={"projection": "polar"}, squeeze=False)[0]
    for axis, (name, found) in zip(axes, maps.items(), strict=True):
        draw_pushes_on(axis, found)
        axis.set_title(name)
    figure.suptitle("pushes [N s], forward is up", fontsize="large")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", fontsize="small", ncols=4)
    return figure


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=None, help="parallel simulations; by default one per core")
    options = parser.parse_args()
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    maps = dict[str, list[PushMap]]()
    for name, experiments in EXPERIMENTS.items():
        robot = kd.load(name)
        maps[name] = [kd.walking.push_map(robot, 8, processes=options.processes, **own) for own in experiments]
        print(*maps[name], sep="\n", flush=True)
    panels(maps).savefig(Path(__file__).parent / "pushes.png", dpi=80)


if __name__ == "__main__":
    main()
