"""Typeset the formulas of the pages while the site is built: LaTeX becomes MathML, which browsers draw by themselves.

Pages need no script and nothing from another host. A formula that does not convert is an error in `make docs`.
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
TAGS = {"⟂": "mo", "±": "mo", "⊤": "mi", "min": "mi", "max": "mi"}  # of what the converter takes for something else

logger = logging.getLogger(__name__)


def mathml(latex: str, *, block: bool = False) -> str:
    """Convert a formula; ValueError says what is wrong with it."""
    bare = re.sub(r"\\[\\{}]", "", latex)
    if bare.count("{") != bare.count("}"):
        raise ValueError("a brace has no partner")
    if unknown := set(re.findall(r"\\begin{(.*?)}", latex)) - TABLES:
        raise ValueError(f"no table is called {', '.join(unknown)}; take one of {', '.join(sorted(TABLES))}")
    try:
        tree = fromstring(convert(latex, xmlns="", display="block" if block else "inline"))
    except ParseError as error:
        raise ValueError("an & outside of a table") from error
    except Exception as error:  # the converter's own have no common root
        raise ValueError(f"{type(error).__name__} {error}".strip()) from error
    for element in tree.iter():
        _check(element)
        _mend(element)
    return tostring(tree, encoding="unicode")


def _check(element: Element) -> None:
    """Refuse what the converter lets pass: unknown commands, and parts that are missing."""
    if "\\" in (element.text or ""):
        raise ValueError(f"{element.text} is not known")
    if len(element) != PARTS.get(element.tag, len(element)):
        raise ValueError(f"{element.tag} has {len(element)} parts in place of {PARTS[element.tag]}")


def _mend(element: Element) -> None:
    """Make it good to read: dots large enough, thin spaces as wide as they should be, signs close to their number."""
    if element.text in ("˙", "¨", "¯"):
        element.attrib |= {"scriptlevel": "+0", "stretchy": "false"}
    if element.get("width") == "thinmathspace":
        element.set("width", "0.167em")
    element.tag = TAGS.get(element.text or "", element.tag)
    for before, minus in pairwise(element):
        if minus.text == "−" and before.text in ("=", "≤", ",", "("):
            minus.set("form", "prefix")


def _visit(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula in place of its node."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = mathml(node.astext(), block=block)
    except ValueError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node, type="math")
        formula = translator.encode(node.astext())
    translator.body.append(f'<div class="formula">{formula}</div>\n' if block else formula)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer; `html_math_renderer = "mathml"` chooses it."""
    app.add_html_math_renderer("mathml", (_visit, None), (_visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
