"""Public names are there with `import kinodyn as kd` alone, loaded on first use; importing kinodyn is fast."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kinodyn as kd

HEAVY = ("scipy", "mujoco", "matplotlib", "viser", "sympy", "daqp", "ruckig", "toppra", "trimesh", "typer")


def run(code: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tab_completion_shows_the_public_names_of_the_root() -> None:
    assert sorted(name for name in dir(kd) if not name.startswith("__")) == sorted(kd.__all__)


@pytest.mark.parametrize("order", [1, -1])
def test_every_public_name_works_in_a_fresh_interpreter(order: int) -> None:
    """In both directions of the alphabet: no name depends on another one having been used before."""
    names = sorted(kd.__all__)[::order]
    assert run(f"import kinodyn as kd\nfor name in {names}: getattr(kd, name)\nprint('all')") == "all\n"


@pytest.mark.parametrize(
    "name", ["errors.KinodynError", "tasks.FrameTask", "limits.PositionLimit", "centroidal.momentum"]
)
def test_a_submodule_needs_no_import_of_its_own(name: str) -> None:
    assert run(f"import kinodyn as kd\nprint(kd.{name}.__name__)") == name.rpartition(".")[2] + "\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'kinematic'"):
        kd.kinematic  # noqa: B018


def test_importing_kinodyn_imports_nothing_heavy() -> None:
    loaded = run("import sys, kinodyn\nprint(*(name.partition('.')[0] for name in sys.modules))").split()
    assert not set(HEAVY) & set(loaded)
