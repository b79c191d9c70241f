"""The kernels of the compiled core, for each instruction set."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinodyn import _core

SOURCES = Path(__file__).parents[2] / "cpp" / "kernels"


def test_every_instruction_set_has_the_same_kernels():
    kernels = _core.kernels()
    assert set(kernels) == set(_core.instruction_sets())
    first = next(iter(kernels.values()))
    assert len(first) == len(set(first)) > 30
    for name, others in kernels.items():
        assert others == first, name


def test_every_kernel_file_registers_what_it_names():
    if not SOURCES.is_dir():
        pytest.skip("the sources of the core are not here")
    listed = "".join(path.read_text() for path in SOURCES.glob("*.cpp"))
    for name in next(iter(_core.kernels().values())):
        assert listed.count(f'{{"{name}", ') == 1, name


def test_every_kernel_has_a_function_in_the_module():
    for name in next(iter(_core.kernels().values())):
        assert callable(getattr(_core, name))
