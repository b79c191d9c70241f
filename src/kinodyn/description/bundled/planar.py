"""The planar arms of the textbooks: two or three equal links that move in a vertical plane."""

from __future__ import annotations

from kinodyn.description import solids
from kinodyn.description.bundled.arm import capsule_shapes, dh_arm
from kinodyn.description.dh import DH
from kinodyn.description.types import Description

# Links of 1 m and 1 kg are uniform rods: centre of mass halfway, 1/12 kg m^2 about it, as in Spong, Hutchinson and
# Vidyasagar, Robot Modeling and Control, 2nd ed. 2020, section 6.4, and Craig, Introduction to Robotics, section 6.7.
_LENGTH, _MASS = 1.0, 1.0
# The inertia of a rod about its own axis has no effect in a plane; it must be positive to be physically consistent.
_ALONG = 1e-3
# The plane is x, y as the books draw it, y up.
_GRAVITY = (0.0, -9.81, 0.0)


def planar2r() -> Description:
    """Describe the planar arm of two revolute joints, 1 m and 1 kg a link, in the x, y plane with gravity along -y.

    At zero it lies along x; `tool` is the tip, at (cos q1 + cos(q1 + q2), sin q1 + sin(q1 + q2), 0).
    """
    return _planar(2)


def planar3r() -> Description:
    """Describe the planar arm of three revolute joints, links and plane as in `planar2r`."""
    return _planar(3)


def _planar(joints: int) -> Description:
    across = _MASS * _LENGTH**2 / 12.0
    rod = solids.principal(_MASS, (-0.5 * _LENGTH, 0.0, 0.0), (_ALONG, across, across))
    rows = [DH(a=_LENGTH)] * joints
    shapes = capsule_shapes(rows, [0.04] * joints)
    return dh_arm(rows, [rod] * joints, shapes, name=f"planar{joints}r", gravity=_GRAVITY)
