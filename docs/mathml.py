"""Convert the formulas of the pages from LaTeX to MathML when the site is built.

Browsers render MathML without scripts or external files. A formula that cannot be converted is an error in `make docs`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree.ElementTree import Element, ParseError, fromstring, tostring

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2, "msubsup": 3, "munderover": 3}
TABLES = {"array", "cases", "split", "matrix", "bmatrix", "pmatrix"}
TAGS = {"⟂": "mo", "±": "mo", "⊤": "mi", "min": "mi", "max": "mi"}  # corrections of tags chosen by the converter

logger = logging.getLogger(__name__)


def mathml(latex: str, *, block: bool = False) -> str:
    """Convert a formula; raises ValueError with the reason if it is invalid."""
    bare = re.sub(r"\\[\\{}]", "", latex)
    if bare.count("{") != bare.count("}"):
        raise ValueError("unbalanced braces")
    if unknown := set(re.findall(r"\\begin{(.*?)}", latex)) - TABLES:
        raise ValueError(f"unknown environment {', '.join(unknown)}; supported are {', '.join(sorted(TABLES))}")
    try:
        tree = fromstring(convert(latex, xmlns="", display="block" if block else "inline"))
    except ParseError as error:
        raise ValueError("an & outside of a table") from error
    except Exception as error:  # the converter's exceptions have no common base class
        raise ValueError(f"{type(error).__name__} {error}".strip()) from error
    for element in tree.iter():
        _check(element)
        _adjust(element)
    return tostring(tree, encoding="unicode")


def _check(element: Element) -> None:
    """Reject what the converter accepts: unknown commands and missing arguments."""
    if "\\" in (element.text or ""):
        raise ValueError(f"unknown command {element.text}")
    if len(element) != PARTS.get(element.tag, len(element)):
        raise ValueError(f"{element.tag} has {len(element)} arguments instead of {PARTS[element.tag]}")


def _adjust(element: Element) -> None:
    """Adjust the layout: size of dots, width of thin spaces, spacing of unary minus signs."""
    if element.text in ("˙", "¨", "¯"):
        element.attrib |= {"scriptlevel": "+0", "stretchy": "false"}
    if element.get("width") == "thinmathspace":
        element.set("width", "0.167em")
    element.tag = TAGS.get(element.text or "", element.tag)
    for before, minus in pairwise(element):
        if minus.text == "−" and before.text in ("=", "≤", ",", "("):
            minus.set("form", "prefix")


def _visit(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write the MathML of a formula node."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = mathml(node.astext(), block=block)
    except ValueError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node, type="math")
        formula = translator.encode(node.astext())
    translator.body.append(f'<div class="formula">{formula}</div>\n' if block else formula)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, selected by `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", (_visit, None), (_visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
