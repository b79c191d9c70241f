"""Colours of links: what the description says, or a calm palette that tells neighbours apart."""

from __future__ import annotations

from kinodyn.description.types import Shape

Colour = tuple[int, int, int]

# steel blue, sand, slate, sage, clay, mist: light enough for shadows to show
PALETTE: tuple[Colour, ...] = (
    (92, 132, 178),
    (222, 184, 122),
    (120, 128, 145),
    (140, 176, 138),
    (206, 124, 96),
    (168, 186, 204),
)
GREYS = 12  # a description whose colours are all nearer together than this has no colours worth keeping


def link_colour(index: int) -> Colour:
    """Choose the colour of the k-th link."""
    return PALETTE[index % len(PALETTE)]


def shape_colour(shape: Shape, otherwise: Colour) -> Colour:
    """Give the colour that the description names, or another one."""
    if shape.rgba is None:
        return otherwise
    red, green, blue = (round(255 * min(max(part, 0.0), 1.0)) for part in shape.rgba[:3])
    return red, green, blue


def shape_opacity(shape: Shape) -> float | None:
    """Give the opacity that the description names; None is opaque."""
    alpha = 1.0 if shape.rgba is None else float(shape.rgba[3])
    return None if alpha >= 1.0 else max(alpha, 0.0)


def colourful(shapes: list[Shape]) -> bool:
    """Tell whether a description's colours distinguish anything."""
    named = [shape.rgba[:3] for shape in shapes if shape.rgba is not None]
    return len({tuple(round(255 * part) // GREYS for part in colour) for colour in named}) > 1
