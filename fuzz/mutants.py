"""Mutation testing: change one operator or number of the source at a time and see whether the tests notice.

`python -m fuzz.mutants src/kinodyn/spatial --tests tests/spatial --count 100` tries a hundred mutants, at random.
A mutant survives if all tests pass; each one is printed with its line. Tests run in forked children of one process that
has imported the test tools; a mutant takes as long as its tests until the first failure. One whose tests take more than
five times their CPU time counts as noticed: it does not end.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Pow: ast.Mult,
}


class Sites(ast.NodeVisitor):
    """Collects the nodes that can be changed; annotations, messages of errors and docstrings are left alone."""

    def __init__(self) -> None:
        self.nodes: list[ast.AST] = []

    def visit(self, node: ast.AST) -> None:
        """Visit the parts of a node that are computed."""
        if isinstance(node, ast.Raise):
            return
        if isinstance(node, ast.arg):
            return
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if self._changes(node):
            self.nodes.append(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    self.visit(part)

    @staticmethod
    def _changes(node: ast.AST) -> bool:
        if isinstance(node, ast.Compare):
            return type(node.ops[0]) in COMPARISONS
        if isinstance(node, ast.BinOp | ast.AugAssign):
            return type(node.op) in OPERATORS
        if isinstance(node, ast.Constant):
            return type(node.value) in (int, float, bool)
        return isinstance(node, ast.BoolOp | ast.IfExp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not)
        )


def change(node: Any) -> str:
    """Change a node in place and return a description."""
    before = ast.unparse(node)
    if isinstance(node, ast.Compare):
        node.ops[0] = COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        node.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else _other(node.value)
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
    else:  # not x
        node.op = ast.Not()
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
    return f"{before}  ->  {ast.unparse(node)}"


def _other(value: float) -> float:
    return value + 1 if isinstance(value, int) else (2.0 * value if value else 1.0)


def mutants(file: Path) -> Iterator[tuple[int, str, CodeType]]:
    """Yield line, description and code of every mutant of a file."""
    tree = ast.parse(file.read_text())
    finder = Sites()
    finder.visit(tree)
    for k in range(len(finder.nodes)):
        changed = copy.deepcopy(tree)
        again = Sites()
        again.visit(changed)
        node = again.nodes[k]
        line = getattr(node, "lineno", 0)
        said = change(node)
        ast.fix_missing_locations(changed)
        yield line, said, compile(changed, str(file), "exec")


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from code that is given."""

    def __init__(self, module: str, file: Path, code: CodeType) -> None:
        self.module, self.file, self.code = module, file, code

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """Find the module, and no other one."""
        if name != self.module:
            return None
        package = self.file.name == "__init__.py"
        spec = importlib.machinery.ModuleSpec(name, self, origin=str(self.file), is_package=package)
        if package:
            spec.submodule_search_locations = [str(self.file.parent)]
        return spec

    def exec_module(self, module: Any) -> None:
        """Run the changed code."""
        module.__file__ = str(self.file)
        exec(self.code, module.__dict__)


def run_tests(loader: Loader | None, tests: list[str], seconds: float) -> tuple[bool, float]:
    """Run the tests in a child; return whether one failed, or all took too long, and the CPU time [s]."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        _run_tests(loader, tests)
    patience = time.monotonic() + 100.0 * seconds  # a child that waits for ever uses no CPU time
    done, status, used = os.wait4(child, os.WNOHANG)
    while not done:
        if time.monotonic() > patience:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
        done, status, used = os.wait4(child, os.WNOHANG)
    return status != 0, used.ru_utime + used.ru_stime


def _run_tests(loader: Loader | None, tests: list[str]) -> None:
    import pytest

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1), os.dup2(quiet, 2)
    if loader is not None:
        sys.meta_path.insert(0, loader)
    arguments = ["-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    os._exit(0 if pytest.main(arguments) == 0 else 1)


def main() -> int:
    """Try mutants of the files and print those that survive."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=__doc__)
    parser.add_argument("sources", type=Path, nargs="+", help="Python files or folders below src/")
    parser.add_argument("--tests", nargs="+", required=True, help="tests that should notice")
    parser.add_argument("--count", type=int, default=100, help="number of mutants, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    files = sorted(f for given in options.sources for f in ([given] if given.is_file() else given.rglob("*.py")))
    every = [(file, *mutant) for file in files for mutant in mutants(file)]
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
    import mujoco  # noqa: F401  (once, before the children are forked)
    import pytest  # noqa: F401
    import scipy.optimize  # noqa: F401
    import scipy.spatial.transform  # noqa: F401

    failed, seconds = run_tests(None, options.tests, 3600.0)
    if failed:
        print("the tests fail without a change")
        return 1
    print(f"{len(every)} mutants, {len(chosen)} tried, {seconds:.1f} s of CPU for all tests", flush=True)
    survived = 0
    for k, (file, line, said, code) in enumerate(chosen):
        parts = file.resolve().with_suffix("").parts
        module = ".".join(parts[parts.index("src") + 1 :]).removesuffix(".__init__")
        if not run_tests(Loader(module, file.resolve(), code), options.tests, 10.0 + 5.0 * seconds)[0]:
            survived += 1
            print(f"{k}: survived {file}:{line}: {said}", flush=True)
    print(f"killed {len(chosen) - survived} of {len(chosen)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
