"""Errors about an argument have one form: "X must be ..., got V"."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import kinodyn as kd

SOURCES = Path(kd.__file__).parent
VALUE_FIRST = re.compile(r"\b(is|are|has shape|have shape) \{\}; (give|it must|they must)\b")


def messages(file: Path) -> list[str]:
    """List the texts of raised errors, with {} for each value."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for argument in node.exc.args:
                parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
                found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts))
    return found


def test_messages_say_what_is_allowed_before_what_was_given() -> None:
    wrong = [
        f"{file.name}: {text}" for file in SOURCES.rglob("*.py") for text in messages(file) if VALUE_FIRST.search(text)
    ]
    assert not wrong


def test_the_pattern_finds_the_other_form() -> None:
    assert VALUE_FIRST.search("q has shape {}; give (..., 7)") and VALUE_FIRST.search("mass is {}; it must be positive")
    assert not VALUE_FIRST.search("q must have shape (..., 7), got {}")
