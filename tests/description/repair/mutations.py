"""Faults that are put into robot files at random: what people and exporters get wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Mutation = Callable[[np.random.Generator, str], str]


def _matches(pattern: str, text: str) -> list[re.Match[str]]:
    without_comments = re.sub(r"<!--.*?-->", lambda match: " " * len(match[0]), text, flags=re.DOTALL)
    return list(re.finditer(pattern, without_comments, flags=re.DOTALL))


def _edit(rng: np.random.Generator, text: str, pattern: str, new: Callable[[re.Match[str]], str]) -> str:
    found = _matches(pattern, text)
    if not found:
        return text
    match = found[int(rng.integers(len(found)))]
    return text[: match.start()] + new(match) + text[match.end() :]


def remove_inertial(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r"<inertial\b[^>]*>.*?</inertial>", lambda match: "")


def remove_all_inertials(rng: np.random.Generator, text: str) -> str:
    return re.sub(r"<inertial\b[^>]*>.*?</inertial>", "", text, flags=re.DOTALL)


def negative_mass(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<mass\s+value="([^"]*)"', lambda match: f'<mass value="-{match[1]}"')


def zero_mass(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<mass\s+value="[^"]*"', lambda match: '<mass value="0"')


def nan_mass(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<mass\s+value="[^"]*"', lambda match: '<mass value="nan"')


def huge_moment(rng: np.random.Generator, text: str) -> str:
    axis = "xyz"[int(rng.integers(3))]
    return _edit(
        rng, text, rf'i{axis}{axis}="[^"]*"', lambda match: f'i{axis}{axis}="{float(rng.uniform(0.5, 5)):.3f}"'
    )


def negative_moment(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'iyy="[^"]*"', lambda match: 'iyy="-0.3"')


def swapped_limits(rng: np.random.Generator, text: str) -> str:
    pattern = r"<limit\b[^>]*>"

    def swap(match: re.Match[str]) -> str:
        return re.sub(r"\blower=", "TEMP=", match[0]).replace("upper=", "lower=").replace("TEMP=", "upper=")

    return _edit(rng, text, pattern, swap)


def no_limit(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r"<limit\b[^>]*/>", lambda match: "")


def zero_axis(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<axis\s+xyz="[^"]*"', lambda match: '<axis xyz="0 0 0"')


def long_axis(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<axis\s+xyz="[^"]*"', lambda match: '<axis xyz="0 3 4"')


def decimal_comma(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<mass\s+value="([^"]*)"', lambda match: f'<mass value="{match[1].replace(".", ",")}"')


def nan_origin(rng: np.random.Generator, text: str) -> str:
    return _edit(
        rng, text, r'<origin\b[^>]*\bxyz="[^"]*"', lambda match: re.sub(r'xyz="[^"]*"', 'xyz="nan 0 0"', match[0])
    )


def duplicate_joint_name(rng: np.random.Generator, text: str) -> str:
    names = re.findall(r'<joint\b[^>]*\bname="([^"]*)"[^>]*\btype=', text)
    if len(names) < 2:
        return text
    one, other = rng.choice(names, 2, replace=False)
    return re.sub(rf'(<joint\b[^>]*\bname=)"{re.escape(str(one))}"', rf'\1"{other}"', text)


def duplicate_link_name(rng: np.random.Generator, text: str) -> str:
    names = re.findall(r'<link\s+name="([^"]*)"', text)
    if len(names) < 2:
        return text
    one, other = rng.choice(names, 2, replace=False)
    return re.sub(rf'(<link\s+name=)"{re.escape(str(one))}"', rf'\1"{other}"', text)


def misspelt_child(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<child\s+link="([^"]*)"', lambda match: f'<child link="{match[1]}_"')


def wrong_case_of_mesh(rng: np.random.Generator, text: str) -> str:
    return _edit(
        rng,
        text,
        r'<mesh\b[^>]*filename="[^"]*"',
        lambda match: re.sub(r"[^/]*$", lambda m: m[0].swapcase(), match[0][:-1]) + '"',
    )


def wrong_suffix_of_mesh(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<mesh\b[^>]*filename="[^"]*"', lambda match: re.sub(r'\.\w+"$', '.ply"', match[0]))


def wrong_folder_of_mesh(rng: np.random.Generator, text: str) -> str:
    return _edit(
        rng,
        text,
        r'<mesh\b[^>]*filename="[^"]*"',
        lambda match: re.sub(r'filename="[^"]*/', 'filename="package://lost/', match[0]),
    )


def mimic_of_nothing(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r"<limit\b[^>]*/>", lambda match: match[0] + '<mimic joint="no such joint"/>')


def removed_joint(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r'<joint\b[^>]*\btype="[^"]*"[^>]*>.*?</joint>', lambda match: "")


def second_axis(rng: np.random.Generator, text: str) -> str:
    return _edit(rng, text, r"<axis\b[^>]*/>", lambda match: match[0] * 2)


URDF: tuple[Mutation, ...] = (
    remove_inertial,
    remove_all_inertials,
    negative_mass,
    zero_mass,
    nan_mass,
    huge_moment,
    negative_moment,
    swapped_limits,
    no_limit,
    zero_axis,
    long_axis,
    decimal_comma,
    nan_origin,
    duplicate_joint_name,
    duplicate_link_name,
    misspelt_child,
    wrong_case_of_mesh,
    wrong_suffix_of_mesh,
    wrong_folder_of_mesh,
    mimic_of_nothing,
    removed_joint,
    second_axis,
)
