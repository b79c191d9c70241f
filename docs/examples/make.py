"""Run the examples and keep what they print and draw, for their pages; then write these.

python docs/examples/make.py          all of them, about two minutes
python docs/examples/make.py 06 24    these
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

WIDEST = 800  # of a picture [pixels]
COLOURS = 200  # enough for curves and maps, and a third of the bytes


def make(script: Path) -> None:
    """Run one example; its picture is made narrow and its colours few."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.png"
        done = subprocess.run(
            [sys.executable, "-W", "error", str(script), "--plot", str(picture)],
            cwd=folder,
            env=os.environ | {"COLUMNS": "120"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        with Image.open(picture) as drawn:
            small = drawn.convert("RGB")
    if small.width > WIDEST:
        small = small.resize((WIDEST, round(small.height * WIDEST / small.width)), Image.Resampling.LANCZOS)
    PICTURES.mkdir(exist_ok=True)
    OUTPUTS.mkdir(exist_ok=True)
    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # rare colours count too
    few.save(PICTURES / f"{script.stem}.png", optimize=True)
    lines = [line.rstrip() for line in done.stdout.replace(str(picture), "picture.png").splitlines()]
    (OUTPUTS / f"{script.stem}.txt").write_text("\n".join(lines).strip("\n") + "\n", encoding="utf-8")


def main() -> None:
    """Make the examples that are asked for, or all, and remove what belongs to none."""
    wanted = tuple(sys.argv[1:])
    scripts = sorted(SCRIPTS.glob("[0-9]*.py"))
    for script in scripts:
        if not wanted or script.name.startswith(wanted):
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
