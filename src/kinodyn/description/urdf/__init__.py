"""Read URDF files: links, joints, inertias, limits and shapes.

`<gazebo>`, `<transmission>`, `<ros2_control>`, `<sensor>` and other elements for other programs are ignored.
"""

from kinodyn.description.urdf.reader import parse_urdf, read_urdf

__all__ = ["parse_urdf", "read_urdf"]
