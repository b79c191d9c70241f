"""Retargeting: human motion to any humanoid.

    file -> Motion -> key points -> Human -> contacts, scaled targets -> all frames solved together -> Retargeted

>>> import kinodyn as kd
>>> result = kd.retarget.retarget(kd.retarget.example_motion(), kd.load("humanoid"))
>>> result.report.slip < 0.002
True
"""

from kinodyn.retarget.contacts import Contact
from kinodyn.retarget.example import example_motion
from kinodyn.retarget.human import Human
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.motion import Motion
from kinodyn.retarget.playback import Playback, play, unsupported_parts
from kinodyn.retarget.reading import read
from kinodyn.retarget.report import Report
from kinodyn.retarget.result import Retargeted
from kinodyn.retarget.retarget import retarget

__all__ = [
    "Contact",
    "Human",
    "Motion",
    "Playback",
    "Report",
    "Retargeted",
    "example_motion",
    "unsupported_parts",
    "key_points",
    "play",
    "read",
    "retarget",
]


def __dir__() -> list[str]:
    return list(__all__)
