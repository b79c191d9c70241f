"""The command on the page "Extending" works as shown."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"


def test_the_command_on_the_page_runs(tmp_path: Path) -> None:
    """Run it in a process of its own: a command is registered for the whole process."""
    (code,) = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "reach.py").write_text(code, encoding="utf-8")
    script = "import reach, sys; from kinodyn.cli import main; sys.exit(main(['reach', 'planar2r', '--json']))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert abs(json.loads(done.stdout)["result"]["reach"] - 2.0) < 1e-6
