"""The structure of a skeleton: limbs, spine and ends of chains, found by their bones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array
from kinodyn.retarget.motion import Motion

SIDES = ("left", "right")
LIMBS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
SAME_PLACE = 0.02  # of the length of a thigh, up to which joints are at the same place
AS_LONG = 0.9  # of the longest two bones in a row: of such pairs the last is meant, so that a clavicle is no upper arm

Names = dict[str, tuple[str, ...]]


def limbs(motion: Motion, sides: Sequence[str]) -> Names:
    """Recognise legs and arms by their bones alone.

    Legs are the longest pair of chains with equal bones on both sides, arms the longest among the others; hip, knee and
    ankle, or shoulder, elbow and wrist, are the ends of the two longest bones in a row.

    Parameters
    ----------
    motion
        With a tree of joints.
    sides
        "left", "right" or "" of each joint. Where no names tell them, the direction in which the feet point does.

    Returns
    -------
    dict of str to (str,)
        Joints by key point; empty if there are no such chains.
    """
    inner = set(motion.parents)
    chains = {k: _chain(motion, k) for k in range(len(motion.names)) if k not in inner}
    pairs = _mirror_pairs(motion, chains)
    legs = pairs[0] if pairs else None
    arms = next((pair for pair in pairs if legs and not set(pair) & set(legs)), None)
    if legs is None or arms is None:
        return {}
    found: list[tuple[tuple[int, int], list[tuple[int, int, int]]]] = []
    for first, second in (legs, arms):
        own = [[k for k in chains[a] if k not in chains[b]] for a, b in ((first, second), (second, first))]
        joints = [bones for chain in own if (bones := _longest_bones(motion, chain)) is not None]
        if len(joints) < 2:
            return {}
        found.append(((first, second), joints))
    left = None if _named(sides, legs) and _named(sides, arms) else _left(motion, found)
    result: Names = {}
    for ends_of, joints_of in found:
        for k, (end, own_joints) in enumerate(zip(ends_of, joints_of, strict=True)):
            side = sides[end] if left is None else SIDES[int(_first_is_left(motion, joints_of, left) == bool(k))]
            parts = LIMBS[:3] if ends_of == legs else LIMBS[3:]
            result |= {f"{side}_{part}": (motion.names[j],) for part, j in zip(parts, own_joints, strict=True)}
    return result


def _named(sides: Sequence[str], pair: tuple[int, int]) -> bool:
    return {sides[k] for k in pair} == set(SIDES)


def _left(motion: Motion, found: list[tuple[tuple[int, int], list[tuple[int, int, int]]]]) -> Array:
    """Return the direction (frames, 3) to the left: that in which feet point, turned about the body's length."""
    (toes, legs), (_, arms) = found
    at = motion.positions
    forward = sum((at[:, toe] - at[:, leg[2]] for toe, leg in zip(toes, legs, strict=True)), np.zeros(3))
    up = sum((at[:, arm[0]] - at[:, leg[2]] for arm, leg in zip(arms, legs, strict=True)), np.zeros(3))
    return np.asarray(np.cross(up, forward))


def _first_is_left(motion: Motion, joints: list[tuple[int, int, int]], left: Array) -> bool:
    apart = motion.positions[:, joints[0][0]] - motion.positions[:, joints[1][0]]
    return bool(np.median(np.einsum("ti,ti->t", apart, left)) > 0.0)


def is_chain(motion: Motion, names: list[str]) -> bool:
    """Return whether each joint is an ancestor of the next.

    Parameters
    ----------
    motion
        With a tree of joints.
    names
        Of joints.
    """
    chains = [_chain(motion, motion.names.index(name)) for name in names]
    return all(before[-1] in after[:-1] for before, after in zip(chains, chains[1:], strict=False))


def lowest_of_spine(motion: Motion, found: Names) -> Names:
    """Find the lowest joint of the spine: it shows how the pelvis is inclined.

    Parameters
    ----------
    motion
        With a tree of joints.
    found
        Hips and shoulders.

    Returns
    -------
    dict of str to (str,)
        "spine", if there is one between hips and shoulders.
    """
    pelvis, trunk = _trunk(motion, found)
    index = {name: k for k, name in enumerate(motion.names)}
    hips = 0.5 * sum(motion.positions[:, index[found[f"{side}_hip"][0]]] for side in SIDES)
    for k in trunk:
        if k not in pelvis and _apart(motion.positions[:, k] - hips) > _same_place(motion, found):
            return {"spine": (motion.names[k],)}
    return {}


