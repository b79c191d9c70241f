"""Draw the data flow for the page "Architecture": python docs/images/architecture.py."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

# Packages in the order of their imports; tests/test_architecture.py compares them with the source.
COLUMNS: tuple[tuple[str, ...], ...] = (
    ("spatial", "description", "qp"),
    ("model",),
    ("kinematics", "dynamics", "collision"),
    ("derivation", "identification", "tasks", "limits"),
    ("ik", "trajectory"),
    ("control", "balance"),
    ("rosmsgs", "recording", "terrain", "sim"),
    ("planning", "estimation", "walking", "retarget"),
    ("jobs", "interop", "report", "viewer", "cli"),
)
NOTES = {
    "description": "URDF, MJCF, DH",
    "model": "Robot, State",
    "dynamics": "centroidal, contact",
    "ik": "analytic, numeric,\nwhole body",
    "sim": "native, MuJoCo",
    "rosmsgs": "messages of ROS 2",
    "recording": "states over time",
    "retarget": "human motion",
    "jobs": "shards",
    "interop": "MoveIt, ROS 2,\nPyTorch, JAX",
}
CORE = (1, 8)  # columns whose arithmetic is in the C++ core
FILLS = ("#f1f3f7", "#dbe7f7", "#c9dcf5", "#c9dcf5", "#b4cff1", "#9fc1ec", "#93b9ea", "#86b0e6", "#f6d7b0")
WIDTH, HEIGHT, GAP = 1.5, 0.72, 0.42
EDGE, CORE_COLOUR = "#4a6fa5", "#b2560d"


def main() -> None:
    """Draw the columns, and an arrow from each to the next."""
    figure = Figure(figsize=(14, 4.0), layout="constrained")
    axes = figure.subplots()
    for k, (names, fill) in enumerate(zip(COLUMNS, FILLS, strict=True)):
        x = k * (WIDTH + GAP)
        for n, name in enumerate(names):
            y = 0.95 * (0.5 * (len(names) - 1) - n)
            box = FancyBboxPatch((x, y - HEIGHT / 2), WIDTH, HEIGHT, boxstyle="round,pad=0.03", fc=fill, ec=EDGE)
            axes.add_patch(box)
            note = NOTES.get(name, "")
            axes.text(x + WIDTH / 2, y + (0.14 if note else 0.0), name, ha="center", va="center", fontsize=10)
            axes.text(x + WIDTH / 2, y - 0.14, note, ha="center", va="center", fontsize=7.5, color="#44546a")
        if k:
            style = {"arrowstyle": "-|>", "lw": 1.8, "color": EDGE, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (x - 0.06, 0.0), (x - GAP + 0.06, 0.0), arrowprops=style)
    first, last = (k * (WIDTH + GAP) for k in CORE)
    axes.plot([first, last - GAP], [-2.55, -2.55], color=CORE_COLOUR, lw=3, solid_capstyle="round")
    text = "numerical kernels in the C++ core"
    axes.text(0.5 * (first + last - GAP), -2.64, text, color="#7a3a06", fontsize=9.5, ha="center", va="top")
    axes.set(xlim=(-0.1, len(COLUMNS) * (WIDTH + GAP) - GAP + 0.1), ylim=(-2.95, 2.4), aspect="equal")
    axes.set_axis_off()
    figure.savefig(Path(__file__).parent / "architecture.png", dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    main()
