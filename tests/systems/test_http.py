"""A service that fails in every way: right verdicts, few requests, and no credential in anything that is written."""

from __future__ import annotations

import copy
import gc
import logging
import pickle
import socket
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError, ModelError, SystemFailed
from datamorphic.space.outputs import Status
from datamorphic.systems.http import (
    MAX_EXHAUSTED_ROWS,
    MAX_UNREACHABLE_ROWS,
    HttpService,
    _read_retry_after,
    _Traffic,
    load_service,
)
from datamorphic.testing.conformance import check_executor
from support.cases import LONG, in_one_test
from support.http_server import make_certificate, run_server

pytest.importorskip("httpx", reason="needs httpx: pip install 'datamorphic[systems]'")

TOKEN = "s3cr3t-T0ken/with+signs"
ANSWER = "$.data[0].label"
FRAME = pd.DataFrame({"x": [0.1, 0.9, 0.4, 0.6]})
same_again = dm.patterns["Irrelevance"].input(times=1) >> dm.patterns["Equality"].output()
SAME_AGAIN = same_again.named("service.MR1", domain="services")


@pytest.fixture(scope="module")
def _server():
    with run_server() as server:
        yield server


@pytest.fixture
def server(_server, monkeypatch):
    _server.reset()
    monkeypatch.setenv("API_TOKEN", TOKEN)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return _server


def make_service(server, path, **options):
    defaults = {"params": {"x": "{x}"}, "answer": ANSWER, "backoff": 0.001, "retries": 2, "timeout": 5}
    headers = {"Authorization": "Bearer ${API_TOKEN}"}
    return HttpService(f"{server.url}/{path}", **defaults | {"headers": headers} | options)


def find_unused_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_answers_come_in_order_and_concurrently(server):
    with make_service(server, "slow", concurrency=8) as service:
        outputs = service.execute(pd.concat([FRAME, FRAME]))
    assert outputs.values.tolist() == ["low", "high", "low", "high"] * 2
    assert server.max_active > 1
    assert all(request["headers"]["authorization"] == f"Bearer {TOKEN}" for request in server.requests)


@pytest.mark.slow
def test_it_conforms(server):
    space = dm.Space([dm.Continuous("x", 0, 1)])
    with make_service(server, "label", space=space, labels=["low", "high"]) as service:
        check_executor(service, space.sample(8, seed=1, points=True))


def test_a_post_request_sends_the_case(server):
    frame = pd.DataFrame({"x": [1], "name": ["Ann {x} & Søn"], "when": pd.to_datetime(["2026-05-31"]), "gap": [np.nan]})
    with HttpService(server.url + "/echo", method="post", json="{*}", answer="$.data[0].label.body") as service:
        body = service.execute(frame).values[0]
    assert body == '{"x": 1, "name": "Ann {x} & Søn", "when": "2026-05-31T00:00:00", "gap": null}'


@pytest.mark.parametrize(
    ("path", "status", "message", "requests"),
    [
        ("slow", Status.TIMEOUT, "it did not answer within 0.05 s, in 3 tries", 3),
        ("drip", Status.TIMEOUT, "it did not answer within 0.05 s, in 3 tries", 3),
        ("always/busy", Status.ERROR, "it answered 429 Too Many Requests, in 3 tries", 3),
        ("failing", Status.ERROR, "it answered 500 Internal Server Error, in 3 tries", 3),
        (
            "hangup",
            Status.ERROR,
            "the connection to 127.0.0.1:PORT/hangup was lost before an answer came, in 3 tries",
            3,
        ),
        ("refused", Status.ERROR, 'it answered 422 Unprocessable ...: {"detail": "x is wrong, Bearer ***"}', 1),
        ("nowhere", Status.ERROR, "it answered 404 Not Found: nothing here", 1),
        ("broken", Status.MALFORMED, 'its answer is not JSON: {"data": [{"label": "hi', 1),
        ("half", Status.MALFORMED, "the body of its answer ended too early", 1),
        ("pathless", Status.MALFORMED, "its answer does not have $.data[0].label: $.data is a list of 0 elements", 1),
        (
            "elsewhere",
            Status.ERROR,
            "it redirects to http://localhost:PORT, which is another host and must not get the request. Use the final address",
            1,
        ),
        ("round", Status.ERROR, "it redirects more than 5 times", 6),
    ],
)
def test_failures_are_outcomes_of_their_row(server, path, status, message, requests):
    timeout = 0.05 if path in ("slow", "drip") else 5
    with make_service(server, path, timeout=timeout) as service:
        outputs = service.execute(FRAME.head(1))
    port = str(server.server_address[1])
    text = outputs.messages[0].replace(port, "PORT").replace("Entity", "...").replace("Content", "...")
    assert (Status(outputs.status[0]), text) == (status, message)
    deadline = time.monotonic() + 5
    while len(server.requests) < requests and time.monotonic() < deadline:
        time.sleep(0.01)  # the server may record a request after the client gave it up
    assert len(server.requests) == requests
    assert TOKEN not in outputs.messages[0]


