"""Every example in a docstring runs and prints what it shows."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re

import pytest

import kinodyn

from .read_only_arrays import read_only_arrays

# modules that are imported only where an extra is installed: the package that they need
NEEDED = {
    "kinodyn.interop.jax.operators": "jax",
    "kinodyn.interop.jax.xla_call": "jax",
    "kinodyn.interop.torch.operators": "torch",
}
FOUND = [module.name for module in pkgutil.walk_packages(kinodyn.__path__, "kinodyn.")]
MODULES = ["kinodyn", *(name for name in FOUND if name not in NEEDED or importlib.util.find_spec(NEEDED[name]))]


def examples(name: str) -> list[doctest.DocTest]:
    """Find the docstrings of a module that contain examples."""
    found = doctest.DocTestFinder().find(importlib.import_module(name))
    return [test for test in found if test.examples]


WITH_EXAMPLES = [name for name in MODULES if examples(name)]


def test_the_main_modules_have_examples() -> None:
    assert {"kinodyn", "kinodyn.kinematics.frames", "kinodyn.model.robot", "kinodyn.model.state"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_run(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    read_only: list[str] = []
    for test in examples(name):
        runner.run(test, clear_globs=False)
        made = {key: value for key, value in test.globs.items() if key not in vars(importlib.import_module(name))}
        read_only += [place for key, value in made.items() for place in read_only_arrays(value, key)]
    assert runner.summarize(verbose=False).failed == 0
    assert not read_only, "compiled functions of other libraries, such as SciPy's, do not accept read-only arrays"


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_after_a_list_of_parameters_have_a_heading(name: str) -> None:
    """Without a heading Sphinx would treat them as parameters."""
    for test in examples(name):
        before = (test.docstring or "").partition(">>>")[0]
        headings = re.findall(r"^ *(\w+)\n *-{3,}$", before, re.MULTILINE)
        assert not headings or headings[-1] in ("Example", "Examples"), test.name
