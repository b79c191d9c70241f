"""Who may talk to the page's server: the page itself, and programs of this machine; no page of another site.

A browser lets every page open web sockets to 127.0.0.1 and only says where the page came from. Viser does not look, so
a site that is open in the same browser could move the robot. The look is taken here, before viser sees the request.
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
_ONE = threading.Lock()


def is_local(host: str) -> bool:
    """Tell whether a host name or address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refusal(hosts: list[str], origins: list[str], *, local: bool) -> str:
    """Say why a request with these headers is refused; empty if it is not.

    A page may only talk to the server that it came from: its origin is the host that it asks for. On this machine alone
    the host must be this machine too, lest a name of somebody else's points here (DNS rebinding). Programs that are no
    browsers send no origin.
    """
    if len(hosts) != 1 or len(origins) > 1:
        return "one host and at most one origin are needed"
    if local and not is_local(urlsplit(f"//{hosts[0]}").hostname or ""):
        return f"this viewer is for its own machine, and {hosts[0]!r} is not a name of it"
    if origins and urlsplit(origins[0]).netloc != hosts[0]:
        return f"a page of {origins[0]!r} may not use this viewer"
    return ""


@contextmanager
def only_own_pages(host: str) -> Iterator[list[str]]:
    """Have the server that viser starts meanwhile refuse requests of other sites; gives who was guarded so.

    Viser offers no place for this: the function by which it begins to listen is exchanged while it does so. If nobody
    was guarded after all, viser listens in another way, and the server is open.
    """
    plain, guarded = library.serve, list[str]()

    def serve(handler: Any, *args: Any, process_request: Check | None = None, **settings: Any) -> Any:
        if handler.__module__.partition(".")[0] == "viser":  # others may begin to listen at the same time
            guarded.append(handler.__module__)
            process_request = _guard(process_request, is_local(host))
        return plain(handler, *args, process_request=process_request, **settings)

    with _ONE:
        library.serve = serve  # type: ignore[misc, assignment]
        try:
            yield guarded
        finally:
            library.serve = plain  # type: ignore[misc]


def _guard(then: Check | None, local: bool) -> Check:
    def check(connection: ServerConnection, request: Request) -> Response | Any:
        headers = request.headers
        why = refusal(headers.get_all("Host"), headers.get_all("Origin"), local=local)
        if why:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
        return then(connection, request) if then is not None else None

    return check