def test_slow_headers_count_towards_the_total_time(server):
    with make_service(server, "trickle", timeout=0.1, retries=0) as service:
        outputs = service.execute(FRAME.head(1))
    assert outputs.messages == {0: "it did not answer within 0.1 s"}
    assert server.outcomes.get(timeout=60) == "the client hung up"


def test_redirects_count_towards_the_total_time(server):
    with make_service(server, "chain", timeout=0.1, retries=0) as service:
        outputs = service.execute(FRAME.head(1))
    assert outputs.messages == {0: "it did not answer within 0.1 s"}
    assert 1 <= len(server.requests) < 6


def test_only_the_rows_at_fault_fail(server):
    with make_service(server, "partly") as service:
        outputs = service.execute(FRAME)
    assert outputs.ok.tolist() == [True, False, True, True]
    assert outputs.values[outputs.ok].tolist() == ["low", "low", "high"]
    assert outputs.messages == {1: "it answered 400 Bad Request: too large"}


def test_a_busy_server_gets_the_time_that_it_demands(server):
    with make_service(server, "busy", concurrency=1) as service:
        outputs = service.execute(FRAME.head(1))
    assert outputs.values.tolist() == ["low"]
    times = [request["time"] for request in server.requests]
    assert len(times) == 3
    assert min(np.diff(times)) >= 0.045


def test_a_shaky_server_is_tried_again(server):
    with make_service(server, "shaky", concurrency=1) as service:
        assert service.execute(FRAME).ok.all()
    assert len(server.requests) == 2 * len(FRAME)


def test_retry_after_is_a_number_or_a_date():
    assert _read_retry_after("7") == 7
    assert _read_retry_after("-3") == 0
    assert 3000 < _read_retry_after(time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3600))) < 3700
    assert _read_retry_after("soon") is None
    assert _read_retry_after(None) is None


def test_waiting_is_capped(server, monkeypatch):
    monkeypatch.setattr("datamorphic.systems.http.MAX_WAIT_SECONDS", 0.02)
    monkeypatch.setattr("datamorphic.systems.http._read_retry_after", lambda header: 3600.0)
    with make_service(server, "always/busy", backoff=0.01) as service:
        outputs = service.execute(FRAME.head(1))  # in hours if waiting were not capped
    assert outputs.messages[0].endswith("in 3 tries")


@pytest.mark.slow
def test_a_failing_server_is_not_retried_for_ever(server):
    frame = pd.DataFrame({"x": np.linspace(0, 1, 60)})
    with make_service(server, "failing", concurrency=1) as service:
        report = dm.check(service, frame, [SAME_AGAIN], inputs=60)
        assert len(server.requests) == 3 * MAX_EXHAUSTED_ROWS + 2 * 60 - MAX_EXHAUSTED_ROWS
        assert "Nothing could be judged: 60 cases without an answer" in report.describe()
        assert "it answered 500 Internal Server Error" in report.describe()
        with pytest.raises(SystemFailed) as caught:
            dm.explore(service, dm.Space([dm.Continuous("x", 0, 1)]), walks=10)
    message = str(caught.value)
    assert "The last error was it answered 500 Internal Server Error. Check that the service at 127.0.0.1" in message


