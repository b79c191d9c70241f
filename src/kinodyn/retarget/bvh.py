"""Reader of BVH files (Biovision hierarchy): a tree of bones and their angles frame by frame."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.description.free_name import free_name
from kinodyn.errors import InputError
from kinodyn.retarget.motion import Motion, step_of

POSITIONS = {"Xposition": 0, "Yposition": 1, "Zposition": 2}
ROTATIONS = {"Xrotation": 0, "Yrotation": 1, "Zrotation": 2}
MAX_BONES = 10_000
MAX_BYTES = 2**30
REST_JUMP = 8.0  # the first frame is a rest pose if it is that many times farther from the second than usual
MIN_ANGLES = 30.0  # [deg] between such a rest pose and the second frame


@dataclass
class Bones:
    """The hierarchy of a BVH file; parents come before their children."""

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[Array] = field(default_factory=list)
    channels: list[list[str]] = field(default_factory=list)

    @property
    def channel_count(self) -> int:
        """Numbers in a frame."""
        return sum(map(len, self.channels))


def read_bvh(path: str | os.PathLike[str], rate: float | None = None) -> Motion:
    """Read a BVH file.

    Parameters
    ----------
    path
        The file.
    rate
        Sampling rate that will be used [Hz]: where the file's is a multiple of it, only those frames are read.

    Returns
    -------
    Motion
        With the ends of chains as joints called "<joint>_end". A first frame that is a rest pose, as in the CMU
        database, is left out.

    Raises
    ------
    InputError
        If the file cannot be read; the message has the line.
    """
    file = Path(path)
    text = _content(file)
    head = text[: _after_header(text)]
    lines = head.decode("utf-8", errors="replace").splitlines()
    bones, at = _hierarchy(file, lines)
    count, frame_time = _motion_header(file, lines, at)
    file_rate = round(1.0 / frame_time, 2) if 1.0 / frame_time < 1e4 else 1.0 / frame_time
    if count < 2:
        raise InputError(f"{file}: a motion needs at least two frames, got {count}")
    rows = _Rows(file, text, len(head), count, bones.channel_count)
    first, step = _rest_frames(rows.read(0, 1, min(count, 12))), step_of(file_rate, rate)
    values = rows.read(first, step, count)
    if len(values) < 2:
        raise InputError(f"{file}: it is too short to be sampled at {rate:g} Hz")
    positions = forward_kinematics(bones, values)
    return Motion(tuple(bones.names), tuple(bones.parents), positions, file_rate / step, file.name)


def _content(file: Path) -> bytes:
    """Read a file as UTF-8, with line feeds at the ends of lines and without a byte order mark."""
    try:
        if file.exists() and not file.is_file():
            raise InputError(f"{file} must be a regular file")
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{file}: a BVH file must have at most {MAX_BYTES} bytes, got {size}")
        text = file.read_bytes()
    except OSError as cause:
        raise InputError(f"{file} cannot be read: {cause}") from cause
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = text.decode("utf-16", errors="replace").encode()
    text = text.removeprefix(codecs.BOM_UTF8)
    return text.replace(b"\r", b"\n") if b"\n" not in text else text


def _after_header(text: bytes) -> int:
    """Return where the line with the frame time ends; the end of the text if there is none."""
    found = re.search(rb"(?im)^[ \t]*frame[ \t]+time[ \t]*:[^\n]*\n?", text)
    return found.end() if found else len(text)


@dataclass(frozen=True)
class _Rows:
    """The frames of a file: lines of numbers from byte `start` on."""

    file: Path
    text: bytes
    start: int
    count: int
    columns: int

    def read(self, first: int, step: int, count: int) -> Array:
        """Read the values (frames, channels) of each `step`th of the first `count` lines, from `first` on."""
        values = _core.parse_rows(self.text, self.start, first, step, count, self.columns)
        return self._checked(first, step, count) if values is None else values

    def _checked(self, first: int, step: int, count: int) -> Array:
        """Read lines one by one; raise InputError at the first that is not a frame."""
        above = self.text[: self.start].count(b"\n") + 1
        lines = self.text[self.start :].decode("utf-8", errors="replace").split("\n")
        numbered = [(above + k, line.split()) for k, line in enumerate(lines) if line.split()]
        if len(numbered) < self.count:
            raise InputError(
                f"{self.file}: it announces {self.count} frames, but only {len(numbered)} follow; is the file cut off?"
            )
        rows = numbered[first:count:step]
        for number, words in rows:
            _check_row(f"{self.file}:{number}", words, self.columns)
        return np.array([[float(word) for word in words] for _, words in rows])


def forward_kinematics(bones: Bones, frames: Array) -> Array:
    """Compute positions of joints.

    Parameters
    ----------
    bones
        The hierarchy.
    frames
        Values of the channels (frames, channels); angles in degrees.

    Returns
    -------
    (frames, joints, 3)
    """
    axes = {**POSITIONS, **{name: 3 + axis for name, axis in ROTATIONS.items()}}
    channels = [(k, axes[name]) for k, names in enumerate(bones.channels) for name in names]
    offsets = np.array(bones.offsets)
    for k, (parent, names) in enumerate(zip(bones.parents, bones.channels, strict=True)):
        if parent < 0 and any(name in POSITIONS for name in names):
            offsets[k] = 0.0  # channels replace the offset, all of it in the root
    angles = np.deg2rad(frames)
    return np.asarray(
        _core.bone_positions(
            np.array(bones.parents, dtype=np.int32),
            offsets,
            np.array(channels, dtype=np.int32).reshape(-1, 2),
            np.ascontiguousarray(frames),
            np.cos(angles),
            np.sin(angles),
        )
    )


def _hierarchy(file: Path, lines: list[str]) -> tuple[Bones, int]:
    """Read the bones; return them and the index of the line after MOTION."""
    bones, stack = Bones(), [-1]
    started = False
    pending: str | None = None
    for number, line in enumerate(lines):
        words = line.split()
        if not words:
            continue
        keyword = words[0].upper()
        where = f"{file}:{number + 1}"
        if keyword == "HIERARCHY":
            started = True
        elif not started:
            raise InputError(f"{where}: a BVH file starts with HIERARCHY, got {line.strip()[:40]!r}")
        elif keyword == "MOTION":
            if len(stack) > 1:
                raise InputError(f"{where}: MOTION begins while {len(stack) - 1} joints are still open")
            if not bones.names:
                raise InputError(f"{where}: the hierarchy has no joints")
            return bones, number + 1
        elif keyword in ("ROOT", "JOINT", "END"):
            if keyword == "END" and stack[-1] < 0:
                raise InputError(f"{where}: an end site needs a joint")
            base = f"{bones.names[stack[-1]]}_end" if keyword == "END" else " ".join(words[1:])
            pending = free_name(base or "joint", set(bones.names))
        elif keyword == "{":
            if pending is None:
                raise InputError(f"{where}: unexpected '{{'")
            bones.names.append(pending)
            bones.parents.append(stack[-1])
            bones.offsets.append(np.zeros(3))
            bones.channels.append([])
            stack.append(len(bones.names) - 1)
            pending = None
            if len(bones.names) > MAX_BONES:
                raise InputError(f"{where}: more than {MAX_BONES} joints")
        elif keyword == "}":
            if len(stack) == 1:
                raise InputError(f"{where}: unexpected '}}'")
            stack.pop()
        elif keyword == "OFFSET":
            bones.offsets[_open(stack, where)] = _offset(words[1:], where)
        elif keyword == "CHANNELS":
            bones.channels[_open(stack, where)] = _channels(words[1:], where)
        else:
            raise InputError(f"{where}: unknown keyword {words[0]!r}")
    raise InputError(f"{file}: there is no MOTION section")


def _open(stack: list[int], where: str) -> int:
    if stack[-1] < 0:
        raise InputError(f"{where}: outside of any joint")
    return stack[-1]


def _offset(words: list[str], where: str) -> Array:
    try:
        offset = np.array([float(word) for word in words])
    except ValueError as cause:
        raise InputError(f"{where}: OFFSET needs three numbers, got {' '.join(words)!r}") from cause
    if offset.shape != (3,) or not np.isfinite(offset).all():
        raise InputError(f"{where}: OFFSET needs three finite numbers, got {' '.join(words)!r}")
    return offset


def _channels(words: list[str], where: str) -> list[str]:
    known = {name.lower(): name for name in (*POSITIONS, *ROTATIONS)}
    names = [known.get(word.lower(), "") for word in words[1:]]
    if not words or words[0] != str(len(names)) or "" in names:
        raise InputError(
            f"{where}: CHANNELS needs a count and as many of {', '.join(known.values())}, got {' '.join(words)!r}"
        )
    return names


def _motion_header(file: Path, lines: list[str], at: int) -> tuple[int, float]:
    """Read the number of frames and their duration [s]."""
    count: int | None = None
    for number in range(at, min(at + 20, len(lines))):
        words = lines[number].replace(":", ": ").split()
        try:
            if words and words[0].lower() == "frames:":
                count = int(words[1])
            elif len(words) >= 3 and words[0].lower() == "frame" and words[1].lower() == "time:":
                frame_time = float(words[2])
                if not (np.isfinite(frame_time) and frame_time > 0):
                    raise ValueError(f"the frame time is {frame_time:g} s")
                if count is None:
                    raise ValueError("'Frames:' must come before 'Frame Time:'")
                return count, frame_time
        except (ValueError, IndexError) as cause:
            raise InputError(f"{file}:{number + 1}: {cause}") from cause
    raise InputError(f"{file}: the MOTION section needs 'Frames:' and 'Frame Time:'")


def _check_row(where: str, words: list[str], count: int) -> None:
    if len(words) != count:
        raise InputError(f"{where}: a frame has {count} numbers, got {len(words)}")
    for word in words:
        try:
            finite = np.isfinite(float(word))
        except ValueError as cause:
            raise InputError(f"{where}: {word!r} is not a number") from cause
        if not finite:
            raise InputError(f"{where}: {word!r} is not finite")


def _rest_frames(head: Array) -> int:
    """Return 1 if the first frame is a rest pose that the motion does not continue, else 0."""
    if len(head) < 4:
        return 0
    turned = np.abs((np.diff(head, axis=0) + 180.0) % 360.0 - 180.0).max(axis=1)
    return int(turned[0] > MIN_ANGLES and turned[0] > REST_JUMP * np.median(turned[1:]))
