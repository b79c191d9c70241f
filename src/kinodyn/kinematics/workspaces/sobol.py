"""Points of Sobol's sequence by their numbers, in any order.

SciPy draws the sequence from its beginning; skipping n points takes a time proportional to n. Point n is the exclusive
or of one direction number for each bit of the Gray code of n, so that any point can be computed alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array

BITS = 30  # of each coordinate, and of the numbers of points
LOW_BITS = 15  # of a number; points of these are tabulated

Words = NDArray[np.uint32]


def sobol(dimensions: int, numbers: NDArray[np.int64]) -> Array:
    """Compute points of the sequence, which is not scrambled.

    Parameters
    ----------
    dimensions : int
    numbers : (n,)
        Numbers of the points, from 0 to 2**30 - 1.

    Returns
    -------
    (n, dimensions)
        In the unit cube.
    """
    low = numbers & ((1 << LOW_BITS) - 1)
    blocks, place = np.unique(numbers - low, return_inverse=True)
    bits = max(LOW_BITS, int(blocks.max(initial=0)).bit_length())
    start = _combined(_direction_numbers(dimensions, bits), blocks)
    words = _first_points(dimensions)[low] ^ start[place.ravel()]
    return np.asarray(words / float(1 << BITS))


@cache
def _first_points(dimensions: int) -> Words:
    numbers = np.arange(1 << LOW_BITS, dtype=np.int64)
    return _combined(_direction_numbers(dimensions, LOW_BITS), numbers)


def _combined(directions: Words, numbers: NDArray[np.int64]) -> Words:
    """Combine the direction numbers (bits, dimensions) of the bits of the Gray codes of `numbers`."""
    gray = numbers ^ (numbers >> 1)
    words = np.zeros((len(numbers), directions.shape[1]), dtype=np.uint32)
    for bit, direction in enumerate(directions):
        words[(gray >> bit & 1).astype(bool)] ^= direction
    return words


@cache
def _direction_numbers(dimensions: int, bits: int) -> Words:
    """Return the direction numbers (bits, dimensions), from the points 2**k of the sequence."""
    from scipy.stats import qmc  # slow to import

    sequence = qmc.Sobol(dimensions, scramble=False, bits=BITS)
    directions = np.zeros((bits, dimensions), dtype=np.uint32)
    before = np.zeros(dimensions, dtype=np.uint32)
    for bit in range(bits):
        sequence.fast_forward((1 << bit) - sequence.num_generated)
        point = np.round(sequence.random(1)[0] * (1 << BITS)).astype(np.uint32)
        before = directions[bit] = point ^ before  # the Gray code of 2**k has the bits k and k - 1
    return directions
