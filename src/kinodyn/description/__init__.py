"""Robot descriptions: their types, readers, writer and validation.

>>> from kinodyn import description
>>> text = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">\
<parent link="a"/><child link="b"/></joint></robot>'
>>> description.parse_urdf(text).joints[0].kind
'continuous'
"""

from typing import TYPE_CHECKING, Any

from kinodyn.description import solids
from kinodyn.description.base import with_base
from kinodyn.description.dh import description_from_dh
from kinodyn.description.sdf import parse_sdf, read_sdf
from kinodyn.description.srdf import read_srdf
from kinodyn.description.types import Description, Frame, Inertia, Joint, Link, Mimic, Shape
from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.description.validation import validate

if TYPE_CHECKING:
    from kinodyn.description.mjcf import parse_mjcf, read_mjcf
    from kinodyn.description.repair import Finding, Report, check

__all__ = [
    "Description",
    "Finding",
    "Frame",
    "Inertia",
    "Joint",
    "Link",
    "Mimic",
    "Report",
    "Shape",
    "check",
    "description_from_dh",
    "parse_mjcf",
    "parse_sdf",
    "parse_urdf",
    "read_mjcf",
    "read_sdf",
    "read_srdf",
    "read_urdf",
    "solids",
    "validate",
    "with_base",
    "write_urdf",
]


def __getattr__(name: str) -> Any:
    """Import the MJCF reader and repairs when they are first used: MuJoCo and parts of SciPy are slow to import."""
    if name in ("parse_mjcf", "read_mjcf"):
        from kinodyn.description import mjcf

        return getattr(mjcf, name)
    if name in ("Finding", "Report", "check"):
        from kinodyn.description import repair

        return getattr(repair, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