def test_an_interrupt_ends_a_call_at_once_and_shows_no_secret(server, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    service = make_service(server, "slow", concurrency=1)
    monkeypatch.setattr(ThreadPoolExecutor, "map", lambda threads, function, *columns: map(interrupt, *columns))
    with pytest.raises(KeyboardInterrupt) as caught:
        service.execute(FRAME)
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "API_TOKEN" in "".join(trace.format())
    assert TOKEN not in "".join(trace.format())
    service.close()


def test_the_rate_is_limited(server):
    with make_service(server, "label", rate_limit=10, concurrency=4) as service:
        start = time.monotonic()
        service.execute(FRAME)
    # The last of four requests leaves three pauses after the first at the earliest; without a limit all take 2 ms.
    # When the server receives them proves nothing: a busy machine may hold the first one back.
    assert time.monotonic() - start >= 3 / 10


def test_equal_requests_are_sent_once_with_a_cache(server):
    frame = pd.DataFrame({"x": [0.1, 0.9, 0.1], "other": [1, 2, 3]})
    with make_service(server, "label", cache=True, concurrency=1) as service:
        assert service.execute(frame).values.tolist() == ["low", "high", "low"]
        assert service.execute(frame).values.tolist() == ["low", "high", "low"]
        assert len(server.requests) == 2
        assert TOKEN not in repr(vars(service)) + repr(vars(service._traffic))
        assert copy.copy(service).execute(frame).ok.all()
        assert len(server.requests) == 2
    with make_service(server, "label") as service:
        service.execute(frame)
    assert len(server.requests) == 2 + 3


def test_a_redirect_on_the_same_host_is_followed(server):
    with make_service(server, "moved") as service:
        assert service.execute(FRAME).values.tolist() == ["low", "high", "low", "high"]


def test_cookies_do_not_carry_over(server):
    with make_service(server, "cookie", concurrency=1) as service:
        assert set(service.execute(FRAME).values) == {"none"}


@pytest.mark.slow
def test_text_and_collections_as_answers(server):
    with make_service(server, "refused", answer=None) as service:
        assert not service.execute(FRAME).ok.any()
    with make_service(server, "label", answer=None) as service:
        assert service.execute(FRAME.head(1)).values.tolist() == ['{"data": [{"label": "low"}]}']
    with make_service(server, "label", answer="$") as service:
        assert service.execute(FRAME.head(1)).values[0] == {"data": ({"label": "low"},)}


# -- servers that cannot be reached ------------------------------------------------------------------------------------


def test_a_server_that_is_down_ends_the_run(monkeypatch):
    monkeypatch.setenv("API_TOKEN", TOKEN)
    address = f"127.0.0.1:{find_unused_port()}"
    service = HttpService(
        f"http://{address}/x?key=${{API_TOKEN}}", backoff=0.001, retries=2, concurrency=1, params={"x": "{x}"}
    )
    tries = []
    monkeypatch.setattr(_Traffic, "wait_for_turn", lambda traffic, stopped: tries.append(1))
    frame = pd.DataFrame({"x": np.linspace(0, 1, 300)})
    with pytest.raises(SystemFailed) as caught:
        dm.check(service, frame, [SAME_AGAIN], inputs=300)
    message = str(caught.value)
    assert "\n" not in message
    assert f"no connection to {address}/x" in message
    assert "in 3 tries" in message
    assert message.endswith(f"Check that the service at {address}/x runs and that it accepts such a request.")
    assert len(tries) == 3 * MAX_UNREACHABLE_ROWS
    with pytest.raises(SystemFailed, match="no connection"):
        service.execute(frame.head(1))
    assert len(tries) == 3 * MAX_UNREACHABLE_ROWS  # it is not tried again within a few seconds
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    service.close()


def test_a_server_that_goes_down_and_comes_back(monkeypatch):
    monkeypatch.setenv("API_TOKEN", TOKEN)
    with run_server() as server:
        service = make_service(server, "label", concurrency=1)
        assert service.execute(FRAME).ok.all()
        service.close()  # or the server would go on answering on the open connection
    outputs = service.execute(FRAME)
    assert (outputs.status == Status.ERROR).all()
    assert all(text.startswith("no connection to 127.0.0.1") for text in outputs.messages.values())
    server_address = server.server_address
    with run_server(address=server_address) as server:
        assert not service.execute(FRAME).ok.any()  # it is not tried again within a few seconds
        assert not server.requests
        monkeypatch.setattr(service._traffic, "_next_attempt_at", 0.0)
        assert service.execute(FRAME).ok.all()
    service.close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder, other_folder = tmp_path_factory.mktemp("certificates"), tmp_path_factory.mktemp("expired")
    valid = {name: make_certificate(folder, name) for name in ("127.0.0.1", "other.example")}
    return valid | {"expired": make_certificate(other_folder, "127.0.0.1", expired=True)}


@pytest.mark.parametrize(
    ("name", "trusted", "message"),
    [
        ("127.0.0.1", True, None),
        ("127.0.0.1", False, "is invalid: self-signed certificate"),
        ("other.example", True, "is invalid: IP address mismatch, certificate is not valid for '127.0.0.1'."),
        ("expired", True, "is invalid: certificate has expired"),
    ],
)
def test_certificates_are_verified(certificates, monkeypatch, name, trusted, message):
    monkeypatch.setenv("API_TOKEN", TOKEN)
    file, context = certificates[name]
    with run_server(context) as server:
        with make_service(server, "label", ca_file=file if trusted else None) as service:
            outputs = service.execute(FRAME)
        if message is None:
            assert outputs.ok.all()
        else:
            assert (outputs.status == Status.ERROR).all()
            expected = f"the certificate of 127.0.0.1:{server.server_address[1]}/label {message}"
            assert set(outputs.messages.values()) == {expected}
            assert not server.requests  # nothing was sent


# -- no credential anywhere --------------------------------------------------------------------------------------------


def test_a_missing_variable_is_one_line(server, monkeypatch):
    monkeypatch.delenv("API_TOKEN")
    with (
        make_service(server, "label") as service,
        pytest.raises(ModelError, match="API_TOKEN, which is not set") as caught,
    ):
        dm.check(service, FRAME, [SAME_AGAIN])
    assert "\n" not in str(caught.value)


def test_a_copy_reads_the_variables_itself(server):
    service = make_service(server, "label")
    service.execute(FRAME)
    data = pickle.dumps(service)
    assert TOKEN.encode() not in data
    with pickle.loads(data) as restored_service:
        assert restored_service.execute(FRAME).ok.all()
    service.close()


def test_an_answer_that_repeats_the_credential_is_redacted(server):
    with make_service(server, "echo", answer="$.data[0].label.headers.authorization") as service:
        assert service.execute(FRAME.head(1)).values.tolist() == ["Bearer ***"]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["label", "echo", "failing", *(["refused", "elsewhere", "partly"] if LONG else [])])
