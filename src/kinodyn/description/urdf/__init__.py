"""Read URDF files.

What moves, what it weighs, how far it may go and what it looks like is read; `<gazebo>`, `<transmission>`,
`<ros2_control>`, `<sensor>` and whatever else files carry for other programs is passed over.
"""

from kinodyn.description.urdf.reader import parse_urdf, read_urdf

__all__ = ["parse_urdf", "read_urdf"]
