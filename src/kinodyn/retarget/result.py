"""A retargeted motion: configurations over time, its report, and the files it is written to."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinodyn import tables
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.identification.columns import labels
from kinodyn.model.robot import Robot
from kinodyn.recording import Recording
from kinodyn.retarget.contacts import Contact
from kinodyn.retarget.human import Human
from kinodyn.retarget.report import Report

HUMAN = "human."  # with the name of a key point: a signal of a recording


@displayed
@dataclass(frozen=True, eq=False)
class Retargeted:
    """The motion of a robot that follows a human.

    Attributes
    ----------
    robot : Robot
    q : (frames, nq)
        Configurations.
    dt : float
        Time from frame to frame [s].
    report : Report
        What was achieved.
    contacts : tuple of Contact
        Contacts of the robot's feet.
    human : Human
        The human's key points [m].
    """

    robot: Robot
    q: Array
    dt: float
    report: Report
    contacts: tuple[Contact, ...]
    human: Human

    @cached_property
    def time(self) -> Array:
        """Times of the frames (frames,) [s]."""
        return np.asarray(self.dt * np.arange(len(self.q), dtype=float))

    @cached_property
    def v(self) -> Array:
        """Velocities (frames, nv) to the next frame; the last one is repeated."""
        v = self.robot.difference(self.q[:-1], self.q[1:]) / self.dt
        return np.vstack([v, v[-1:]])

    @check_types
    def in_contact(self, side: str) -> NDArray[np.bool_]:
        """Return in which frames a foot is in contact.

        Parameters
        ----------
        side
            "left" or "right".

        Returns
        -------
        (frames,) of bool
        """
        if side not in ("left", "right"):
            raise InputError(f"side must be 'left' or 'right', got {side!r}")
        flags = np.zeros(len(self.q), dtype=bool)
        for contact in self.contacts:
            if contact.side == side:
                flags[contact.start : contact.stop] = True
        return flags

    def recording(self) -> Recording:
        """Return the motion as a `Recording`, with contacts of the feet and key points of the human as signals."""
        return Recording.from_robot(
            self.robot,
            self.time,
            self.q,
            self.v,
            np.zeros_like(self.v),
            contacts={f"{side}_foot": self.in_contact(side) for side in ("left", "right")},
            signals={HUMAN + name: points for name, points in self.human.points.items()},
        )

    def qpos(self) -> Array:
        """Return positions (frames, nq) as MuJoCo has them for the same robot: quaternions with w first."""
        qpos = np.array(self.q)
        qpos[:, 3:7] = self.q[:, [6, 3, 4, 5]]
        return qpos

    @check_types
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the motion.

        Parameters
        ----------
        path
            A file that ends in .npz, .parquet or .csv, as `Recording.save` writes it; or one that ends in .qpos.npz or
            .qpos.csv for `qpos` of MuJoCo; or a folder, which becomes a dataset in the layout of LeRobot.
        """
        file = Path(path)
        name = file.name.lower()
        if name.endswith((".qpos.npz", ".qpos.csv")):
            tables.write(file, {"time": self.time, "qpos": self.qpos()})
        elif file.suffix.lower() in tables.SUFFIXES:
            self.recording().save(file)
        elif not file.suffix:
            self._save_dataset(file)
        else:
            raise InputError(f"{file} ends in {file.suffix!r}; give {', '.join(tables.SUFFIXES)} or a folder")

    def _save_dataset(self, folder: Path) -> None:
        """Write one episode: data/chunk-000/episode_000000.parquet and meta/*.json, in the layout of LeRobot 2.1."""
        names = labels(self.robot)
        frames = len(self.q)
        (folder / "data" / "chunk-000").mkdir(parents=True, exist_ok=True)
        (folder / "meta").mkdir(exist_ok=True)
        index = np.arange(frames)
        following = np.vstack([self.q[1:], self.q[-1:]])
        tables.write(
            folder / "data" / "chunk-000" / "episode_000000.parquet",
            {
                "observation.state": self.q,
                "action": following,
                "timestamp": self.time,
                "frame_index": index,
                "episode_index": np.zeros(frames, dtype=int),
                "index": index,
                "task_index": np.zeros(frames, dtype=int),
            },
            labels={"observation.state": names.q, "action": names.q},
        )
        task = f"follow {self.human.source}"
        vector = {"dtype": "float64", "shape": [self.q.shape[1]], "names": list(names.q)}
        info = {
            "codebase_version": "v2.1",
            "robot_type": self.robot.name,
            "total_episodes": 1,
            "total_frames": frames,
            "total_tasks": 1,
            "chunks_size": 1000,
            "fps": 1.0 / self.dt,
            "splits": {"train": "0:1"},
            "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
            "features": {"observation.state": vector, "action": vector},
        }
        meta = folder / "meta"
        (meta / "info.json").write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")
        (meta / "tasks.jsonl").write_text(json.dumps({"task_index": 0, "task": task}) + "\n", encoding="utf-8")
        episode = {"episode_index": 0, "tasks": [task], "length": frames}
        (meta / "episodes.jsonl").write_text(json.dumps(episode) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        return (
            f"Retargeted({self.human.source!r} to {self.robot.name!r}, {len(self.q)} frames, slip "
            f"{1e3 * self.report.slip:.1f} mm, hands {100 * self.report.hand_error:.1f} cm)"
        )
