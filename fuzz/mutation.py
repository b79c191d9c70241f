"""Mutation of files: bytes, numbers, words and whole pieces, by a seeded generator."""

from __future__ import annotations

import random
import re

_TOKEN = re.compile(rb"""-?\d+\.?\d*(?:[eE][-+]?\d+)?|"[^"]*"|<[^<>]*>|\w+|\s+|.""", re.DOTALL)
WORDS = [
    *(b"nan", b"inf", b"-inf", b"1e999", b"-1", b"0", b"1e308", b"99999999999999999999", b"1e-320", b"0x10"),
    *(b'""', b'"../../../etc/passwd"', b"<", b">", b"&lt;", b"&#0;", b"]]>", b"<!--", b"<![CDATA[", b"--->"),
    *(b"\xff\xfe", b"\x00", b"\xef\xbb\xbf", b"{", b"}", b"[", b"*a", b"&a", b"!!python/object", b",", b"\n", b";"),
]


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return a file with one to four changes."""
    binary = b"\0" in content[:4096]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = _bytes_changed(content, rng) if binary or rng.random() < 0.2 else _tokens_changed(content, rng)
    return content


def _bytes_changed(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return rng.choice(WORDS)
    data, at = bytearray(content), rng.randrange(len(content))
    kind = rng.randrange(6)
    if kind == 0:
        data[at] = rng.randrange(256)
    elif kind == 1:
        del data[at : at + rng.choice((1, 2, 8, 64))]
    elif kind == 2:
        data[at:at] = rng.randbytes(rng.choice((1, 4, 16)))
    elif kind == 3:
        return bytes(data[:at])
    elif kind == 4:
        data[at : at + 8] = rng.choice((b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7))
    else:
        data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


def _tokens_changed(content: bytes, rng: random.Random) -> bytes:
    tokens = _TOKEN.findall(content)
    if not tokens:
        return rng.choice(WORDS)
    at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    kind = rng.randrange(7)
    if kind == 0:
        tokens[at] = rng.choice(WORDS)
    elif kind == 1:
        del tokens[at]
    elif kind == 2:
        tokens[at] = tokens[other]
    elif kind == 3:
        first, last = sorted((at, other))
        tokens[first:first] = tokens[first : min(last, first + 200)]
    elif kind == 4:
        first, last = sorted((at, other))
        del tokens[first : min(last, first + 50)]
    elif kind == 5:
        _change_number(tokens, rng)
    else:
        tokens[at:at] = [rng.choice(WORDS)] * rng.choice((1, 10, 1000))
    return b"".join(tokens)


def _change_number(tokens: list[bytes], rng: random.Random) -> None:
    places = [k for k, token in enumerate(tokens) if re.search(rb"\d", token)]
    if places:
        at = rng.choice(places)
        tokens[at] = re.sub(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?", lambda _: rng.choice(WORDS[:10]), tokens[at], count=1)
