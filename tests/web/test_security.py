"""The gatekeeper: hosts, origins, the token, sizes and headers, in front of an application that does whatever it is asked."""

import asyncio
import hashlib
import hmac

import pytest

from datamorphic.web import security
from datamorphic.web.options import WebOptions
from datamorphic.web.security import MAX_FAILURES, Gatekeeper, build_policy
from support.cases import in_one_test

httpx = pytest.importorskip("httpx", reason="pip install 'datamorphic[web]'")

TOKEN, SECRET = "correct horse battery", "0" * 64
OWN = {"origin": "http://127.0.0.1:8080"}


class Application:
    """Answers all requests, and remembers them."""

    def __init__(self):
        self.scopes, self.bodies = [], []

    async def __call__(self, scope, receive, send):
        self.scopes.append(scope)
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError("the client has gone")
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"welcome"})


@pytest.fixture
def studio(tmp_path):
    """Build a gatekeeper; `ask` sends one request to it."""

    class Studio:
        def __init__(self, **options):
            self.application = Application()
            self.gatekeeper = Gatekeeper(self.application, WebOptions(folder=tmp_path, **options), SECRET)

        def ask(self, method="GET", path="/", *, base="http://127.0.0.1:8080", address="127.0.0.1", **request):
            async def send():
                transport = httpx.ASGITransport(app=self.gatekeeper, client=(address, 1))
                async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                    return await client.request(method, path, **request)

            return asyncio.run(send())

        def connect(self, **headers):
            """Return the answer to a websocket."""
            raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
            messages = []

            async def send(message):
                messages.append(message)

            scope = {"type": "websocket", "path": "/_nicegui_ws/socket.io/", "headers": raw, "client": ("127.0.0.1", 1)}
            asyncio.run(self.gatekeeper(scope, None, send))
            return messages[0]["type"]

        def sign_in(self, token, **request):
            return self.ask("POST", "/login", data={"token": token}, headers=OWN, **request)

    return Studio


# -- hosts and origins -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"])
def test_this_computer_has_three_names(studio, base):
    assert studio().ask(base=base).text == "welcome"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "127.0.0.1:x"])
def test_a_name_that_was_pointed_at_this_computer_is_refused(studio, host):
    box = studio()
    assert box.ask(headers={"host": host}).status_code == 421
    assert box.connect(host=host, origin=f"http://{host}") == "websocket.close"
    assert not box.application.scopes


@in_one_test(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9000", "http://127.0.0.1:8080.evil.example", "", "x"]
)
def test_a_foreign_origin_is_refused_on_forms_and_on_the_websocket(studio, origin):
    box = studio()
    assert box.ask("POST", "/upload", headers={"origin": origin}).status_code == 403
    assert box.connect(host="127.0.0.1:8080", origin=origin) == "websocket.close"
    assert not box.application.scopes


def test_a_websocket_without_an_origin_is_no_browser_of_ours(studio):
    box = studio()
    assert box.connect(host="127.0.0.1:8080") == "websocket.close"
    assert box.connect(host="127.0.0.1:8080", origin="http://127.0.0.1:8080") == "websocket.accept"
    assert box.ask("POST", "/").status_code == 403
    assert box.ask("POST", "/", headers=OWN).status_code == 200


@in_one_test("site", ["cross-site", "same-site"])
@in_one_test("destination", ["image", "script", "iframe", "empty"])
def test_other_sites_load_nothing(studio, site, destination):
    mode = "navigate" if destination == "iframe" else "no-cors"
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}
    assert studio().ask(path="/jobs/1/report", headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/runs?demo=1", "/runs"),
        ("//evil.example/x", "/evil.example/x"),
        ("/\\evil.example", "/evil.example"),
        ('/"><script>', "/%22%3E%3Cscript%3E"),
    ],
)
def test_a_link_of_another_site_opens_the_page_once_more(studio, path, target):
    box = studio()
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    response = box.ask(path="http://127.0.0.1:8080" + path, headers=headers)
    assert f'content="0; url={target}"' in response.text
    assert not response.headers.get_list("set-cookie")  # the session of the person stays
    assert not box.application.scopes


