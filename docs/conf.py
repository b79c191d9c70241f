"""Configuration of Sphinx: Markdown pages, and reference pages from docstrings."""

import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "examples")]
import pages  # noqa: E402

project = "kinodyn"
author = "The kinodyn authors"
html_title = "kinodyn"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "mathml"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["kinodyn.css", "gallery.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False

# `name` in a docstring is code, as in Markdown.
default_role = "code"
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("Array", "ArrayLike", "MatrixLike", "Prefer")}
python_maximum_signature_line_length = 88
myst_enable_extensions = ["colon_fence", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 3


def shorten_aliases(app, what, name, obj, options, signature, return_annotation):  # type: ignore[no-untyped-def]
    """Show type aliases by their names."""
    wrapped = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return tuple(text and wrapped.sub(r"\1", text) for text in (signature, return_annotation))


HIDDEN = "\N{MODIFIER LETTER COLON}"


def hide(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Hide colons that napoleon would take for type annotations; drop Python's text for fields of named tuples."""
    if what == "property":
        lines[:1] = [line.replace(":", HIDDEN) for line in lines[:1]]
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def show(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Restore the hidden colons."""
    lines[:] = [line.replace(HIDDEN, ":") for line in lines]


def setup(app):  # type: ignore[no-untyped-def]
    """Hook into Sphinx."""
    pages.write()
    app.connect("autodoc-process-signature", shorten_aliases)
    # napoleon has the priority 500
    app.connect("autodoc-process-docstring", hide, priority=400)
    app.connect("autodoc-process-docstring", show, priority=600)
