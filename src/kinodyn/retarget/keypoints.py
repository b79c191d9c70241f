"""Key points of a human: which joints or markers of a motion they are, recognised by names and by structure."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.retarget.motion import Motion
from kinodyn.retarget.structure import LIMBS, SIDES, ends, is_chain, limbs, lowest_of_spine, with_length

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
    "knee": ("leg", "lowerleg", "lowleg", "shin", "calf", "tibia", "shank", "leglower", "knee", "kjc"),
    "ankle": ("ankle", "ajc", "foot"),
    "toe": ("toebase", "toe", "toes", "ball", "bigtoe", "toe0", "football", "foot", "toebaseend", "footend", "toeend"),
    "shoulder": ("arm", "upperarm", "uparm", "uarm", "humerus", "armupper", "shldr", "shldrbend", "shoulder", "sjc"),
    "elbow": ("forearm", "forearmbend", "lowerarm", "lowarm", "larm", "farm", "radius", "armlower", "elbow", "ejc"),
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
    "neck": ("neck", "neck0", "neckbase", "neck1", "lowerneck", "necklower", "c7", "clav"),
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
LAST_WORD = re.compile(r"(?<=.)([ _.-][A-Za-z]+?)(?:_end)?$")
PREFIX_SHARE = 0.6  # of names that begin with a word, which then belongs to the skeleton
CENTRE = ("c", "m")  # words of joints of the middle, as in "J_Bip_C_Neck"
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
    if not any(parent >= 0 for parent in motion.parents):
        return found
    sides = [split_side(name)[0] for name in motion.names]
    if not all(key in found for key in REQUIRED):
        found = _with_limbs(motion, found, limbs(motion, sides))
    if all(key in found for key in REQUIRED):
        found = ends(motion, found) | with_length(motion, found) | lowest_of_spine(motion, found)
    return found


def _with_limbs(
    motion: Motion, found: dict[str, tuple[str, ...]], by_bones: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Add limbs that are found by their bones; names remain where they are in the order of the chain."""
    result = by_bones | found
    for side in SIDES:
        for parts in (LIMBS[:3], LIMBS[3:]):
            keys = [f"{side}_{part}" for part in parts]
            if all(key in by_bones for key in keys) and not is_chain(motion, [result[key][0] for key in keys]):
                result |= {key: by_bones[key] for key in keys}
    return result


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
    if not side and len(parts) > 1:
        parts = [word for word in parts if word not in CENTRE]
    joined = re.sub(r"0+(?=\d)", "", "".join(parts))
    for word in SIDES:
        if not side and (joined.startswith(word) or joined.endswith(word)):
            side, joined = word, joined.removeprefix(word).removesuffix(word)
    if not side and joined[:1] in ("l", "r") and joined[1:] in SINGLE_LETTER:
        side, joined = SIDES["lr".index(joined[0])], joined[1:]
    return side, joined


def without_prefix(names: tuple[str, ...]) -> list[str]:
    """Remove first and last words that most names share, such as "mixamorig_", the name of a skeleton, or "_jnt"."""
    bare = [re.sub(r"^.*[:|]", "", name) for name in names]
    while True:
        first = Counter(match[0].lower() for name in bare if (match := FIRST_WORD.match(name)))
        word, count = first.most_common(1)[0] if first else ("", 0)
        if count <= PREFIX_SHARE * len(bare) or word.rstrip(" _.-") in ("left", "right", "l", "r"):
            return _without_suffix(bare)
        bare = [name[len(word) :] if name.lower().startswith(word) else name for name in bare]


def _without_suffix(names: list[str]) -> list[str]:
    """Remove a last word that most joints share; ends of chains have it before "_end"."""
    last = Counter(match[1].lower() for name in names if (match := LAST_WORD.search(name)))
    word, count = last.most_common(1)[0] if last else ("", 0)
    if count <= PREFIX_SHARE * len(names) or word.lstrip(" _.-") in ("left", "right", "l", "r", "end"):
        return names
    return [re.sub(re.escape(word) + r"(?=(_end)?$)", "", name, flags=re.IGNORECASE) for name in names]


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