def test_no_credential_is_written_anywhere(server, tmp_path, caplog, capfd, path):
    caplog.set_level(logging.DEBUG)
    url = f"{server.url}/{path}?key=${{API_TOKEN}}"
    service = make_service(server, path)
    service = HttpService(
        url, params={"x": "{x}"}, headers=service.template.headers, answer="$", backoff=0.001, retries=1
    )
    texts = [repr(service), str(vars(service))]
    frame = pd.DataFrame({"x": np.linspace(0, 1, 8)})
    try:
        report = dm.check(service, frame, [SAME_AGAIN], store=tmp_path / "runs.sqlite")
        texts += [report.to_html(tmp_path / "r.html"), report.to_json(tmp_path / "r.json"), report.describe()]
        dm.assert_holds(service, frame, SAME_AGAIN, store=tmp_path / "asserted.sqlite")
    except Exception as error:
        texts.append("".join(traceback.TracebackException.from_exception(error, capture_locals=True).format()))
    service.close()
    written = capfd.readouterr()
    texts += [caplog.text, written.out, written.err]
    secret = TOKEN.replace("/", "%2F").replace("+", "%2B")
    assert server.requests[0]["query"]["key"] == TOKEN
    for text in texts:
        assert TOKEN not in text
        assert secret not in text
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert TOKEN.encode() not in file.read_bytes(), file
            assert secret.encode() not in file.read_bytes(), file
    if path == "label":
        assert "key=***" in caplog.text  # the client's log is there, without the secret
        assert (tmp_path / "runs.sqlite").exists()


