"""Adapter to Cyclone DDS, the only module that imports it: participants, writers and readers as ROS 2 names them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any
from xml.sax.saxutils import quoteattr

from kinodyn.errors import InputError, KinodynError
from kinodyn.interop.ros.qos import QoS
from kinodyn.rosmsgs.rosbags_library import field_types, full_name, type_hash

LOOPBACK = "127.0.0.1"
BLOCKING = 100_000_000  # [ns] for which a reliable writer waits for slow readers
_DOMAINS: dict[int, tuple[str, Any]] = {}  # configuration and domain, which live as long as the process


def _module(name: str) -> ModuleType:
    try:
        return import_module(f"cyclonedds.{name}")
    except ImportError as cause:
        raise KinodynError("ROS 2 nodes need Cyclone DDS: pip install 'kinodyn[ros]'") from cause


def dds_topic(topic: str) -> str:
    """Return the DDS name of a ROS 2 topic."""
    return f"rt/{topic.lstrip('/')}"


def dds_type(name: str) -> str:
    """Return the DDS name of a message type: "sensor_msgs::msg::dds_::JointState_"."""
    package, kind, message = full_name(name).split("/")
    return f"{package}::{kind}::dds_::{message}_"


@cache
def idl_class(name: str) -> Any:
    """Return a message type as Cyclone DDS declares types."""
    return _build_class(full_name(name))


def _build_class(name: str) -> Any:
    idl, types = _module("idl"), _module("idl.types")
    plain = {"string": str, "bool": bool, "char": types.uint8, "octet": types.uint8, "byte": types.uint8}
    fields: dict[str, Any] = {}
    for field, kind in field_types(name).items():
        single = idl_class(kind.name) if kind.is_message else plain.get(kind.name) or getattr(types, kind.name)
        if kind.length is None:
            fields[field] = single
        elif kind.length < 0:
            fields[field] = types.sequence[(single, kind.bound) if kind.bound else single]
        else:
            fields[field] = types.array[single, kind.length]
    return idl.make_idl_struct(name.replace("/", "_"), dds_type(name).replace("::", "."), fields)


@cache
def _sample_class(name: str) -> Any:
    """Return a type whose samples are encoded messages, so that messages are encoded and decoded in one place."""
    made = _build_class(full_name(name))
    made.serialize = lambda self, **_: self.data
    made.deserialize = classmethod(_from_bytes)
    return made


def _from_bytes(cls: Any, data: bytes) -> Any:
    sample = cls.__new__(cls)
    sample.data = bytes(data)
    return sample


def configuration(interface: str, lease: float) -> str:
    """Return the configuration of a domain that is restricted to one network interface, by its address or name.

    On the loopback there is no multicast: participants find each other by the ports of the address.
    """
    attribute = "address" if interface.replace(".", "").isdigit() or ":" in interface else "name"
    network = f"<NetworkInterface {attribute}={quoteattr(interface)}/>"
    multicast, discovery = "default", ""
    if interface == LOOPBACK:
        multicast = "false"
        discovery = (
            "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>64</MaxAutoParticipantIndex>"
            f'<Peers><Peer address="{LOOPBACK}"/></Peers>'
        )
    return (
        f"<CycloneDDS><Domain><General><Interfaces>{network}</Interfaces>"
        f"<AllowMulticast>{multicast}</AllowMulticast></General>"
        f"<Discovery>{discovery}<LeaseDuration>{lease:g}s</LeaseDuration></Discovery></Domain></CycloneDDS>"
    )


class Participant:
    """A participant of a domain.

    Parameters
    ----------
    domain
        Number of the domain.
    config
        As `configuration` returns it. One process has one configuration for each domain.
    """

    def __init__(self, domain: int, config: str) -> None:
        known = _DOMAINS.get(domain)
        if known is not None and known[0] != config:
            raise InputError(f"domain {domain} of this process must keep its interface and lease, got others")
        try:
            if known is None:
                _DOMAINS[domain] = config, _module("domain").Domain(domain, config)
            self._participant = _module("domain").DomainParticipant(domain)
        except Exception as cause:
            if isinstance(cause, KinodynError):
                raise
            raise KinodynError(f"DDS domain {domain} cannot be joined: {cause}") from cause
        builtin = _module("builtin")
        self._publications = builtin.BuiltinDataReader(self._participant, builtin.BuiltinTopicDcpsPublication)
        self._subscriptions = builtin.BuiltinDataReader(self._participant, builtin.BuiltinTopicDcpsSubscription)
        self._topics: dict[tuple[str, str], Any] = {}
        core = _module("core")
        self._wake = core.GuardCondition(self._participant)
        self._wakes = core.WaitSet(self._participant)
        self._wakes.attach(self._wake)

    def writer(self, topic: str, name: str, qos: QoS) -> Writer:
        """Create a writer of a ROS 2 topic."""
        return Writer(
            _module("pub").DataWriter(self._participant, self._topic(topic, name), _dds_qos(qos, name)),
            _sample_class(full_name(name)),
        )

    def reader(self, topic: str, name: str, qos: QoS) -> Reader:
        """Create a reader of a ROS 2 topic; `wait` returns when it has samples."""
        made = _module("sub").DataReader(self._participant, self._topic(topic, name), _dds_qos(qos, name))
        core = _module("core")
        states = core.ViewState.Any | core.InstanceState.Any | core.SampleState.NotRead
        condition = core.ReadCondition(made, states)
        self._wakes.attach(condition)
        return Reader(made, condition)

    def wait(self, seconds: float) -> None:
        """Wait for samples, for `wake` or for the time to pass."""
        self._wakes.wait(round(seconds * 1e9))
        self._wake.take()

    def wake(self) -> None:
        """End a wait in another thread."""
        self._wake.set(True)

    def types_on(self, topic: str, *, written: bool) -> set[str]:
        """Return the DDS types with which others write or read a ROS 2 topic."""
        endpoints = (self._publications if written else self._subscriptions).read(N=10_000)
        alive = [each for each in endpoints if each.sample_info.valid_data]
        return {each.type_name for each in alive if each.topic_name == dds_topic(topic)}

    def _topic(self, topic: str, name: str) -> Any:
        key = dds_topic(topic), full_name(name)
        if key not in self._topics:
            self._topics[key] = _module("topic").Topic(self._participant, key[0], _sample_class(key[1]))
        return self._topics[key]


class Writer:
    """Writes encoded messages to a topic."""

    def __init__(self, writer: Any, sample: Any) -> None:
        self._writer, self._sample = writer, sample

    def write(self, data: bytes) -> None:
        """Write a message that `encode` returned."""
        try:
            self._writer.write(_from_bytes(self._sample, data))
        except _module("core").DDSException as cause:
            raise KinodynError(f"DDS did not accept a message: {cause}") from cause

    @property
    def peers(self) -> int:
        """Number of readers that get the messages."""
        return len(self._writer.get_matched_subscriptions())


class Reader:
    """Reads encoded messages from a topic."""

    def __init__(self, reader: Any, condition: Any) -> None:
        self._reader, self._condition = reader, condition

    def take(self, use: Callable[[bytes, int], None]) -> None:
        """Call a function with each new message and the time at which it was sent [ns]."""
        while samples := self._reader.take(N=256, condition=self._condition):
            for sample in samples:
                if sample.sample_info.valid_data:
                    use(sample.data, int(sample.sample_info.source_timestamp))

    @property
    def peers(self) -> int:
        """Number of writers whose messages arrive."""
        return len(self._reader.get_matched_publications())


def _dds_qos(qos: QoS, name: str) -> Any:
    """Return a quality of service with plain CDR, as ROS 2 uses it, and the hash of the type, which ROS 2 shows."""
    policy = _module("qos").Policy
    reliability = policy.Reliability.Reliable(BLOCKING) if qos.reliable else policy.Reliability.BestEffort
    return _module("qos").Qos(
        reliability,
        policy.Durability.TransientLocal if qos.latched else policy.Durability.Volatile,
        policy.History.KeepAll if qos.history == "keep_all" else policy.History.KeepLast(qos.depth),
        policy.DurabilityService(0, policy.History.KeepLast(qos.depth), -1, -1, -1),
        policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False),
        policy.Userdata(f"typehash={type_hash(name)};".encode()),
    )
