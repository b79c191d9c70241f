"""Quality of service of topics: the profiles of ROS 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kinodyn.display import displayed


@displayed
@dataclass(frozen=True)
class QoS:
    """How messages of a topic are delivered.

    Parameters
    ----------
    reliable
        Whether lost messages are sent again.
    latched
        Whether late subscribers get the last messages: durability transient-local, else volatile.
    depth
        How many messages are kept for a slow subscriber, or for late ones.
    history
        "keep_last" keeps `depth` messages; "keep_all" keeps all, and a reliable publisher waits for slow subscribers.
    """

    reliable: bool = True
    latched: bool = False
    depth: int = 10
    history: Literal["keep_last", "keep_all"] = "keep_last"


DEFAULT = QoS()
SENSOR_DATA = QoS(reliable=False, depth=5)
LATCHED = QoS(latched=True, depth=1)  # /robot_description, /tf_static
TF = QoS(depth=100)
