"""Key points of a human: which joints or markers of a motion they are, recognised by names and by structure."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.retarget.motion import Motion

SIDES = ("left", "right")
LIMBS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
REQUIRED = tuple(f"{side}_{part}" for part in LIMBS for side in SIDES)
OPTIONAL = ("left_toe", "right_toe", "left_hand", "right_hand", "spine", "neck", "head")
KEYS = (*REQUIRED, *OPTIONAL)
CHAINS = (("hip", "knee", "ankle", "toe"), ("shoulder", "elbow", "wrist", "hand"), ("hip", "shoulder"))
BONES = (  # pairs of key points, as a skeleton is drawn
    *((f"{side}_{a}", f"{side}_{b}") for side in SIDES for chain in CHAINS for a, b in pairwise(chain)),
    *((f"left_{part}", f"right_{part}") for part in ("hip", "shoulder")),
    ("neck", "head"),
)

# Names of each part without its side, the most specific first: where a skeleton has several, the first is meant.
PARTS: dict[str, tuple[str, ...]] = {
    "hip": ("upleg", "thigh", "thighbend", "upperleg", "femur", "legupper", "hip", "hipjoint", "hjc"),
    "knee": ("leg", "lowerleg", "lowleg", "shin", "calf", "tibia", "leglower", "knee", "kjc"),
    "ankle": ("ankle", "ajc", "foot"),
    "toe": ("toebase", "toe", "toes", "ball", "bigtoe", "toe0", "football", "foot", "toebaseend", "footend", "toeend"),
    "shoulder": ("arm", "upperarm", "uparm", "uarm", "humerus", "armupper", "shldr", "shldrbend", "shoulder", "sjc"),
    "elbow": ("forearm", "forearmbend", "lowerarm", "lowarm", "farm", "radius", "armlower", "elbow", "ejc"),
    "wrist": ("wrist", "wjc", "hand"),
    "hand": (
        "handmiddle1",
        "middle1",
        "handindex1",
        "index1",
        "finger",
        "fingers",
        "fingerbase",
        "palm",
        "handend",
        "wristend",
        "hand",
    ),
}
CENTRAL: dict[str, tuple[str, ...]] = {
    "spine": ("lowerback", "spine", "spine0", "spine1", "abdomen", "torso", "chest", "belly"),
    "neck": ("neck", "neck0", "neckbase", "neck1", "c7", "clav"),
    "head": ("headend", "head", "headtop", "headnub", "skull"),
}
# Markers of the Plug-in Gait set (Vicon): points of the body as means of markers.
PLUG_IN_GAIT: dict[str, tuple[str, ...]] = {
    "hip": ("ASI", "PSI"),
    "knee": ("KNE",),
    "ankle": ("ANK",),
    "toe": ("TOE",),
    "shoulder": ("SHO",),
    "elbow": ("ELB",),
    "wrist": ("WRA", "WRB"),
    "hand": ("FIN",),
}

FIRST_WORD = re.compile(r"^[A-Za-z0-9]+[ _.-]+(?=.)")
PREFIX_SHARE = 0.6  # of names that begin with a word, which then belongs to the skeleton
SINGLE_LETTER = {name for names in PARTS.values() for name in names}  # after a bare "l" or "r", as in "rtibia"

Mapping_ = Mapping[str, "str | Iterable[str]"]


@check_types
def key_points(motion: Motion, mapping: Mapping_ | str | os.PathLike[str] | None = None) -> dict[str, Array]:
    """Find the key points of a human in a motion.

    Parameters
    ----------
    motion
        The motion.
    mapping
        Names of joints or markers by key point, or a JSON file with such an object: a name, or several of which the
        mean is taken. Key points that it does not have are recognised.

    Returns
    -------
    dict of str to (frames, 3)
        By the names in `REQUIRED`, and those in `OPTIONAL` that the motion has.

    Raises
    ------
    InputError
        If some are missing: the message has their names and those of the motion.
    """
    found = recognise(motion)
    found |= _given(motion, mapping)
    missing = [key for key in REQUIRED if key not in found]
    if missing:
        shown = ", ".join(motion.names[:60]) + (" ..." if len(motion.names) > 60 else "")
        raise InputError(
            f"{motion.source}: no joints were recognised as {', '.join(missing)}; give a mapping such as "
            f'{{"{missing[0]}": "name of the joint"}}. The motion has: {shown}'
        )
    index = {name: k for k, name in enumerate(motion.names)}
    return {key: motion.positions[:, [index[name] for name in names]].mean(axis=1) for key, names in found.items()}


def recognise(motion: Motion) -> dict[str, tuple[str, ...]]:
    """Recognise key points by names, and limbs with unknown names by the structure of the skeleton.

    Parameters
    ----------
    motion
        The motion.

    Returns
    -------
    dict of str to tuple of str
        Joints by key point; the key point is their mean.
    """
    found = _by_name(motion.names)
    if not all(key in found for key in REQUIRED):
        markers = _plug_in_gait(motion.names)
        found = markers | found if len(markers) > 8 else found
    if not all(key in found for key in REQUIRED) and any(parent >= 0 for parent in motion.parents):
        found = {key: (name,) for key, name in by_structure(motion).items()} | found
    return found


def _given(motion: Motion, mapping: Mapping_ | str | os.PathLike[str] | None) -> dict[str, tuple[str, ...]]:
    if mapping is None:
        return {}
    if isinstance(mapping, str | os.PathLike):
        mapping = read_mapping(Path(mapping))
    if not isinstance(mapping, Mapping):
        raise InputError(f"mapping must be a dict or a JSON file, got {type(mapping).__name__}")
    result: dict[str, tuple[str, ...]] = {}
    for key, value in mapping.items():
        if key not in KEYS:
            raise InputError(f"mapping has {key!r}; key points are {', '.join(KEYS)}")
        names = (value,) if isinstance(value, str) else tuple(value)
        unknown = [name for name in names if name not in motion.names]
        if unknown or not names:
            raise InputError(f"{motion.source}: mapping of {key!r}: there is no {', '.join(map(repr, unknown))}")
        result[key] = names
    return result


def read_mapping(file: Path) -> Mapping_:
    """Read names of joints by key point from a JSON file."""
    try:
        mapping = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise InputError(f"the mapping {file} cannot be read: {cause}") from cause
    if not isinstance(mapping, dict):
        raise InputError(f"the mapping {file} must be a JSON object, got {type(mapping).__name__}")
    return mapping


def split_side(name: str) -> tuple[str, str]:
    """Split a name into its side ("left", "right" or "") and the rest, in lower case without separators.

    Parameters
    ----------
    name
        Such as "mixamorig:LeftUpLeg", "L_Hip", "thigh.R" or "rTibia".

    Returns
    -------
    tuple of str
    """
    bare = re.sub(r"^.*[:|]", "", name)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", bare)
    words = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", words)
    parts = [word for word in re.split(r"[^A-Za-z0-9]+", words.lower()) if word]
    side = ""
    for word, meant in (("left", "left"), ("right", "right"), ("l", "left"), ("r", "right")):
        if not side and word in parts:
            side = meant
            parts.remove(word)
    joined = "".join(parts)
    for word in SIDES:
        if not side and (joined.startswith(word) or joined.endswith(word)):
            side, joined = word, joined.removeprefix(word).removesuffix(word)
    if not side and joined[:1] in ("l", "r") and joined[1:] in SINGLE_LETTER:
        side, joined = SIDES["lr".index(joined[0])], joined[1:]
    return side, joined


def without_prefix(names: tuple[str, ...]) -> list[str]:
    """Remove first words that most names share, such as "mixamorig_", "DEF-" or the name of a skeleton."""
    bare = [re.sub(r"^.*[:|]", "", name) for name in names]
    while True:
        first = Counter(match[0].lower() for name in bare if (match := FIRST_WORD.match(name)))
        word, count = first.most_common(1)[0] if first else ("", 0)
        if count <= PREFIX_SHARE * len(bare) or word.rstrip(" _.-") in ("left", "right", "l", "r"):
            return bare
        bare = [name[len(word) :] if name.lower().startswith(word) else name for name in bare]


def _by_name(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    known: dict[tuple[str, str], str] = {}
    for name, bare in zip(names, without_prefix(names), strict=True):
        side, part = split_side(bare)
        known.setdefault((side, part), name)
        part = re.sub(r"^(bip\d*|character\d*|b|bn|jnt|joint|j)(?=[a-z]{3})", "", part)
        known.setdefault((side, part), name)
    for side in SIDES:
        lower = next((known[side, word] for word in ("shin", "calf") if (side, word) in known), None)
        if lower is not None and (side, "leg") in known and not any((side, word) in known for word in PARTS["hip"]):
            known[side, "upleg"], known[side, "leg"] = known[side, "leg"], lower  # a leg above the shin is a thigh
    found: dict[str, tuple[str, ...]] = {}
    for side in SIDES:
        used: set[str] = set()
        for part, synonyms in PARTS.items():
            first = next((known[side, word] for word in synonyms if (side, word) in known), None)
            if first is not None and first not in used:
                found[f"{side}_{part}"] = (first,)
                used.add(first)
    for part, synonyms in CENTRAL.items():
        first = next((known["", word] for word in synonyms if ("", word) in known), None)
        if first is not None:
            found[part] = (first,)
    return found


def _plug_in_gait(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    bare = {short.upper(): name for short, name in zip(without_prefix(names), names, strict=True)}
    found: dict[str, tuple[str, ...]] = {}
    for side in SIDES:
        for part, markers in PLUG_IN_GAIT.items():
            present = tuple(bare[side[0].upper() + marker] for marker in markers if side[0].upper() + marker in bare)
            if len(present) == len(markers):
                found[f"{side}_{part}"] = present
    if "C7" in bare and "CLAV" in bare:
        found["neck"] = (bare["C7"], bare["CLAV"])
    head = tuple(bare[marker] for marker in ("LFHD", "RFHD", "LBHD", "RBHD") if marker in bare)
    if head:
        found["head"] = head
    return found


def by_structure(motion: Motion) -> dict[str, str]:
    """Recognise legs and arms of a skeleton by their bones alone.

    Legs are the longest pair of chains with equal bones on both sides, arms the longest among the others; hip, knee and
    ankle, or shoulder, elbow and wrist, are the ends of the two longest bones in a row. Names distinguish
    left and right.

    Parameters
    ----------
    motion
        With a tree of joints.

    Returns
    -------
    dict of str to str
        Joints by key point; empty if there are no such chains.
    """
    inner = set(motion.parents)
    ends = [k for k in range(len(motion.names)) if k not in inner]
    chains = {end: _chain(motion, end) for end in ends}
    pairs = _mirror_pairs(motion, chains)
    if not pairs:
        return {}
    legs = pairs[0]
    arms = next((pair for pair in pairs if not set(pair) & set(legs)), None)
    if arms is None:
        return {}
    best: dict[str, str] = {}
    for (first, second), parts in ((legs, LIMBS[:3]), (arms, LIMBS[3:])):
        for end, other in ((first, second), (second, first)):
            side = split_side(motion.names[end])[0]
            joints = _longest_bones(motion, [k for k in chains[end] if k not in chains[other]])
            if side and joints:
                best |= {f"{side}_{part}": motion.names[k] for part, k in zip(parts, joints, strict=True)}
    return best


def _chain(motion: Motion, end: int) -> list[int]:
    chain = [end]
    while motion.parents[chain[-1]] >= 0:
        chain.append(motion.parents[chain[-1]])
    return chain[::-1]


def _bone_lengths(motion: Motion, chain: list[int]) -> Array:
    places = motion.positions[:, chain]
    lengths: Array = np.median(np.linalg.norm(np.diff(places, axis=1), axis=2), axis=0)
    return lengths


def _mirror_pairs(motion: Motion, chains: dict[int, list[int]]) -> list[tuple[int, int]]:
    """Pairs of chains of about equal bones, longest own part first."""
    pairs: list[tuple[float, tuple[int, int]]] = []
    ends = list(chains)
    for i, first in enumerate(ends):
        for second in ends[i + 1 :]:
            a, b = chains[first], chains[second]
            own = [k for k in a if k not in b]
            other = [k for k in b if k not in a]
            if len(own) != len(other) or len(own) < 3:
                continue
            la, lb = (_bone_lengths(motion, part).sum() for part in (own, other))
            if abs(la - lb) < 0.1 * max(la, lb):
                pairs.append((float(la + lb), (first, second)))
    return [pair for _, pair in sorted(pairs, reverse=True)]


def _longest_bones(motion: Motion, chain: list[int]) -> tuple[int, int, int] | None:
    lengths = _bone_lengths(motion, chain)
    moving = [0, *(k + 1 for k in range(len(lengths)) if lengths[k] > 1e-6 * lengths.sum())]
    if len(moving) < 3:
        return None
    size = [lengths[a - 1] + lengths[b - 1] for a, b in zip(moving[1:], moving[2:], strict=False)]
    k = int(np.argmax(size))
    return chain[moving[k]], chain[moving[k + 1]], chain[moving[k + 2]]