def ends(motion: Motion, found: Names) -> Names:
    """Find neck, toes and hands by the joints that follow on shoulders, ankles and wrists.

    Parameters
    ----------
    motion
        With a tree of joints.
    found
        Hips, knees, ankles, shoulders, elbows and wrists.

    Returns
    -------
    dict of str to tuple of str
        What there is of "neck", "left_toe", "left_hand" and those on the right; a hand is the mean of its joints.
    """
    result: Names = {}
    for side in SIDES:
        for part, end in (("ankle", "toe"), ("wrist", "hand")):
            last = motion.names.index(found[f"{side}_{part}"][0])
            following = _following(motion, last, _same_place(motion, found))
            if following and end == "toe":
                following = [max(following, key=lambda k: _apart(motion.positions[:, k] - motion.positions[:, last]))]
            if following:
                result[f"{side}_{end}"] = tuple(motion.names[k] for k in following)
    neck = _neck(motion, found)
    return result if neck is None else result | {"neck": (motion.names[neck],)}


def with_length(motion: Motion, found: Names) -> Names:
    """Leave out toes at the ankle and hands at the wrist, such as ends without an offset: they show no direction.

    Parameters
    ----------
    motion
        With a tree of joints.
    found
        Limbs, and what was recognised as toes and hands.

    Returns
    -------
    dict of str to tuple of str
    """
    index = {name: k for k, name in enumerate(motion.names)}
    places = {key: motion.positions[:, [index[name] for name in names]].mean(axis=1) for key, names in found.items()}
    before = {
        f"{side}_{end}": f"{side}_{part}" for side in SIDES for part, end in (("ankle", "toe"), ("wrist", "hand"))
    }
    same = _same_place(motion, found)
    return {
        key: names
        for key, names in found.items()
        if key not in before or _apart(places[key] - places[before[key]]) > same
    }


def _neck(motion: Motion, found: Names) -> int | None:
    """Find the joint nearest to the middle of the shoulders, of that which carries both arms and those on it.

    Of several joints on it that carry neither arm, the one with the farthest end is meant.
    """
    trunk = _trunk(motion, found)[1]
    if not trunk:
        return None
    shoulders = [motion.names.index(found[f"{side}_shoulder"][0]) for side in SIDES]
    arms = {k for shoulder in shoulders for k in _chain(motion, shoulder)}
    chest = trunk[-1]
    free = [k for k, parent in enumerate(motion.parents) if parent == chest and k not in arms]
    branches = [[m for m in range(len(motion.names)) if k in _chain(motion, m)] for k in free]
    far = [_apart(motion.positions[:, branch] - motion.positions[:, [chest]]).max() for branch in branches]
    middle = motion.positions[:, shoulders].mean(axis=1)
    candidates = [chest, *([free[int(np.argmax(far))]] if far else [])]
    return min(candidates, key=lambda k: float(_apart(motion.positions[:, k] - middle)))


def _following(motion: Motion, joint: int, same: float) -> list[int]:
    """List the first joints after one, along all branches, that are at another place."""
    result: list[int] = []
    for k, parent in enumerate(motion.parents):
        if parent == joint:
            distant = _apart(motion.positions[:, k] - motion.positions[:, joint]) > same
            result += [k] if distant else _following(motion, k, same)
    return result


def _trunk(motion: Motion, found: Names) -> tuple[list[int], list[int]]:
    """Return the joints that carry both legs, and those that carry both arms, from the root on."""
    carried = []
    for part in ("hip", "shoulder"):
        chains = [_chain(motion, motion.names.index(found[f"{side}_{part}"][0]))[:-1] for side in SIDES]
        carried.append([k for k in chains[0] if k in chains[1]])
    return carried[0], carried[1]


def median(values: Array) -> float:
    """Return the median of values (n,), all finite: a tenth of the time of NumPy's on the lengths of contacts.

    Parameters
    ----------
    values
        At least one.

    Returns
    -------
    float
    """
    ordered, middle = np.sort(values), len(values) // 2
    return float(ordered[middle] if len(values) % 2 else 0.5 * (ordered[middle - 1] + ordered[middle]))


def _apart(offset: Array) -> Array:
    """Return the median length over time of offsets (frames, ..., 3): (...,)."""
    lengths = np.linalg.norm(offset, axis=-1)
    return np.asarray(median(lengths) if lengths.ndim == 1 else np.median(lengths, axis=0))


def _same_place(motion: Motion, found: Names) -> float:
    hip, knee = (motion.names.index(found[f"left_{part}"][0]) for part in ("hip", "knee"))
    return SAME_PLACE * float(_apart(motion.positions[:, knee] - motion.positions[:, hip]))


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
    k = max(k for k, length in enumerate(size) if length >= AS_LONG * max(size))
    return chain[moving[k]], chain[moving[k + 1]], chain[moving[k + 2]]