# -- through the usual functions ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_check_assert_and_explore(server):
    space = dm.Space([dm.Continuous("x", 0, 1)])
    with make_service(server, "label", labels=["low", "high"]) as service:
        report = dm.check(service, FRAME, [SAME_AGAIN])
        assert report.passed
        dm.assert_holds(service, FRAME, SAME_AGAIN)
        front = dm.explore(service, space, walks=3, seed=0)
        assert (front.pairs["distance"] < 0.1).all()
    gc.collect()


def test_wrap_takes_a_url(server):
    sut = dm.wrap(server.url + "/label?x={x}")
    assert sut.name == server.url.removeprefix("http://") + "/label"
    assert sut.execute(FRAME).values[0] == {"data": ({"label": "low"},)}
    sut.close()


# -- on the command line -----------------------------------------------------------------------------------------------


def write_description(folder, server, text=""):
    file = folder / "service.toml"
    file.write_text(
        f'url = "{server.url}/label"\nanswer = "{ANSWER}"\nbackoff = 0.001\nlabels = ["low", "high"]\n{text}\n'
        '[params]\nx = "{x}"\n[headers]\nAuthorization = "Bearer ${API_TOKEN}"\n'
    )
    return file


@pytest.mark.slow
def test_a_description_works_on_the_command_line(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_description(tmp_path, server)
    FRAME.to_csv("data.csv", index=False)
    (tmp_path / "my_relations.py").write_text(
        "import datamorphic as dm\n"
        "again = (dm.patterns['Irrelevance'].input(times=1) >> dm.patterns['Equality'].output()).named('again')\n"
    )
    arguments = ["check", "service.toml", "data.csv", "--relation", "my_relations:again", "--store", "runs.sqlite"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "service.toml" in result.output
    assert server.requests
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()


@pytest.mark.slow
def test_a_description_is_audited_on_the_command_line(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_description(tmp_path, server, text='concurrency = 8\nname = "label service"')
    pd.DataFrame({"x": np.linspace(0, 1, 30)}).to_csv("data.csv", index=False)
    arguments = [
        "test",
        "service.toml",
        "data.csv",
        "--budget",
        "300 runs",
        "--allow-incomplete",
        "--html",
        "r.html",
        "--store",
        "runs.sqlite",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 1), result.output
    assert "label service" in result.output
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()


@pytest.mark.slow
def test_a_server_that_is_down_is_exit_code_3(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "down.toml").write_text(f'url = "http://127.0.0.1:{find_unused_port()}/{{x}}"\nbackoff = 0.001\n')
    pd.DataFrame({"x": np.arange(9.0)}).to_csv("data.csv", index=False)
    result = CliRunner().invoke(app, ["check", "down.toml", "data.csv", "--relation", "row order"])
    assert result.exit_code == 3
    assert "Check that the service at 127.0.0.1" in " ".join(result.output.split())


@in_one_test(
    ("text", "message"),
    [
        ("url = ", r"service.toml is not a valid TOML file"),
        ("answer = '$'", r"service.toml does not describe a service"),
        (
            "url = 'https://h'\nanser = '$'",
            r"service.toml has the key 'anser', which is not a parameter of HttpService. Did you mean 'answer'\?",
        ),
        ("url = 'https://h'\nanswer = 'x'", r"service.toml: A path into a JSON answer begins with \$"),
        ("url = 'https://h'\nca_file = 'no.pem'", r"There is no file '.*no.pem'"),
        (
            "url = 'https://h'\n[headers]\nAuthorization = 'Bearer abc'",
            r"service.toml: 'Authorization' looks like a secret",
        ),
    ],
)
def test_wrong_descriptions_are_one_line(tmp_path, text, message):
    file = tmp_path / "service.toml"
    file.write_text(text)
    with pytest.raises(ModelError, match=message) as caught:
        load_service(file)
    assert "\n" not in str(caught.value)


@in_one_test(
    ("options", "message"),
    [
        ({"timeout": 0}, "above 0"),
        ({"retries": 11}, r"range \[0, 10\]"),
        ({"retries": -1}, r"range \[0, 10\]"),
        ({"backoff": -1}, "seconds from 0 to 30"),
        ({"rate_limit": 0}, "above 0"),
        ({"concurrency": 0}, r"range \[1, 64\]"),
        ({"answer": "label"}, r"begins with \$"),
    ],
)
def test_wrong_options_are_one_line(options, message):
    with pytest.raises(ArgumentError, match=message):
        HttpService("https://h", **options)
