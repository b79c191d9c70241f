"""Draw the output of commands for the page "Command line": python docs/images/command_line.py."""

import os
import subprocess
import sys
from pathlib import Path

from matplotlib.figure import Figure

HERE = Path(__file__).parent
COMMANDS = ("kinodyn info ur5", "kinodyn fk humanoid --q standing --frame left_hand --frame right_hand")
WIDTH = 92


def printed(command: str) -> list[str]:
    """Run a command as in a terminal of WIDTH columns and return its output lines."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    words = [sys.executable, "-m", *command.split()]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return [line.rstrip() for line in done.stdout.rstrip().splitlines()]


def main() -> None:
    """Draw all commands below each other, light on dark."""
    lines: list[tuple[str, str]] = []
    for command in COMMANDS:
        lines += [(f"$ {command}", "#8fd18f"), *((line, "#e8e8e8") for line in printed(command)), ("", "#e8e8e8")]
    size = 9.5
    figure = Figure(figsize=(0.0088 * size * WIDTH + 0.3, 0.0185 * size * len(lines) + 0.2), facecolor="#1d2128")
    height = figure.get_figheight()
    for k, (line, colour) in enumerate(lines):
        y = 1.0 - (0.15 + 0.0185 * size * (k + 0.5)) / height
        figure.text(0.012, y, line, color=colour, family="DejaVu Sans Mono", fontsize=size, va="center")
    figure.savefig(HERE / "command_line.png", dpi=100, facecolor=figure.get_facecolor())


if __name__ == "__main__":
    main()
