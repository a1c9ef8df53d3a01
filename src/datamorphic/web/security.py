"""`Gatekeeper`: what stands between the network and the studio: hosts, origins, the token, sizes and headers.

It is plain ASGI and wraps the whole application, the websocket and the static files included.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import ipaddress
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from .options import WebOptions

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

ACCESS_COOKIE = "datamorphic_access"
LOGIN_PATH = "/login"
MAX_LOGIN_BYTES = 4_000
MAX_FAILURES, FAILURE_WINDOW_SECONDS = 5, 60.0  # wrong tokens per address
MAX_ADDRESSES = 10_000  # whose failures are remembered
IPV6_NETWORK_BITS = 64  # of one customer, who may use any address in it
BODY_MARGIN_BYTES = 1_000_000  # of a form around an upload
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
#: what anybody can send, so that nothing depends on it: NiceGUI would write the prefix into pages
PROXY_HEADERS = (b"x-forwarded-prefix", b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"forwarded")

#: with "no-referrer", browsers would name the origin "null" when they send the form of the login page
REFERRER_POLICY = (b"referrer-policy", b"same-origin")
PROXY_HINT = "If a proxy is in front of the studio, start it with --public-url and the address that people open."

LOGIN_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Sign in · datamorphic studio</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:24rem;margin:15vh auto;padding:0 1rem}}
input,button{{font:inherit;padding:.5rem;width:100%;box-sizing:border-box;margin:.25rem 0}}.error{{color:#b3261e}}
@media (prefers-color-scheme:dark){{.error{{color:#ffb4ab}}}}</style></head>
<body><main><h1>datamorphic studio</h1><form method="post" action="/login">
<label for="token">Token</label><input id="token" name="token" type="password" autocomplete="current-password" autofocus required>
<button type="submit">Sign in</button></form><p class="error" role="alert">{message}</p>
<p>The token is the one that the studio was started with.</p></main></body></html>"""


