"""Reading of motions: the suffix of a file determines its format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinodyn.argument_types import check_types
from kinodyn.errors import InputError
from kinodyn.retarget.bvh import read_bvh
from kinodyn.retarget.markers import read_c3d, read_csv
from kinodyn.retarget.motion import Motion
from kinodyn.retarget.smpl import read_smpl

READERS: dict[str, Callable[..., Motion]] = {
    ".bvh": read_bvh,
    ".npz": read_smpl,
    ".c3d": read_c3d,
    ".csv": read_csv,
}


@check_types
def read(path: str | os.PathLike[str], rate: float | None = None) -> Motion:
    """Read a human motion.

    Parameters
    ----------
    path
        A BVH file, an NPZ file of SMPL, a C3D file, or a CSV file of points.
    rate
        Sampling rate that will be used [Hz]: a file with a multiple of it need not be read in full.

    Returns
    -------
    Motion

    Raises
    ------
    InputError
        If the file cannot be read; the message says where and why.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a motion must be a file or a Motion, got {type(path).__name__}")
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"{file} ends in {file.suffix!r}; motions end in {', '.join(READERS)}")
    options: dict[str, Any] = {"rate": rate} if reader is read_bvh else {}
    return reader(file, **options)
