"""The command and the native task on the page "Extending" work as shown; `test_docs.py` runs the other examples."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.layouts import codes, layout
from kinodyn.model.compile import body_table, compile_tree, frame_table

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "extending.md"
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
# functions of other tasks that the library lacks are never called
LAZY = "-Wl,-undefined,dynamic_lookup" if sys.platform == "darwin" else "-Wl,-z,lazy"
FLAGS = (
    "-std=c++17",
    "-O0",
    "-shared",
    "-fPIC",
    "-fopenmp-simd",
    "-w",
    LAZY,
    "-DKINODYN_TARGET=example",
    "-DKINODYN_LANES=2",
)
SHARED = ("cpp/core/complete_model.cpp", "cpp/kernels/world.cpp", "cpp/kernels/rows.cpp")  # what kernels have in common


def blocks(language: str, *, indented: bool) -> list[str]:
    """Find the blocks of the page in a language, those in its lists or the others."""
    indent = "   " if indented else ""
    found = re.findall(
        rf"^{indent}```{language}\n(.*?)^{indent}```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return [textwrap.dedent(text) for text in found]


def test_the_command_on_the_page_runs(tmp_path: Path) -> None:
    """Run it in a process of its own: a command is registered for the whole process."""
    (code,) = blocks("py", indented=False)
    (tmp_path / "reach.py").write_text(code, encoding="utf-8")
    script = "import reach, sys; from kinodyn.cli import main; sys.exit(main(['reach', 'planar2r', '--json']))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert abs(json.loads(done.stdout)["result"]["reach"] - 2.0) < 1e-6


@pytest.fixture(scope="module")
def native_task(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Compile the kernel `task_rows` with the task of the page in its registry."""
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    folder = tmp_path_factory.mktemp("native")
    (folder / "tasks").mkdir()
    (folder / "tasks" / "height.hpp").write_text(blocks("cpp", indented=True)[0], encoding="utf-8")
    registry = (ROOT / "cpp" / "tasks" / "registry.hpp").read_text(encoding="utf-8")
    registry = registry.replace('#include "tasks/com.hpp"', '#include "tasks/com.hpp"\n#include "tasks/height.hpp"')
    registry = registry.replace("    ComTask, ", "    ComTask, HeightTask, ")
    (folder / "tasks" / "registry.hpp").write_text(registry, encoding="utf-8")
    library, sources = folder / "native.so", [Path(__file__).parent / "native_task.cpp", *SHARED]
    subprocess.run([COMPILER, *FLAGS, f"-I{folder}", "-Icpp", *sources, "-o", library], cwd=ROOT, check=True)
    return ctypes.CDLL(str(library), mode=os.RTLD_LAZY)


@pytest.fixture
def height_task(native_task: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the class of the page, which computes by that kernel."""
    fields = [(name, form, tuple(1 for _ in shape)) for name, form, shape in _core.layouts()["com"]]
    assert native_task.block_size() == len(fields)  # one number each

    def task_rows(robot: kd.Robot, q: Array, v: Array, entry: Array, numbers: Array, rows: int, output: int) -> Array:
        tree = compile_tree(robot.description)
        tables = body_table(tree.bodies), frame_table([tree.places[name] for name in robot.frame_names])
        result = np.zeros((rows, robot.nv) if output == codes("task_output")["jacobian"] else rows)
        arrays = [*tables, np.array(q, float), np.array(v, float), entry, np.array(numbers, float), result]
        sizes = [len(tables[0]), len(tables[1]), robot.nq, robot.nv, numbers.size, output]
        native_task.evaluate(*(array.ctypes.data_as(ctypes.c_void_p) for array in arrays), *sizes)
        return result

    kinds = {"height": list(codes("task_kind")).index("com") + 1}
    monkeypatch.setattr(
        "kinodyn.tasks.rows.layout", lambda name, **_: np.dtype(fields) if name == "height" else layout(name)
    )
    monkeypatch.setattr("kinodyn.tasks.rows.codes", lambda name: kinds if name == "task_kind" else codes(name))
    core = SimpleNamespace(layouts=lambda: {"height": fields}, task_rows=task_rows)
    monkeypatch.setattr("kinodyn.tasks.rows._core", core)
    names: dict[str, Any] = {}
    exec(blocks("py", indented=True)[0], names)
    return names["HeightTask"]


@pytest.mark.parametrize(("name", "frame"), [("panda", "panda_hand_tcp"), ("humanoid", "left_palm")])
def test_the_native_task_on_the_page_has_the_error_jacobian_and_drift_of_a_height(
    height_task: Any, name: str, frame: str
) -> None:
    robot = kd.load(name)
    q, v = robot.random(1, seed=2)[0], np.random.default_rng(0).normal(size=robot.nv)
    task = height_task(frame, [0.4])
    height = kd.kinematics.pose(robot, q, frame)[2, 3]
    np.testing.assert_allclose(task.error(robot, q), [0.4 - height], atol=1e-12)
    np.testing.assert_allclose(task.jacobian(robot, q)[0], kd.kinematics.jacobian(robot, q, frame)[2], atol=1e-12)
    np.testing.assert_allclose(
        task.drift(robot, q, v), (kd.kinematics.jacobian_dot(robot, q, v, frame) @ v)[2:3], atol=1e-10
    )
    np.testing.assert_allclose(task.measure(robot, q), [height], atol=1e-12)
