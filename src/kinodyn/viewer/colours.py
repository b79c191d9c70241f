"""Colours of links: those of the description, or a palette in which neighbours differ."""

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
COLOUR_RESOLUTION = 12  # colours that differ by less (of 255) count as equal


def link_colour(index: int) -> Colour:
    """Return the palette colour of the k-th link."""
    return PALETTE[index % len(PALETTE)]


def shape_colour(shape: Shape, otherwise: Colour) -> Colour:
    """Return the colour of the description, or `otherwise`."""
    if shape.rgba is None:
        return otherwise
    red, green, blue = (round(255 * min(max(part, 0.0), 1.0)) for part in shape.rgba[:3])
    return red, green, blue


def shape_opacity(shape: Shape) -> float | None:
    """Return the opacity of the description; None is opaque."""
    alpha = 1.0 if shape.rgba is None else float(shape.rgba[3])
    return None if alpha >= 1.0 else max(alpha, 0.0)


def colourful(shapes: list[Shape]) -> bool:
    """Return whether the description has at least two different colours."""
    named = [shape.rgba[:3] for shape in shapes if shape.rgba is not None]
    return len({tuple(round(255 * part) // COLOUR_RESOLUTION for part in colour) for colour in named}) > 1
