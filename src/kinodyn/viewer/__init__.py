"""The web viewer, based on viser: show a robot, move it, play recordings, make it walk.

Viser is imported on first use, not together with kinodyn.

>>> import kinodyn as kd
>>> viewer = kd.view(kd.load("planar2r"), quiet=True)
>>> viewer.q = [0.3, 0.5]
>>> viewer.close()
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from kinodyn.viewer.launch import view

if _TYPE_CHECKING:
    from kinodyn.viewer.export import export_html
    from kinodyn.viewer.playback import Player, Track
    from kinodyn.viewer.viewer import Viewer
    from kinodyn.viewer.walker import Walker

__all__ = ["Player", "Track", "Viewer", "Walker", "export_html", "view"]

_MODULES = {"Player": "playback", "Track": "playback", "Viewer": "viewer", "Walker": "walker", "export_html": "export"}


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'kinodyn.viewer' has no attribute {name!r}")
    return getattr(_import_module(f"kinodyn.viewer.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
