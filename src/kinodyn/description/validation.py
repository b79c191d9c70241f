"""Validation of a description. Every reader ends with it, and `Robot` applies it to hand-made descriptions too."""

from __future__ import annotations

from kinodyn.argument_types import check_types
from kinodyn.description.check_tree import check_mimics, check_names, check_tree
from kinodyn.description.check_values import check_joints, check_masses, check_transforms
from kinodyn.description.types import Description


@check_types
def validate(description: Description) -> None:
    """Check a description, in time linear in the number of links.

    Parameters
    ----------
    description
        The description: names are unique, the joints connect the links to one tree, poses are rigid, axes unit vectors,
        limits in order, masses and inertias finite and not negative, mimics follow joints with one coordinate.

    Raises
    ------
    DescriptionError
        For the first fault, with file, line and element. Physically inconsistent inertias are a `DescriptionWarning`.
    """
    check_names(description)
    check_tree(description)
    check_transforms(description)
    check_masses(description)
    check_joints(description)
    check_mimics(description)
