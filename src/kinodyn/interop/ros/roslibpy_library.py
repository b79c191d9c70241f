"""Adapter to roslibpy, the only module that imports it: topics and actions of a rosbridge server."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from kinodyn.errors import KinodynError


def _module() -> ModuleType:
    try:
        return import_module("roslibpy")
    except ImportError as cause:
        raise KinodynError("rosbridge needs roslibpy: pip install 'kinodyn[ros]'") from cause


class Connection:
    """A connection to a rosbridge server.

    Parameters
    ----------
    host, port
    timeout
        For the connection [s].
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self._ros = _module().Ros(host, port, transport="asyncio")
        try:
            self._ros.run(timeout)
        except Exception as cause:
            self._ros.factory.maxRetries = 0  # otherwise it tries for ever
            raise KinodynError(f"no rosbridge server answers at {host}:{port}: {cause}") from cause
        self._topics: dict[tuple[str, str], Any] = {}

    @property
    def is_open(self) -> bool:
        """Whether the server is connected."""
        return bool(self._ros.is_connected)

    def publish(self, topic: str, kind: str, fields: dict[str, Any]) -> None:
        """Publish the fields of a message."""
        self._topic(topic, kind).publish(_module().Message(fields))

    def subscribe(self, topic: str, kind: str, callback: Callable[[dict[str, Any]], object]) -> None:
        """Call a function with the fields of each message."""
        self._topic(topic, kind).subscribe(lambda message: callback(dict(message)))

    def send_goal(
        self,
        name: str,
        kind: str,
        goal: dict[str, Any],
        on_result: Callable[[dict[str, Any]], None],
        on_feedback: Callable[[dict[str, Any]], None],
    ) -> Callable[[], None]:
        """Send a goal to an action server; return a function that cancels it.

        The result has "values" and "status", or "error" if the bridge rejected the goal.
        """
        roslib = _module()
        client = roslib.ActionClient(self._ros, name, kind)
        goal_id = client.send_goal(
            roslib.Goal(goal),
            lambda result: on_result(dict(result)),
            lambda feedback: on_feedback(dict(feedback)),
            lambda error: on_result(dict(error) if isinstance(error, dict) else {"error": error}),
        )
        return lambda: client.cancel_goal(goal_id)

    def close(self) -> None:
        """Disconnect."""
        for topic in self._topics.values():
            topic.unsubscribe()
        self._ros.close()

    def _topic(self, topic: str, kind: str) -> Any:
        if (topic, kind) not in self._topics:
            self._topics[topic, kind] = _module().Topic(self._ros, topic, kind)
        return self._topics[topic, kind]
