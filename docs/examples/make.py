"""Run the examples, record their output and figures, and write their pages.

python docs/examples/make.py          all of them, some minutes
python docs/examples/make.py 06 24    only these
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pages import OUTPUTS, PICTURES, SCRIPTS, write
from PIL import Image

MAX_WIDTH = 800  # of a figure [pixels]
COLOURS = 200  # enough for curves and maps, at a third of the size


def make(script: Path) -> None:
    """Run one example and save its figure, reduced in width and colours."""
    with tempfile.TemporaryDirectory() as folder:
        figure = Path(folder) / "figure.png"
        done = subprocess.run(
            [sys.executable, "-W", "error", str(script), "--plot", str(figure)],
            cwd=folder,
            env=os.environ | {"COLUMNS": "120"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        with Image.open(figure) as drawn:
            small = drawn.convert("RGB")
    if small.width > MAX_WIDTH:
        small = small.resize((MAX_WIDTH, round(small.height * MAX_WIDTH / small.width)), Image.Resampling.LANCZOS)
    PICTURES.mkdir(exist_ok=True)
    OUTPUTS.mkdir(exist_ok=True)
    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # keeps rare colours
    few.save(PICTURES / f"{script.stem}.png", optimize=True)
    lines = [line.rstrip() for line in done.stdout.replace(str(figure), "figure.png").splitlines()]
    (OUTPUTS / f"{script.stem}.txt").write_text("\n".join(lines).strip("\n") + "\n", encoding="utf-8")


def main() -> None:
    """Run the selected examples, or all, and remove files of examples that no longer exist."""
    selected = tuple(sys.argv[1:])
    scripts = sorted(SCRIPTS.glob("[0-9]*.py"))
    for script in scripts:
        if not selected or script.name.startswith(selected):
            start = time.perf_counter()
            make(script)
            size = (PICTURES / f"{script.stem}.png").stat().st_size
            print(f"{script.name:32} {time.perf_counter() - start:5.1f} s {size / 1e3:5.0f} kB", flush=True)
    names = {script.stem for script in scripts}
    for kept in (*PICTURES.glob("*.png"), *OUTPUTS.glob("*.txt")):
        if kept.stem not in names:
            kept.unlink()
    write()


if __name__ == "__main__":
    main()
