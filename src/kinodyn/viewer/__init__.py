"""The live web viewer, on viser: see a robot, move it, play what it did, let it walk.

Viser is imported when it is first needed, not with kinodyn.

>>> import kinodyn as kd
>>> viewer = kd.view(kd.load("planar2r"), quiet=True)
>>> viewer.q = [0.3, 0.5]
>>> viewer.close()
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from kinodyn.viewer.door import view

if TYPE_CHECKING:
    from kinodyn.viewer.export import export_html
    from kinodyn.viewer.playback import Player, Take
    from kinodyn.viewer.viewer import Viewer
    from kinodyn.viewer.walker import Walker

__all__ = ["Player", "Take", "Viewer", "Walker", "export_html", "view"]

_HOMES = {"Player": "playback", "Take": "playback", "Viewer": "viewer", "Walker": "walker", "export_html": "export"}


def __getattr__(name: str) -> object:
    """Import the other names when they are asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kinodyn.viewer' has no attribute {name!r}")
    return getattr(_import_module(f"kinodyn.viewer.{_HOMES[name]}"), name)