def test_a_proxy_is_not_believed(studio):
    box = studio()
    box.ask(headers={"x-forwarded-prefix": "</style><script>", "x-forwarded-for": "1.2.3.4", "accept": "text/html"})
    names = [name for name, _ in box.application.scopes[0]["headers"]]
    assert b"accept" in names
    assert not [name for name in names if name.startswith(b"x-forwarded")]


@in_one_test("host", ["studio.example.org", "127.0.0.1:8080"])
def test_behind_a_proxy_its_address_is_known_whether_it_keeps_the_host_or_not(studio, host):
    box = studio(token=TOKEN, public_url="https://Studio.example.org:443/")
    own = {"host": host, "origin": "https://studio.example.org"}
    response = box.ask("POST", "/login", data={"token": TOKEN}, headers=own)
    assert response.status_code == 303
    cookie = response.headers["set-cookie"]
    assert cookie.endswith("; Secure")
    pair = cookie.partition(";")[0]
    assert box.connect(cookie=pair, **own) == "websocket.accept"
    policy = box.ask(headers={**own, "cookie": pair}).headers["content-security-policy"]
    assert "wss://studio.example.org" in policy


@in_one_test(
    "origin", ["null", "http://studio.example.org", "https://studio.example.org.evil.example", "https://evil.example"]
)
def test_behind_a_proxy_other_origins_are_refused(studio, origin):
    box = studio(token=TOKEN, public_url="https://studio.example.org")
    for host in ("127.0.0.1:8080", "evil.example"):
        response = box.ask("POST", "/login", data={"token": TOKEN}, headers={"host": host, "origin": origin})
        assert response.status_code in (403, 421)
        assert "--public-url" in response.text
    assert box.connect(host="127.0.0.1:8080", origin=origin) == "websocket.close"


# -- the token ---------------------------------------------------------------------------------------------------------


def test_browsers_name_the_origin_when_they_send_the_form(studio):
    """With the policy "no-referrer", Chromium and Firefox send ``Origin: null``, which is refused."""
    assert studio(token=TOKEN).ask(path="/login").headers["referrer-policy"] == "same-origin"


def test_without_the_token_there_is_only_the_form(studio):
    box = studio(token=TOKEN)
    page = box.ask(headers={"accept": "text/html"})
    assert (page.status_code, page.headers["location"]) == (303, "/login")
    assert box.ask(path="/_nicegui/x.js").status_code == 401
    assert box.ask("POST", "/upload", headers=OWN).status_code == 401
    assert box.connect(host="127.0.0.1:8080", **OWN) == "websocket.close"
    form = box.ask(path="/login")
    assert form.status_code == 200
    assert "default-src 'none'" in form.headers["content-security-policy"]
    assert not box.application.scopes


def test_the_token_opens_the_studio(studio):
    box = studio(token=TOKEN)
    response = box.sign_in(TOKEN)
    assert response.status_code == 303
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    pair = cookie.partition(";")[0]
    assert box.ask(headers={"cookie": pair}).text == "welcome"
    assert box.ask(headers={"cookie": f'other={{"a": 1}}; {pair}'}).text == "welcome"  # of another server on this host
    assert box.connect(host="127.0.0.1:8080", cookie=pair, **OWN) == "websocket.accept"


def test_a_cookie_of_an_earlier_token_is_worth_nothing(studio):
    pair = studio(token=TOKEN).sign_in(TOKEN).headers["set-cookie"].partition(";")[0]
    box = studio(token="another good token")
    assert box.ask(headers={"cookie": pair}).status_code == 401
    assert box.connect(host="127.0.0.1:8080", cookie=pair, **OWN) == "websocket.close"


@pytest.mark.parametrize("cookie", ["{name}=", "{name}=x", "{name}", "=;;=", "{name}=ü"])
def test_a_forged_cookie_is_worth_nothing(studio, cookie):
    box = studio(token=TOKEN)
    text = cookie.format(name=box.gatekeeper.access_cookie).encode("latin-1")
    assert box.ask(headers={b"cookie": text}).status_code == 401


