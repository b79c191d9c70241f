"""Node: publish and subscribe to ROS 2 topics over DDS, without a ROS installation."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kinodyn.argument_types import check_types
from kinodyn.checks import integer, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError, KinodynError
from kinodyn.interop.ros.cyclonedds_library import LOOPBACK, Participant, Reader, Writer, configuration, dds_type
from kinodyn.interop.ros.qos import DEFAULT, QoS
from kinodyn.rosmsgs.messages import decode, encode
from kinodyn.rosmsgs.rosbags_library import full_name

Callback: TypeAlias = Callable[[Any], object]

POLL = 0.2  # [s] between looks at who publishes
MAX_PROBLEMS = 1000
_LOG = logging.getLogger("kinodyn.ros")


@displayed
@dataclass(frozen=True)
class Problem:
    """Something that went wrong on a topic.

    Attributes
    ----------
    topic : str
    kind : "lost peer", "wrong type", "broken message", "failed callback" or "bad state"
    text : str
    """

    topic: str
    kind: Literal["lost peer", "wrong type", "broken message", "failed callback", "bad state"]
    text: str


@displayed
class Publisher:
    """Publishes messages of one type on a topic; `Node.publisher` returns it.

    Parameters
    ----------
    topic, name
        Topic, and type of its messages.
    writer
        Writer of DDS.

    Attributes
    ----------
    topic, type : str
    """

    @check_types
    def __init__(self, topic: str, name: str, writer: Writer) -> None:
        self.topic, self.type, self._writer = topic, name, writer

    def publish(self, message: Any) -> None:
        """Send a message.

        Parameters
        ----------
        message
            As `new` returns it.
        """
        if getattr(message, "__msgtype__", None) != self.type:
            kind = getattr(message, "__msgtype__", type(message).__name__)
            raise InputError(f"a message on {self.topic} must be a {self.type}, got {kind}")
        self._writer.write(encode(message))

    @property
    def peers(self) -> int:
        """Number of subscribers that get the messages."""
        return self._writer.peers

    def wait_for_peers(self, count: int = 1, timeout: float = 5.0) -> bool:
        """Wait until there are subscribers.

        Parameters
        ----------
        count
            How many.
        timeout
            [s]

        Returns
        -------
        found : bool
        """
        return _eventually(lambda: self.peers >= count, timeout)


@displayed
class Subscription:
    """Receives messages of one type from a topic; `Node.subscribe` returns it.

    Parameters
    ----------
    topic, name
        Topic, and type of its messages.
    reader
        Reader of DDS.
    callback
        Called with each message.

    Attributes
    ----------
    topic, type : str
    received, rejected : int
        Numbers of messages that were received, and of those among them that could not be decoded.
    last : message or None
        The last message.
    last_time : float
        When it was received, by `time.monotonic` [s]; -inf before.
    """

    @check_types
    def __init__(self, topic: str, name: str, reader: Reader, callback: Callback | None) -> None:
        self.topic, self.type, self._reader, self._callback = topic, name, reader, callback
        self.received = self.rejected = 0
        self.last: Any = None
        self.last_time = float("-inf")
        self.known_peers = 0
        self.foreign: set[str] = set()

    @property
    def peers(self) -> int:
        """Number of publishers whose messages arrive."""
        return self._reader.peers

    def wait_for_peers(self, count: int = 1, timeout: float = 5.0) -> bool:
        """Wait until there are publishers; see `Publisher.wait_for_peers`.

        Parameters
        ----------
        count
            How many.
        timeout
            [s]

        Returns
        -------
        found : bool
        """
        return _eventually(lambda: self.peers >= count, timeout)

    def wait_for_message(self, timeout: float = 5.0) -> Any:
        """Wait for a message unless there is one.

        Parameters
        ----------
        timeout
            [s]

        Returns
        -------
        message or None
            The last one; None if there was none in time.
        """
        _eventually(lambda: self.last is not None, timeout)
        return self.last

    def take(self, report: Callable[[Problem], None]) -> None:
        """Decode new messages and pass them on; the thread of the node calls this.

        Parameters
        ----------
        report
            Called with each problem.
        """

        def use(data: bytes, _: int) -> None:
            self.received += 1
            try:
                message = decode(data, self.type)
            except KinodynError as cause:
                self.rejected += 1
                report(Problem(self.topic, "broken message", str(cause)))
                return
            self.last, self.last_time = message, time.monotonic()
            if self._callback is not None:
                try:
                    self._callback(message)
                except Exception as cause:  # a callback must not end the thread that serves the others
                    report(Problem(self.topic, "failed callback", f"{type(cause).__name__}: {cause}"))

        self._reader.take(use)


@displayed
class Node:
    """A participant of ROS 2's DDS network: publishers and subscriptions by ROS names, types and profiles.

    Parameters
    ----------
    domain
        ROS domain; by default that of the environment variable ROS_DOMAIN_ID, else 0.
    interface
        Address or name of the network interface. By default nothing leaves this machine.
    lease
        A peer that is silent for this long is lost [s].
    on_problem
        Called with each `Problem`, from the thread of the node. By default they are logged as warnings of the logger
        "kinodyn.ros". All are in `problems`.

    Attributes
    ----------
    domain : int
    problems : deque of Problem
        The last thousand.

    Examples
    --------
    >>> import kinodyn as kd
    >>> with kd.interop.ros.Node(domain=77) as node:  # doctest: +SKIP
    ...     heard = node.subscribe("/chatter", "std_msgs/String", print)
    ...     node.publisher("/chatter", "std_msgs/String").publish(kd.interop.ros.new("std_msgs/String", data="hello"))
    """

    @check_types
    def __init__(
        self,
        *,
        domain: int | None = None,
        interface: str = LOOPBACK,
        lease: float = 3.0,
        on_problem: Callable[[Problem], object] | None = None,
    ) -> None:
        self.domain = _domain(domain)
        self.problems: deque[Problem] = deque(maxlen=MAX_PROBLEMS)
        self._on_problem = on_problem
        self._participant = Participant(self.domain, configuration(interface, positive("lease", lease)))
        self._subscriptions: list[Subscription] = []
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="kinodyn.ros", daemon=True)
        self._thread.start()

    def publisher(self, topic: str, name: str, qos: QoS = DEFAULT) -> Publisher:
        """Create a publisher.

        Parameters
        ----------
        topic
            Name such as "/joint_states".
        name
            Type of the messages, such as "sensor_msgs/JointState".
        qos
            Quality of service.

        Returns
        -------
        Publisher
        """
        _check_topic(topic)
        return Publisher(topic, full_name(name), self._participant.writer(topic, name, qos))

    def subscribe(self, topic: str, name: str, callback: Callback | None = None, qos: QoS = DEFAULT) -> Subscription:
        """Create a subscription.

        Parameters
        ----------
        topic, name
            As for `publisher`.
        callback
            Called with each message, from the thread of the node.
        qos
            Quality of service.

        Returns
        -------
        Subscription
        """
        _check_topic(topic)
        made = Subscription(topic, full_name(name), self._participant.reader(topic, name, qos), callback)
        with self._lock:
            self._subscriptions.append(made)
        self._participant.wake()
        return made

    def report(self, problem: Problem) -> None:
        """Record a problem and report it.

        Parameters
        ----------
        problem
        """
        self.problems.append(problem)
        if self._on_problem is not None:
            self._on_problem(problem)
        else:
            _LOG.warning("%s: %s: %s", problem.topic, problem.kind, problem.text)

    def close(self) -> None:
        """Stop the thread and leave the network."""
        self._closed.set()
        self._participant.wake()
        self._thread.join(timeout=5.0)

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self) -> None:
        looked = 0.0
        while not self._closed.is_set():
            self._participant.wait(POLL)
            with self._lock:
                subscriptions = list(self._subscriptions)
            for subscription in subscriptions:
                subscription.take(self.report)
            if time.monotonic() - looked > POLL:
                looked = time.monotonic()
                for subscription in subscriptions:
                    self._look(subscription)

    def _look(self, subscription: Subscription) -> None:
        """Report publishers that have vanished, and those of another type, which DDS does not connect."""
        peers = subscription.peers
        if peers < subscription.known_peers:
            text = f"{subscription.known_peers - peers} of {subscription.known_peers} publishers are gone"
            self.report(Problem(subscription.topic, "lost peer", text))
        subscription.known_peers = peers
        types = self._participant.types_on(subscription.topic, written=True)
        for other in sorted(types - {dds_type(subscription.type)} - subscription.foreign):
            subscription.foreign.add(other)
            text = f"a publisher sends {other}, not {dds_type(subscription.type)}; its messages do not arrive"
            self.report(Problem(subscription.topic, "wrong type", text))


def _domain(domain: int | None) -> int:
    given: Any = os.environ.get("ROS_DOMAIN_ID", "0") if domain is None else domain
    try:
        number = int(given)
    except ValueError:
        raise InputError(f"ROS_DOMAIN_ID must be a number from 0 to 232, got {given!r}") from None
    if not 0 <= integer("domain", number) <= 232:
        raise InputError(f"domain must be from 0 to 232, got {number}")
    return number


def _check_topic(topic: str) -> None:
    parts = topic.removeprefix("/").split("/") if isinstance(topic, str) else [""]
    if not all(part.isascii() and part.replace("_", "a").isalnum() and not part[0].isdigit() for part in parts):
        raise InputError(f"topic must be a name such as '/joint_states', got {topic!r}")


def _eventually(condition: Callable[[], bool], timeout: float) -> bool:
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
