"""The code on the page "PyTorch and JAX" runs where both are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "pytorch_jax.md"


def test_the_code_on_the_page_runs_and_its_optimisation_reaches_the_target() -> None:
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    names: dict[str, object] = {}
    blocks = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    try:
        for block in blocks:
            exec(compile(block, str(PAGE), "exec"), names)
    finally:
        jax.config.update("jax_enable_x64", before)
    assert isinstance(names["miss"], torch.Tensor) and names["miss"].norm() < 0.02
    assert names["gradients"].shape == (1000, 7)  # type: ignore[attr-defined]