def test_tokens_are_compared_in_constant_time(studio, monkeypatch):
    box, compared = studio(token=TOKEN), []

    def compare(first, second):
        compared.append((first, second))
        return hmac.compare_digest(first, second)

    monkeypatch.setattr(
        security, "hmac", type("Module", (), {"compare_digest": staticmethod(compare), "new": hmac.new})
    )
    assert box.sign_in("wrong").status_code == 403
    assert [(len(first), len(second)) for first, second in compared] == [(64, 64)]  # of digests: no length is revealed
    assert TOKEN not in str(compared)


def test_guessing_is_slowed_down(studio, monkeypatch):
    box, now = studio(token=TOKEN), [1_000.0]
    monkeypatch.setattr(security.time, "monotonic", lambda: now[0])
    for _ in range(MAX_FAILURES):
        assert box.sign_in("wrong token").status_code == 403
    assert box.sign_in(TOKEN).status_code == 429  # even the right one
    assert box.sign_in(TOKEN, address="192.0.2.7").status_code == 303  # other people are not concerned
    now[0] += 61
    assert box.sign_in(TOKEN).status_code == 303


def test_many_attempts_at_once_are_counted_too(studio):
    box = studio(token=TOKEN)

    async def attack():
        transport = httpx.ASGITransport(app=box.gatekeeper)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
            attempts = [client.post("/login", data={"token": f"guess {n}"}, headers=OWN) for n in range(40)]
            return [response.status_code for response in await asyncio.gather(*attempts)]

    assert asyncio.run(attack()).count(403) == MAX_FAILURES


def test_all_addresses_of_a_network_count_as_one(studio):
    box = studio(token=TOKEN)
    for number in range(MAX_FAILURES):
        box.sign_in("wrong token", address=f"2001:db8::{number + 1:x}")
    assert box.sign_in("wrong token", address="2001:db8::ffff").status_code == 429
    assert box.sign_in("wrong token", address="2001:db8:0:1::1").status_code == 403


def test_failures_of_many_addresses_are_forgotten(studio, monkeypatch):
    box, now = studio(token=TOKEN), [1_000.0]
    monkeypatch.setattr(security.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(security, "MAX_ADDRESSES", 3)
    for number in range(4):
        box.sign_in("wrong token", address=f"192.0.2.{number}")
    now[0] += 61
    box.sign_in("wrong token", address="192.0.2.9")
    assert len(box.gatekeeper._failures) == 1


def test_hostile_tokens_are_harmless(studio):
    box = studio(token=TOKEN)
    for token in ("<script>alert(1)</script>", "\ud800".encode("utf-8", "surrogatepass"), b"\xff\xfe", "a" * 10_000):
        response = box.sign_in(token)
        assert response.status_code in (403, 429)
        assert "<script>" not in response.text


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_a_body_that_declares_too_much_is_refused(studio):
    box = studio(upload_megabytes=1)
    response = box.ask("POST", "/upload", headers=OWN, content=b"x" * 2_100_000)
    assert response.status_code == 413
    assert not box.application.scopes


def test_a_body_that_declares_nothing_is_cut_off(studio):
    box, sent = studio(upload_megabytes=1), []

    async def read_chunks():
        for _ in range(100):
            sent.append(1)
            yield b"x" * 100_000

    response = box.ask("POST", "/upload", headers=OWN, content=read_chunks())
    assert response.status_code == 413
    assert "1 MB" in response.text
    assert not box.application.bodies


def test_a_body_within_the_limit_arrives(studio):
    box = studio(upload_megabytes=1)
    assert box.ask("POST", "/upload", headers=OWN, content=b"x" * 900_000).status_code == 200
    assert len(box.application.bodies[0]) == 900_000


# -- headers -----------------------------------------------------------------------------------------------------------


def test_every_page_has_the_headers(studio):
    headers = studio().ask().headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert headers["content-security-policy"] == build_policy("127.0.0.1:8080")


def test_the_policy_names_no_other_host():
    policy = build_policy("127.0.0.1:8080")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'self'"
    assert rules["object-src"] == "'none'"
    assert "*" not in policy
    assert "http:" not in policy.replace("ws://127.0.0.1:8080", "")


def test_the_token_is_in_no_text(studio):
    options = WebOptions(token=TOKEN)
    assert TOKEN not in repr(options)
    box = studio(token=TOKEN)
    assert hashlib.sha256(TOKEN.encode()).hexdigest() != box.gatekeeper._access  # a key is needed
