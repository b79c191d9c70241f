"""Origin check: only pages that this server sent, and local programs, may connect to it.

Browsers let every page open web sockets to 127.0.0.1 and only report the page's origin. Viser does not check it, so a
website open in the same browser could move the robot. The check is made here, before viser sees the request.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import websockets.asyncio.server as library
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

Check = Callable[[ServerConnection, Request], Any]
_PATCH_LOCK = threading.Lock()


def is_local(host: str) -> bool:
    """Return whether a host name or address can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def rejection_reason(hosts: list[str], origins: list[str], *, local: bool) -> str:
    """Return why a request with these headers is rejected; empty if it is accepted.

    A page may only connect to the server it came from: its origin must equal the requested host. A local server also
    requires a local host name, against DNS rebinding. Programs other than browsers send no origin.
    """
    if len(hosts) != 1 or len(origins) > 1:
        return "exactly one Host and at most one Origin header are required"
    if local and not is_local(urlsplit(f"//{hosts[0]}").hostname or ""):
        return f"this viewer accepts local connections only, and {hosts[0]!r} is not a local host name"
    if origins and urlsplit(origins[0]).netloc != hosts[0]:
        return f"pages of {origins[0]!r} may not connect to this viewer"
    return ""


@contextmanager
def same_origin_only(host: str) -> Iterator[list[str]]:
    """Make the server that viser starts within this context reject requests of other sites.

    Yields the modules whose servers were patched. Viser has no hook for this: the function with which it starts to
    listen is replaced meanwhile. An empty list at the end means that viser listens in another way, unprotected.
    """
    plain, patched = library.serve, list[str]()

    def serve(handler: Any, *args: Any, process_request: Check | None = None, **settings: Any) -> Any:
        if handler.__module__.partition(".")[0] == "viser":  # other libraries may start a server at the same time
            patched.append(handler.__module__)
            process_request = _checked(process_request, is_local(host))
        return plain(handler, *args, process_request=process_request, **settings)

    with _PATCH_LOCK:
        library.serve = serve  # type: ignore[misc, assignment]
        try:
            yield patched
        finally:
            library.serve = plain  # type: ignore[misc]


def _checked(then: Check | None, local: bool) -> Check:
    def check(connection: ServerConnection, request: Request) -> Response | Any:
        headers = request.headers
        why = rejection_reason(headers.get_all("Host"), headers.get_all("Origin"), local=local)
        if why:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
        return then(connection, request) if then is not None else None

    return check
