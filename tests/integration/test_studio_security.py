"""The studio as an attacker meets it: a real server, asked by hand."""

import re
import socket
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import joblib
import pytest

from datamorphic.systems.files import load_model
from support.reverse_proxy import run_reverse_proxy
from support.studio import DATA, HOSTILE, MODEL, START_SECONDS, find_free_port, run_server

httpx = pytest.importorskip("httpx", reason="pip install 'datamorphic[web]'")

pytest_plugins = ["support.studio"]
pytestmark = [pytest.mark.slow, pytest.mark.studio]
TOKEN = "correct horse battery"


@pytest.fixture
def person(studio_server):
    """Clients with cookies of their own: `person()`."""
    clients = []

    def make(**options):
        clients.append(httpx.Client(base_url=studio_server.url, timeout=START_SECONDS, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@contextmanager
def connect(server, query, **headers):
    """Shake hands for a websocket by hand, and give the status and what follows."""
    host = server.url.removeprefix("http://")
    address, _, port = host.partition(":")
    lines = {
        "Host": host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Origin": server.url,
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    with socket.create_connection((address, int(port)), timeout=START_SECONDS) as connection:
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        connection.sendall(
            f"GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket{query} HTTP/1.1\r\n{head}\r\n".encode()
        )
        yield int(connection.recv(4_096).split()[1]), connection


def read_client_id(page):
    return re.search(r"client_id['\"]?: ?['\"]([0-9a-f-]+)", page.text)[1]


def test_the_first_page_says_who_one_is_in_a_cookie_that_scripts_cannot_read(person):
    response = person().get("/")
    assert response.status_code == 200
    (cookie,) = response.headers.get_list("set-cookie")
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert "frame-ancestors 'self'" in response.headers["content-security-policy"]
    assert "server" not in response.headers


def test_a_new_page_is_no_person_of_others(person, studio_server):
    for cookie in ("x", "eyJpZCI6ICJhIn0=.aa.bb", ""):
        name = person().get("/").headers["set-cookie"].partition("=")[0]
        response = person(cookies={name: cookie}).get("/")
        assert response.status_code == 200
        assert len(response.headers.get_list("set-cookie")) == 1  # a new session


@pytest.mark.parametrize(
    "path",
    [
        *("/jobs/1/report", "/jobs/1/files/job.json", "/jobs/1/files/..%2f..%2fworkspace.json", "/jobs/-1/report"),
        *("/jobs/x/report", "/jobs/99999999999999999999/report", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"),
        *("/_nicegui/3.18.0/static/..%2f..%2f..%2fetc/passwd", f"/{HOSTILE}", "/static/", "/docs", "/openapi.json"),
    ],
)
def test_paths_that_lead_nowhere(person, path):
    response = person().get(path, follow_redirects=True)
    assert response.status_code in (400, 403, 404)
    assert "Traceback" not in response.text
    assert "<img" not in response.text
    assert "root:" not in response.text


def test_a_foreign_origin_gets_no_websocket(person, studio_server):
    page = person().get("/")
    query = f"&client_id={read_client_id(page)}"
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}):
        with connect(studio_server, query, **headers) as (status, _):
            assert status == 403
    with connect(studio_server, query) as (status, _):
        assert status == 101


def test_polling_is_no_way_around_the_websocket(person):
    client = person()
    address = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert client.post(address, content="40", headers={"origin": "http://evil.example"}).status_code == 403
    assert client.get(address, headers={"origin": "http://evil.example"}).status_code == 403


def test_a_page_of_an_earlier_studio_is_not_continued(person, studio_server):
    """A tab that was open when the studio ended shakes hands again, and is told to load its page anew."""
    client_id = "00000000-0000-4000-8000-000000000000"
    query = f"&client_id={client_id}&tab_id=t&document_id=d&implicit_handshake=true&next_message_id=0"
    with connect(studio_server, query) as (status, connection):
        assert status == 101
        frame = b"40"  # the message "connect" of Socket.IO, masked by zeros
        connection.sendall(bytes([0x81, 0x80 | len(frame), 0, 0, 0, 0]) + frame)
        received = b""
        while b"44" not in received and (data := connection.recv(4_096)):
            received += data
        assert b"44" in received  # the message "connection refused"


def test_uploads_need_a_page_of_ones_own_and_a_limit(person, studio_server):
    client = person()
    own = {"origin": studio_server.url}
    assert client.post("/_nicegui/client/x/upload/1", files={"f": b"x"}, headers=own).status_code in (404, 405)
    assert client.post("/_nicegui/client/x/upload/1", files={"f": b"x"}).status_code == 403  # no origin

    def send_much():
        for _ in range(4):
            yield b"x" * 1_000_000

    with suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):  # the server closes the connection
        assert client.post("/upload", content=send_much(), headers=own).status_code in (404, 405, 413)
    assert client.get("/").status_code == 200


def test_hostile_names_are_texts_on_pages(open_page, studio_server, take_screenshot):
    text = (studio_server.folder / DATA).read_text()
    hostile_file = studio_server.folder / f"{HOSTILE}.csv"
    hostile_file.write_text(text.replace("income", f'"{HOSTILE}"'))
    try:
        page = open_page(f"/?x={HOSTILE}")
        page.get_by_label("Data", exact=True).click()
        page.get_by_role("option", name=HOSTILE).click()
        page.get_by_role("columnheader", name=HOSTILE).wait_for()
        take_screenshot(page, "start")
        assert page.locator("img[src=x]").count() == 0
        assert "owned" not in page.title()
    finally:
        hostile_file.unlink()


def test_a_link_of_another_site_keeps_the_session(open_page, studio_server):
    page = open_page("/studies")
    cookies = {cookie["name"]: cookie["value"].partition(".")[0] for cookie in page.context.cookies()}
    page.goto("about:blank")
    page.set_content(f'<a href="{studio_server.url}/runs?demo=1">a link</a>')
    page.get_by_text("a link").click()
    page.wait_for_url(f"{studio_server.url}/runs")
    page.locator("h1").wait_for()
    assert {cookie["name"]: cookie["value"].partition(".")[0] for cookie in page.context.cookies()} == cookies


@pytest.fixture(scope="module")
def public_port():
    """The port of a proxy."""
    return find_free_port()


@pytest.fixture(scope="module")
def guarded_server(tmp_path_factory, public_port):
    """A studio that others reach too, directly and through a proxy, and that begins with an empty folder."""
    folder, home = tmp_path_factory.mktemp("served"), tmp_path_factory.mktemp("guarded")
    options = ("--host=0.0.0.0", f"--token={TOKEN}", f"--public-url=http://127.0.0.1:{public_port}", "--trust")
    with run_server(folder, home, *options) as server:
        server.url = f"http://127.0.0.1:{server.port}"
        yield server
        assert server.stop() in (0, 130)  # Ctrl-C
    assert TOKEN not in server.log + "".join(server.output)
    assert "Traceback" not in server.log


def sign_in(page, token):
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def upload(page, *files):
    page.locator("input[type=file]").set_input_files(files)
    page.get_by_text("160 rows and 4 columns").wait_for()


@pytest.mark.parametrize("way", ["directly", "proxy keeps Host", "proxy changes Host"])
def test_sign_in_upload_test_and_download(guarded_server, public_port, studio_server, open_page, take_screenshot, way):
    with ExitStack() as stack:
        server = guarded_server
        if way != "directly":
            keep_host = way == "proxy keeps Host"
            stack.enter_context(run_reverse_proxy(public_port, server.port, keep_host=keep_host))
            server = replace(server, url=f"http://127.0.0.1:{public_port}")
        page = open_page(server=server, allowed=("403",))
        sign_in(page, "a wrong token")
        page.get_by_text("This is not the token.").wait_for()
        take_screenshot(page, "sign-in")
        sign_in(page, TOKEN)
        page.get_by_text("There are no model files and no tables").wait_for()
        upload(page, studio_server.folder / MODEL, studio_server.folder / DATA)
        take_screenshot(page, "start")
        page.get_by_role("button", name="Test this model").click()
        page.get_by_text("More options").click()
        page.get_by_label("Run only these checks").click()
        page.get_by_role("option", name="repeats", exact=True).click()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Test", exact=True).click()
        page.get_by_text("finished after").wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the report").click()
        assert "loans.skops" in download.value.path().read_text(encoding="utf-8")


def test_a_pickle_is_loaded_if_the_studio_allows_it_and_the_person_trusts_it(
    guarded_server, studio_server, open_page, take_screenshot, tmp_path
):
    pickled = tmp_path / "loans.pkl"
    joblib.dump(load_model(studio_server.folder / MODEL), pickled)
    page = open_page(server=guarded_server)
    sign_in(page, TOKEN)
    upload(page, pickled, studio_server.folder / DATA)
    box, button = page.get_by_role("checkbox", name="I trust this file"), page.get_by_role("button", name="Test this")
    page.get_by_text("runs any code that its author put into it").wait_for()
    assert button.is_disabled()
    take_screenshot(page, "untrusted")
    box.click()
    page.get_by_text("runs any code that its author put into it").wait_for(state="detached")
    button.click()
    page.wait_for_url("**/check-up")
    page.goto(guarded_server.url + "/trees")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("finished after").wait_for()


def test_a_pickle_is_not_loaded_by_a_studio_without_trust(studio_server, open_page, take_screenshot):
    pickled = studio_server.folder / "loans.pkl"
    joblib.dump(load_model(studio_server.folder / MODEL), pickled)
    try:
        page = open_page()
        page.get_by_label("Model", exact=True).click()
        page.get_by_role("option", name="loans.pkl").click()
        page.get_by_text("runs any code that its author put into it").wait_for()
        page.get_by_text("Only the person who started the studio can allow that").wait_for()
        assert page.get_by_role("checkbox", name="I trust this file").is_disabled()
        assert page.get_by_role("button", name="Test this model").is_disabled()
        take_screenshot(page, "not allowed")
    finally:
        pickled.unlink()
