"""Check that a description is a robot that can exist. Every reader ends here, and so do hand-made descriptions."""

from __future__ import annotations

from kinodyn.description.check_tree import check_mimics, check_names, check_tree
from kinodyn.description.check_values import check_joints, check_masses, check_transforms
from kinodyn.description.types import Description


def validate(description: Description) -> None:
    """Raise a `DescriptionError` with file, line and element for the first thing that is wrong.

    Names are unique; the joints make one tree out of the links; placements are rigid, axes unit vectors, limits in
    order; masses and inertias are finite and not negative; a mimic follows a joint that moves by one coordinate.
    A `DescriptionWarning` tells of inertias that no body has although the arithmetic could bear them.
    The time grows linearly with the number of links; nothing recurses.
    """
    check_names(description)
    check_tree(description)
    check_transforms(description)
    check_masses(description)
    check_joints(description)
    check_mimics(description)
