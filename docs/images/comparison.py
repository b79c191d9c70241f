"""Draw the figure of the page "Comparison" from its table: python docs/images/comparison.py."""

import re

from matplotlib.figure import Figure
from scene import HERE

COLOURS = {
    "kinodyn": "#1f77b4",
    "kinodyn, batch": "#17a2c6",
    "Pinocchio": "#ff9f43",
    "Pinocchio, batch": "#c96f0a",
    "MuJoCo": "#8d99ae",
}


def table() -> dict[str, dict[str, float]]:
    """Read the table of rigid-body dynamics from the page: microseconds by function and engine."""
    lines = (HERE.parent / "comparison.md").read_text(encoding="utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("| Talos, microseconds"))
    names = [cell.strip() for cell in lines[start].strip("|").split("|")][1:]
    found = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        what, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found[what] = {name: float(cell) for name, cell in zip(names, cells, strict=True) if re.match(r"[\d.]+$", cell)}
    return found


def main() -> None:
    """Draw bars on a logarithmic scale."""
    figures = table()
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots()
    height = 0.17
    for k, (engine, colour) in enumerate(COLOURS.items()):
        rows = [(n, values[engine]) for n, values in enumerate(figures.values()) if engine in values]
        places = [n + (k - 2) * height for n, _ in rows]
        bars = axes.barh(places, [value for _, value in rows], height, color=colour, label=engine)
        axes.bar_label(bars, fmt="%.3g", fontsize=7, padding=2)
    axes.set(yticks=range(len(figures)), xscale="log", xlabel="microseconds per state, one thread (shorter is faster)")
    axes.set_yticklabels(list(figures))
    axes.set_xlim(0.1, 120)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=9, loc="upper right")
    figure.savefig(HERE / "comparison.png", dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    main()
