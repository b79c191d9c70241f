"""Recordings of motion: states, torques and signals over time, with files and plots."""

from kinodyn.recording.recording import Recording

__all__ = ["Recording"]


def __dir__() -> list[str]:
    return list(__all__)
