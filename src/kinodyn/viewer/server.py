"""The web server behind the viewer: viser on a free port of this machine, for its own pages, and nothing leaves it."""

from __future__ import annotations

import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import rich
import viser

from kinodyn.errors import InputError, KinodynError
from kinodyn.viewer.guard import is_local, only_own_pages

HERE = "127.0.0.1"
_SILENCE = threading.Lock()


class PageServer(viser.ViserServer):
    """A viser server that offers no tunnel to the outside, whoever asks for one."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: a page can send this request, and the answer would open the viewer to the world."""
        return None


def open_server(host: str, port: int | None, title: str) -> PageServer:
    """Start a server at `host` on `port`, or on a free port if None.

    Raises KinodynError if the address cannot be taken. A host that others can reach comes with a warning.
    """
    _check(host, port)
    if not is_local(host):
        warnings.warn(
            f"the viewer listens on {host}: everybody who reaches this machine can see and move the robot; "
            f"{HERE} keeps it here",
            UserWarning,
            stacklevel=4,
        )
    _require_free(host, port or 0)
    with _silent(), only_own_pages(host) as guarded:
        server = PageServer(host=host, port=port or 0, label=title, verbose=False)
    if not guarded:
        close_server(server)
        raise KinodynError("this viser cannot keep out pages of other sites; kinodyn was made with viser 1.1")
    if port is not None and server.get_port() != port:  # viser takes the next one in silence
        close_server(server)
        raise KinodynError(f"port {port} of {host} was taken just now; give another one, or none for a free one")
    return server


def close_server(server: viser.ViserServer) -> None:
    """Stop a server and wait until its port is free again."""
    with _silent():
        server.stop()


def address(host: str, port: int) -> str:
    """Write the address of the page."""
    shown = HERE if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def _check(host: str, port: int | None) -> None:
    if not isinstance(host, str) or not host:
        raise InputError(f"host must be a name or an address such as {HERE!r}, got {host!r}")
    whole = isinstance(port, int) and not isinstance(port, bool)
    if port is not None and not (whole and 0 < port < 65536):
        raise InputError(f"port must be a whole number from 1 to 65535, or None for a free one, got {port!r}")


def _require_free(host: str, port: int) -> None:
    """Try the address first: viser would look for another port without end."""
    try:
        kind, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as cause:
        wanted = f"port {port} of {host}" if port else f"host {host!r}"
        raise KinodynError(f"the viewer cannot listen on {wanted}: {cause.strerror or cause}") from cause


@contextmanager
def _silent() -> Iterator[None]:
    """Keep viser from printing its own banner; the viewer prints one line."""
    console = rich.get_console()
    with _SILENCE:
        before, console.quiet = console.quiet, True
        try:
            yield
        finally:
            console.quiet = before
