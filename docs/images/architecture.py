"""Draw the way of the data for the page "Architecture": python docs/images/architecture.py."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

COLUMNS: tuple[tuple[str, ...], ...] = (
    ("URDF, MJCF, xacro,\nSRDF, DH tables,\nbundled robots",),
    ("Description", "Robot"),
    ("kinematics\nworkspace", "dynamics\ncentroidal", "State"),
    ("contact\nactuation", "tasks, limits", "derivation\nidentification"),
    ("ik", "trajectory", "balance"),
    ("control\nqp", "sim: native,\nMuJoCo", "Recording"),
    ("estimation", "walking"),
    ("report", "cli", "viewer"),
)
FILLS = ("#f1f3f7", "#dbe7f7", "#c9dcf5", "#c9dcf5", "#b4cff1", "#9fc1ec", "#86b0e6", "#f6d7b0")
WIDTH, HEIGHT, GAP = 1.5, 0.72, 0.42


def main() -> None:
    """Draw the columns, and an arrow from each to the next."""
    figure = Figure(figsize=(13, 3.3), layout="constrained")
    axes = figure.subplots()
    for k, (names, fill) in enumerate(zip(COLUMNS, FILLS, strict=True)):
        x = k * (WIDTH + GAP)
        for n, name in enumerate(names):
            y = 1.0 * (0.5 * (len(names) - 1) - n)
            height = 1.1 if k == 0 else HEIGHT
            box = FancyBboxPatch((x, y - height / 2), WIDTH, height, boxstyle="round,pad=0.03", fc=fill, ec="#4a6fa5")
            axes.add_patch(box)
            axes.text(x + WIDTH / 2, y, name, ha="center", va="center", fontsize=9.5 if k else 8.5)
        if k:
            style = {"arrowstyle": "-|>", "lw": 1.8, "color": "#4a6fa5", "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (x - 0.06, 0.0), (x - GAP + 0.06, 0.0), arrowprops=style)
    end = len(COLUMNS) * (WIDTH + GAP) - GAP
    axes.set(xlim=(-0.1, end + 0.1), ylim=(-1.75, 1.55), aspect="equal")
    axes.plot([WIDTH + GAP, 6 * (WIDTH + GAP) - GAP], [-1.5, -1.5], color="#b2560d", lw=3, solid_capstyle="round")
    axes.text(
        6 * (WIDTH + GAP) - GAP + 0.1,
        -1.5,
        "has its arithmetic in the C++ core",
        color="#7a3a06",
        fontsize=9.5,
        va="center",
    )
    axes.set_axis_off()
    figure.savefig(Path(__file__).parent / "architecture.png", dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    main()
