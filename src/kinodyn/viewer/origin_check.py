"""Origin check: only pages that this server sent, and local programs, may connect to it.

Browsers let every page open web sockets to 127.0.0.1 and only report the page's origin. Viser does not check it, so a
website open in the same browser could move the robot. The check is made here, before viser sees the request.

A server that other machines can reach also requires a token, which is part of the address that the viewer prints. The
page's first request has it in its query; the answer stores it in a cookie, which all further requests carry.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import websockets.asyncio.server as library
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

COOKIE = "kinodyn_token"
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


def is_own_name(name: str, host: str) -> bool:
    """Return whether a name in an address can be meant for this machine: an IP address, or one of its own names.

    A page of another site that makes its name point here (DNS rebinding) has neither.
    """
    try:
        ipaddress.ip_address(name)
    except ValueError:
        own = socket.gethostname().lower()
        return name.lower() in {"localhost", host.lower(), own, own.partition(".")[0], f"{own}.local", socket.getfqdn()}
    return True


def rejection_reason(hosts: list[str], origins: list[str], *, host: str) -> str:
    """Return why a request with these headers is rejected; empty if it is accepted.

    A page may only connect to the server it came from: its origin must equal the requested host. The requested host
    must be this machine, of a server that listens on a local address a local name. Programs other than browsers send no
    origin.
    """
    if len(hosts) != 1 or len(origins) > 1:
        return "exactly one Host and at most one Origin header are required"
    try:
        name = urlsplit(f"//{hosts[0]}").hostname or ""
    except ValueError:
        return "the Host header is not an address"
    if is_local(host) and not is_local(name):
        return f"this viewer accepts local connections only, and {hosts[0]!r} is not a local host name"
    if not is_own_name(name, host):
        return f"{hosts[0]!r} is not a name of this machine"
    if origins and urlsplit(origins[0]).netloc != hosts[0]:
        return f"pages of {origins[0]!r} may not connect to this viewer"
    return ""


@contextmanager
def same_origin_only(host: str, token: str = "") -> Iterator[list[str]]:
    """Make the server that viser starts within this context reject requests of other sites, and those without token.

    Yields the modules whose servers were patched. Viser has no hook for this: the function with which it starts to
    listen is replaced meanwhile. An empty list at the end means that viser listens in another way, unprotected.
    """
    plain, patched = library.serve, list[str]()

    def serve(handler: Any, *args: Any, process_request: Check | None = None, **settings: Any) -> Any:
        if handler.__module__.partition(".")[0] == "viser":  # other libraries may start a server at the same time
            patched.append(handler.__module__)
            process_request = _checked(process_request, host, token)
        return plain(handler, *args, process_request=process_request, **settings)

    with _PATCH_LOCK:
        library.serve = serve  # type: ignore[misc, assignment]
        try:
            yield patched
        finally:
            library.serve = plain  # type: ignore[misc]


def _checked(then: Check | None, host: str, token: str) -> Check:
    def check(connection: ServerConnection, request: Request) -> Response | Any:
        headers = request.headers
        why = rejection_reason(headers.get_all("Host"), headers.get_all("Origin"), host=host)
        if why:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
        if token and not _has_cookie(headers.get_all("Cookie"), token):
            return _set_token_cookie(connection, request, token)
        return then(connection, request) if then is not None else None

    return check


def _has_cookie(headers: list[str], token: str) -> bool:
    for header in headers:
        try:
            found = SimpleCookie(header).get(COOKIE)
        except CookieError:
            continue
        if found is not None and hmac.compare_digest(found.value.encode(), token.encode()):
            return True
    return False


def _set_token_cookie(connection: ServerConnection, request: Request, token: str) -> Response:
    """Answer a request without cookie: if its query has the token, store it and send the page once more."""
    given = parse_qs(urlsplit(request.path).query).get("token", [""])[0]
    if not hmac.compare_digest(given.encode(), token.encode()):
        return connection.respond(HTTPStatus.FORBIDDEN, "open the address that the viewer printed, with its token\n")
    response = connection.respond(HTTPStatus.FOUND, "")
    response.headers["Location"] = "/"
    response.headers["Set-Cookie"] = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
    return response
