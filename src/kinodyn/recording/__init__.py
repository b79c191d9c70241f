"""Recordings of motion: states, torques and signals over time, with files and plots."""

from kinodyn.recording.recording import Recording

__all__ = ["Recording"]
