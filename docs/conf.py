"""Configuration of Sphinx: Markdown pages, and reference pages from docstrings."""

import inspect
import re
import sys
from operator import attrgetter
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
napoleon_use_param = False  # types are prose, such as "pose (4, 4)", whose words must not become links
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
    """Hide colons in descriptions of properties, which napoleon would take for type annotations."""
    if what == "property":
        lines[:1] = [line.replace(":", HIDDEN) for line in lines[:1]]


def show(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Restore the hidden colons; show the types of attributes as prose, whose words must not become links."""
    lines[:] = [re.sub(r"^( +):type: ", r"\1:Type: ", line.replace(HIDDEN, ":")) for line in lines]


def skip(app, what, name, obj, options, skipped):  # type: ignore[no-untyped-def]
    """Leave out what the section Attributes of a class describes: fields of named tuples, some properties."""
    if type(obj).__name__ == "_tuplegetter":
        return True
    if not isinstance(obj, property) or obj.fget is None:
        return None
    owner = attrgetter(obj.fget.__qualname__.rpartition(".")[0])(sys.modules[obj.fget.__module__])
    attributes = (inspect.getdoc(owner) or "").partition("\nAttributes\n")[2]
    return True if re.search(rf"^(.+, )?{obj.fget.__name__}(, .+)? : ", attributes, re.MULTILINE) else None


def setup(app):  # type: ignore[no-untyped-def]
    """Hook into Sphinx."""
    pages.write()
    app.connect("autodoc-process-signature", shorten_aliases)
    app.connect("autodoc-skip-member", skip)
    # napoleon has the priority 500
    app.connect("autodoc-process-docstring", hide, priority=400)
    app.connect("autodoc-process-docstring", show, priority=600)
