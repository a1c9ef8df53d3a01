"""A server on this machine that answers in all the ways in which a service can fail, and counts its requests."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from urllib.parse import parse_qs, urlsplit

import pytest

SLOW_SECONDS = 0.2


class FaultyHandler(BaseHTTPRequestHandler):
    """Answers by path: /label (right), /slow, /busy, /broken, /half, /elsewhere, ..."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # headers and body in one packet, or every answer takes 40 ms

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._answer()

    do_POST = do_GET

    def _answer(self):
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        record = {
            "path": url.path,
            "query": {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()},
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "body": self.rfile.read(length).decode(),
            "time": time.monotonic(),
        }
        server = self.server
        with server.lock:
            server.requests.append(record)
            server.counts[url.path] += 1
            count = server.counts[url.path]
            server.active += 1
            server.max_active = max(server.active, server.max_active)
        try:
            getattr(self, "on_" + url.path.strip("/").replace("/", "_").split("-")[0], self.on_missing)(record, count)
        finally:
            with server.lock:
                server.active -= 1

    def send(self, status, content, headers=()):
        content = content if isinstance(content, bytes) else content.encode()
        self.send_response(status)
        headers = dict(headers)
        headers.setdefault("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def send_label(self, record):
        x = float(record["query"].get("x") or json.loads(record["body"] or '{"x": 0}')["x"])
        self.send(200, json.dumps({"data": [{"label": "high" if x > 0.5 else "low"}]}))

    def on_label(self, record, count):
        self.send_label(record)

    def on_echo(self, record, count):
        self.send(200, json.dumps({"data": [{"label": record}]}))

    def on_slow(self, record, count):
        time.sleep(SLOW_SECONDS)
        self.send_label(record)

    def on_drip(self, record, count):
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        for _ in range(20):
            time.sleep(0.02)
            self.wfile.write(b" ")
            self.wfile.flush()

    def on_trickle(self, record, count):
        """Headers that come slowly, for at least ten seconds unless the client hangs up."""
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in range(500):
                self.wfile.write(b"X-%d: 1\r\n" % (number % 50))
                self.wfile.flush()
                time.sleep(0.02)
        except OSError:
            self.server.outcomes.put("the client hung up")
            raise
        self.server.outcomes.put("all headers were read")
        self.close_connection = True

    def on_chain(self, record, count):
        """A redirect that comes slowly, to another one."""
        time.sleep(0.04)
        self.send(302, "", {"Location": f"/chain-{count}"})

    def on_busy(self, record, count):
        """429 for the first two requests."""
        if count <= 2:
            self.send(429, "slow down", {"Retry-After": "0.05"})
        else:
            self.send_label(record)

    def on_always_busy(self, record, count):
        self.send(429, "slow down", {"Retry-After": "0"})

    def on_shaky(self, record, count):
        """500 for every second request."""
        if count % 2:
            self.send(500, "internal error")
        else:
            self.send_label(record)

    def on_failing(self, record, count):
        self.send(500, f"internal error for {record['headers'].get('authorization')}")

    def on_hangup(self, record, count):
        self.close_connection = True
        self.connection.close()

    def on_refused(self, record, count):
        self.send(422, json.dumps({"detail": f"x is wrong, {record['headers'].get('authorization')}"}))

    def on_partly(self, record, count):
        """Refuses one row of several."""
        if float(record["query"]["x"]) > 0.8:
            self.send(400, "too large")
        else:
            self.send_label(record)

    def on_broken(self, record, count):
        self.send(200, '{"data": [{"label": "hi')

    def on_half(self, record, count):
        self.send(200, '{"data": [', {"Content-Length": "1000"})
        self.close_connection = True

    def on_pathless(self, record, count):
        self.send(200, json.dumps({"data": []}))

    def on_cookie(self, record, count):
        self.send(
            200, json.dumps({"data": [{"label": record["headers"].get("cookie", "none")}]}), {"Set-Cookie": "a=1"}
        )

    def on_elsewhere(self, record, count):
        port = self.server.server_address[1]
        self.send(302, "", {"Location": f"http://localhost:{port}/label?x={record['query'].get('x')}"})

    def on_moved(self, record, count):
        self.send(302, "", {"Location": f"/label?x={record['query']['x']}"})

    def on_round(self, record, count):
        self.send(302, "", {"Location": "/round"})

    def on_missing(self, record, count):
        self.send(404, "nothing here")


class FaultyServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, context=None, address=("127.0.0.1", 0)):
        super().__init__(address, FaultyHandler)
        self.lock, self.requests, self.counts = threading.Lock(), [], Counter()
        self.active = self.max_active = 0  # requests at the same time
        self.outcomes = SimpleQueue()
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # clients that hang up are part of the tests

    def reset(self):
        self.requests.clear()
        self.counts.clear()


@contextmanager
def run_server(context=None, address=("127.0.0.1", 0)):
    server = FaultyServer(context, address)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


AUTHORITY = """
[ca]
default_ca = authority
[authority]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = names
copy_extensions = copy
[names]
commonName = supplied
"""


def make_certificate(folder, name, *, expired=False):
    """Write a certificate for a host, signed by itself, and return its file; skip if there is no openssl."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the command openssl (Debian: apt install openssl)")
    kind = "IP" if name[0].isdigit() else "DNS"
    file, key, request = folder / f"{name}.pem", folder / "key.pem", folder / "request.pem"
    key_options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key)]
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName={kind}:{name}"]
    if expired:  # the shorter command takes no dates in OpenSSL 3.0
        (folder / "index.txt").touch()
        (folder / "authority.cnf").write_text(AUTHORITY.format(folder=folder))
        dates = ["-startdate", "200101000000Z", "-enddate", "200102000000Z"]
        files = ["-in", str(request), "-out", str(file)]
        commands = [
            ["req", "-new", *key_options, *names, "-out", str(request)],
            [
                "ca",
                "-batch",
                "-selfsign",
                "-config",
                str(folder / "authority.cnf"),
                "-keyfile",
                str(key),
                *dates,
                *files,
            ],
        ]
    else:
        commands = [["req", "-x509", *key_options, *names, "-days", "2", "-out", str(file)]]
    for command in commands:
        subprocess.run([openssl, *command], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return file, context
