"""The web server of the viewer: viser on a local port, for its own pages only."""

from __future__ import annotations

import secrets
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import rich
import viser

from kinodyn.checks import integer
from kinodyn.errors import InputError, KinodynError, outside
from kinodyn.viewer.origin_check import is_local, same_origin_only

LOCALHOST = "127.0.0.1"
_CONSOLE_LOCK = threading.Lock()


class PageServer(viser.ViserServer):
    """A viser server that never opens a tunnel to the internet.

    Attributes
    ----------
    token : str
        What the address of the page must contain; empty if only this machine can reach the server.
    """

    token = ""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Reject the request: a page can send it, and it would make the viewer public."""
        return None


def open_server(host: str, port: int | None, title: str) -> PageServer:
    """Start a server at `host` on `port`, or on a free port if None.

    If other machines can reach the host, the address of the page contains a token, without which nothing is served.

    Raises KinodynError if the address is not available.
    """
    _check(host, port)
    token = "" if is_local(host) else secrets.token_urlsafe(16)
    if token:
        warnings.warn(
            f"the viewer listens on {host}: everybody who has its address, which is sent unencrypted, can see and move "
            f"the robot; use {LOCALHOST} for local access only",
            UserWarning,
            stacklevel=outside(),
        )
    _require_free(host, port or 0)
    with _silent(), same_origin_only(host, token) as patched:
        server = PageServer(host=host, port=port or 0, label=title, verbose=False)
    if not patched:
        close_server(server)
        raise KinodynError("this version of viser cannot reject pages of other sites; kinodyn is tested with viser 1.1")
    if port is not None and server.get_port() != port:  # viser silently takes the next one
        close_server(server)
        raise InputError(f"port {port} of {host} is in use; give another one, or None for a free one")
    server.token = token
    return server


def close_server(server: viser.ViserServer) -> None:
    """Stop a server and wait until its port is free."""
    with _silent():
        server.stop()


def address(host: str, port: int, token: str = "") -> str:
    """Return the address of the page, with the token that it needs, if any."""
    shown = LOCALHOST if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}" + (f"/?token={token}" if token else "")


def _check(host: str, port: int | None) -> None:
    if not isinstance(host, str) or not host:
        raise InputError(f"host must be a name or an address such as {LOCALHOST!r}, got {host!r}")
    if port is not None:
        integer("port", port, 1, 65535)


def _require_free(host: str, port: int) -> None:
    """Try the address first: viser would search for another port endlessly."""
    try:
        kind, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as cause:
        location = f"port {port} of {host}" if port else f"host {host!r}"
        raise InputError(f"the viewer cannot listen on {location}: {cause.strerror or cause}") from cause


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress viser's banner; the viewer prints one line of its own."""
    console = rich.get_console()
    with _CONSOLE_LOCK:
        before, console.quiet = console.quiet, True
        try:
            yield
        finally:
            console.quiet = before