RELOAD_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={path}"><title>datamorphic studio</title></head>
<body><p><a href="{path}">Continue to the studio</a></p></body></html>"""


class Gatekeeper:
    """Refuses requests of other sites, without the token, or too large, and adds the security headers."""

    def __init__(self, application: Application, options: WebOptions, secret: str) -> None:
        self.app, self._options = application, options
        self._secret = secret.encode()
        self._access = self._sign(options.token or "")
        # cookies do not know ports: two studios on one computer must not sign people out of each other
        self.access_cookie = f"{ACCESS_COOKIE}_{self._sign('cookie')[:8]}"
        self._public_host = urlsplit(options.public_origin or "").netloc or None
        self._failures: dict[str, deque[float]] = defaultdict(deque)

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode("utf-8", errors="surrogateescape"), hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._is_known_host(headers.get("host", "")):
            await _refuse(scope, send, 421, f"This address is not one of the studio. {PROXY_HINT}")
            return
        if not self._is_own_origin(scope, headers):
            await _refuse(scope, send, 403, f"Requests from other sites are refused. {PROXY_HINT}")
            return
        if headers.get("sec-fetch-site") in (
            "cross-site",
            "same-site",
        ):  # another port of this host is another site, too
            await self._receive_visitor(scope, headers, send)
            return
        if self._options.token is not None:
            if scope["type"] == "http" and scope["path"] == LOGIN_PATH:
                await self._sign_in(scope, headers, receive, send)
                return
            if not self._has_access(headers):
                await self._ask_for_token(scope, send)
                return
        scope = {**scope, "headers": [item for item in scope["headers"] if item[0].lower() not in PROXY_HEADERS]}
        send = self._add_headers(scope, send)
        if scope["type"] == "http":
            await self._serve_limited(scope, headers, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _serve_limited(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        """Pass a request on, and end it as soon as its body is too large, whatever length it declared."""
        limit = self._options.upload_megabytes * 1_000_000 + BODY_MARGIN_BYTES
        message_text = f"A request may have {self._options.upload_megabytes} MB."
        received, exceeded, answered = 0, _read_length(headers) > limit, False
        if exceeded:
            await _refuse(scope, send, 413, message_text)
            return

        async def receive_limited() -> Message:
            nonlocal received, exceeded
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                exceeded = exceeded or received > limit
            return {"type": "http.disconnect"} if exceeded else message

        async def send_unless_exceeded(message: Message) -> None:
            nonlocal answered
            if not exceeded or answered:
                answered = True
                await send(message)

        try:
            await self.app(scope, receive_limited, send_unless_exceeded)
        except Exception:
            if not exceeded:
                raise
        if exceeded and not answered:
            await _refuse(scope, send, 413, message_text)

    # -- who asks ------------------------------------------------------------------------------------------------------

    def _is_known_host(self, host: str) -> bool:
        """Return whether the address is ours: a page elsewhere may point a name of its own at this computer."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if self._options.is_local:
            return name in (*LOCAL_HOSTS, self._options.host) or host == self._public_host
        return bool(name)

    def _is_own_origin(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Return whether a page of the studio asks. Browsers name the origin of every websocket and of every form."""
        is_reading = scope["type"] == "http" and scope.get("method") in ("GET", "HEAD")
        origin = headers.get("origin")
        if origin is None:
            return is_reading or headers.get("sec-fetch-site", "") == "same-origin"
        if self._options.public_origin is not None and origin == self._options.public_origin:
            return True  # the proxy may have changed the header Host
        return urlsplit(origin).netloc == headers.get("host") or (is_reading and origin == "null")

    async def _receive_visitor(self, scope: Scope, headers: dict[str, str], send: Send) -> None:
        """Let a link of another site open a page, and refuse all else: pictures, scripts, frames and data.

        The browser sends no cookies of the studio with such a link, so that the page would be one of a stranger. A page of
        our own opens it once more, and leaves out what the link asks for after the question mark.
        """
        is_link = (
            scope["type"] == "http"
            and scope.get("method") == "GET"
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
        )
        if not is_link:
            await _refuse(scope, send, 403, "Requests from other sites are refused.")
            return
        path = html.escape("/" + quote(scope["path"].lstrip("/\\")))
        await _send_page(send, 200, RELOAD_PAGE.format(path=path))

    def _has_access(self, headers: dict[str, str]) -> bool:
        """Return whether the cookie is there. Cookies of other servers on this host may be malformed, and do not matter."""
        pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        values = [value for name, _, value in pairs if name == self.access_cookie]
        return any(hmac.compare_digest(value.encode("latin-1"), self._access.encode()) for value in values)

    # -- the token -----------------------------------------------------------------------------------------------------

    async def _ask_for_token(self, scope: Scope, send: Send) -> None:
        if scope["type"] == "http" and scope.get("method") == "GET" and "text/html" in _get_header(scope, "accept"):
            headers = [(b"location", LOGIN_PATH.encode()), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": 303, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await _refuse(scope, send, 401, "Sign in first.")

    async def _sign_in(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await _send_page(send, 200, LOGIN_PAGE.format(message=""))
            return
        body = await _read_body(receive, MAX_LOGIN_BYTES)
        # from here to the decision nothing waits: a thousand attempts at once are counted like a thousand in a row
        failures = self._list_failures((scope.get("client") or ("unknown", 0))[0])
        if len(failures) >= MAX_FAILURES:
            await _send_page(send, 429, LOGIN_PAGE.format(message="Too many wrong tokens. Try again in a minute."))
            return
        token = parse_qs(body.decode("utf-8", errors="replace")).get("token", [""])[0]
        if not hmac.compare_digest(self._sign(token), self._access):
            failures.append(time.monotonic())
            await _send_page(send, 403, LOGIN_PAGE.format(message="This is not the token."))
            return
        failures.clear()
        cookie = f"{self.access_cookie}={self._access}; Path=/; HttpOnly; SameSite=Strict"
        if headers.get("origin", "").startswith("https:"):
            cookie += "; Secure"
        response_headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 303, "headers": response_headers})
        await send({"type": "http.response.body", "body": b""})

    def _list_failures(self, address: str) -> deque[float]:
        """Return the times of wrong tokens from an address in the last minute."""
        try:
            if ipaddress.ip_address(address).version == 6:
                address = str(ipaddress.ip_network((address, IPV6_NETWORK_BITS), strict=False))
        except ValueError:
            pass
        begin = time.monotonic() - FAILURE_WINDOW_SECONDS
        if len(self._failures) > MAX_ADDRESSES:
            recent = {key: times for key, times in self._failures.items() if times and times[-1] >= begin}
            self._failures = defaultdict(deque, recent)
        failures = self._failures[address]
        while failures and failures[0] < begin:
            failures.popleft()
        return failures

    # -- headers -------------------------------------------------------------------------------------------------------

    def _add_headers(self, scope: Scope, send: Send) -> Send:
        hosts = filter(None, (_get_header(scope, "host"), self._public_host))
        security_headers = [
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"SAMEORIGIN"),
            REFERRER_POLICY,
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
            (b"content-security-policy", build_policy(*hosts).encode("latin-1")),
        ]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                extra = [header for header in security_headers if header[0] not in names]
                if b"cache-control" not in names:
                    extra.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        return send_with_headers


def build_policy(*hosts: str) -> str:
    """Return the content security policy of a page of a studio that is reached at these hosts.

    NiceGUI writes its scripts into the page and compiles templates in the browser, so that both must be allowed. All else comes
    from the studio itself: nothing is loaded from, or sent to, another host.
    """
    sockets = " ".join(f"ws://{host} wss://{host}" for host in dict.fromkeys(hosts))
    return (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' {sockets}; "
        "worker-src 'self' blob:; frame-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
    )


def _get_header(scope: Scope, name: str) -> str:
    wanted = name.encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key.lower() == wanted), "")


def _read_length(headers: dict[str, str]) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdigit() else 0


async def _read_body(receive: Receive, limit: int) -> bytes:
    body = b""
    while len(body) <= limit:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body[:limit]


async def _refuse(scope: Scope, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


async def _send_page(send: Send, status: int, text: str) -> None:
    policy = (
        b"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-security-policy", policy),
        (b"x-content-type-options", b"nosniff"),
        REFERRER_POLICY,
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
