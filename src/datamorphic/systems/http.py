"""`HttpService`: a service over HTTP as a system under test, one request per case."""

from __future__ import annotations

import inspect
import json as json_module
import logging
import ssl
import threading
import time
import tomllib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import redact, suggest_name
from .._validation import (
    check_types,
    import_optional,
    is_number,
    reject,
    validate_integer,
    validate_positive,
    validate_seed,
    validate_timeout,
)
from .._version import __version__
from ..errors import ArgumentError, BadAnswer, DatamorphicError, ModelError, SystemFailed, SystemHung, SystemRaised
from ..space.outputs import Outputs
from ..space.points import Batch
from .base import AnswerOrError, ResourceSystem, ScoreRequest
from .coerce import join_row_answers
from .http_deadline import apply_deadlines, limit_request
from .json_path import JsonPath
from .request_template import PreparedRequest, RequestTemplate, Secrets, to_plain_value

if TYPE_CHECKING:
    import httpx

    from ..space.space import Space

MAX_RETRIES = 10
MAX_CONCURRENT_REQUESTS = 64
MAX_REDIRECTS = 5
MAX_WAIT_SECONDS = 30.0  # between two tries, whatever the server demands
MAX_ANSWER_BYTES = 10_000_000
MAX_CACHED_ANSWERS = 100_000
MAX_UNREACHABLE_ROWS = 3  # in succession; then no request is sent for a while
OUTAGE_SECONDS = 5.0  # until a server that could not be reached is tried again
MAX_EXHAUSTED_ROWS = 10  # in succession that failed in spite of retries; then rows are tried once
MAX_DETAIL_CHARACTERS = 80
RETRIED_STATUSES = frozenset({429, *range(500, 600)})
#: loggers of the client, which write addresses with their parameters
CLIENT_LOGGERS = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
)

_secrets_in_use: ContextVar[Secrets | None] = ContextVar("secrets_in_use", default=None)


class _SecretFilter(logging.Filter):
    """Removes secrets from what the client logs about a request of ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        secrets = _secrets_in_use.get()
        if secrets is not None:
            record.msg, record.args = redact(secrets.remove(record.getMessage())), ()
            record.exc_info = record.exc_text = None
        return True


_SECRET_FILTER = _SecretFilter()


class ServerUnreachable(SystemRaised):
    """There is no connection to the server of the system."""


@dataclass(frozen=True)
class _Failure:
    """Why a request got no answer, and whether another try may help."""

    error: DatamorphicError
    retryable: bool = False
    wait_seconds: float | None = None  # that the server demands

    @property
    def unreachable(self) -> bool:
        """Whether there was no connection to the server."""
        return isinstance(self.error, ServerUnreachable)


@check_types
class HttpService(ResourceSystem):
    """A service over HTTP: one request per case, the answer from its JSON.

    Rows are answered concurrently and returned in order. Time-outs, lost connections, 429 (too many requests) and 5xx are
    tried again, at most `retries` times. Every other failure is the outcome of its row: it gets a status and a message, and
    the run goes on. A redirect to another host is refused, because it could get the credentials. Certificates are verified.

    Parameters
    ----------
    url : str
        The address. ``{name}`` stands for the value of the column `name`, escaped for its place. ``${NAME}`` stands for an
        environment variable, here and in all other templates.
    method : {"GET", "POST", "PUT", "PATCH", "DELETE"}
        The method. The request must have no effect that a second one would repeat, because it may be tried again.
    params : mapping, optional
        Parameters of the query, as in ``{"age": "{age}"}``.
    headers : mapping, optional
        Headers. They take environment variables only: ``{"Authorization": "Bearer ${API_TOKEN}"}``.
    json : optional
        The JSON body as nested dicts and lists. A text that is one placeholder becomes the value with its type;
        ``"{*}"`` is the whole case as an object.
    body : str, optional
        Instead of `json`: the body as a text. Values are encoded for its Content-Type: JSON (the default), XML, a form, or
        plain text.
    answer : str or None
        Where the answer is in the JSON: keys, positions and ``[*]``, as in ``$.data[0].label``. None takes the body as text.
    timeout : float
        Seconds that one try may take in total: connection, redirects, headers and body.
    retries : int
        How often a failed try is repeated, at most 10.
    backoff : float
        Seconds before the first repetition, doubled before every further one, with random jitter. A server's
        Retry-After is honoured. No pause is longer than 30 s.
    rate_limit : float, optional
        The maximum number of requests per second.
    concurrency : int
        The number of requests at the same time.
    cache : bool
        Whether equal requests are sent once, and the answer is remembered. It would hide a service whose answers to the
        same request differ.
    ca_file : str or path, optional
        A file with certificates to trust instead of the usual ones, for a service with a private authority.
    labels : iterable, optional
        The labels it may answer, if they are known.
    space : Space, optional
        The space of its inputs.
    name : str, optional
        For messages and reports; by default the host and the path.
    seed : int
        The seed of the jitter.

    Examples
    --------
    >>> import datamorphic as dm
    >>> service = dm.systems.HttpService(
    ...     "https://models.example/decide",
    ...     method="POST",
    ...     json={"applicant": "{*}"},
    ...     headers={"Authorization": "Bearer ${API_TOKEN}"},
    ...     answer="$.decision",
    ... )
    >>> service
    HttpService(models.example/decide)
    """

    batch_rows = 100
    far = True
    resource_names = ("_traffic",)

    def __init__(
        self,
        url: str,
        *,
        method: str = "GET",
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        body: str | None = None,
        answer: str | None = "$",
        timeout: float = 10.0,
        retries: int = 3,
        backoff: float = 0.5,
        rate_limit: float | None = None,
        concurrency: int = 4,
        cache: bool = False,
        ca_file: str | Path | None = None,
        labels: Iterable[Any] | None = None,
        space: Space | None = None,
        name: str | None = None,
        seed: int = 0,
    ) -> None:
        method = method.upper() if isinstance(method, str) else method
        self.template = RequestTemplate(url=url, method=method, params=params, headers=headers, json=json, body=body)
        self.path = None if answer is None else JsonPath(answer)
        self.timeout = validate_timeout("timeout", "HttpService", timeout)
        self.retries = validate_integer("retries", "HttpService", retries, 0, MAX_RETRIES)
        if not is_number(backoff) or not 0 <= backoff <= MAX_WAIT_SECONDS:
            reject("backoff", "HttpService", f"a number of seconds from 0 to {MAX_WAIT_SECONDS:g}", backoff)
        self.backoff = float(backoff)
        self.rate_limit = None if rate_limit is None else validate_positive("rate_limit", "HttpService", rate_limit)
        self.concurrency = validate_integer("concurrency", "HttpService", concurrency, 1, MAX_CONCURRENT_REQUESTS)
        self.ca_file = None if ca_file is None else str(ca_file)
        if self.ca_file is not None and not Path(self.ca_file).is_file():
            raise ModelError(f"There is no file {self.ca_file!r} with certificates to trust.")
        self.cache = bool(cache)
        self.labels = None if labels is None else tuple(labels)
        self.space = space
        self.name = name or self.template.address
        self.seed = validate_seed("seed", "HttpService", seed)
        self.hint = f"Check that the service at {self.template.address} runs and that it accepts such a request."
        self._create_resources()

    def _create_resources(self) -> None:
        self._traffic = _Traffic(self.rate_limit)

    def close(self) -> None:
        """Close the connections; the next query opens new ones."""
        self._traffic.close()

    # -- batches -------------------------------------------------------------------------------------------------------

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Send one request per row; a row that fails has a status and a message."""
        answer = self.answers([batch], scores)[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Send the requests of all batches concurrently."""
        frames = [batch.frame for batch in batches]
        try:
            client = self._open_client()
            variables = self.template.read_variables()
            for frame in frames:
                self.template.check_columns([str(name) for name in frame.columns])
        except DatamorphicError as error:
            return [error] * len(batches)
        cases = [
            {str(name): to_plain_value(value) for name, value in zip(frame.columns, row, strict=True)}
            for frame in frames
            for row in frame.itertuples(index=False, name=None)
        ]
        sender = _Sender(service=self, client=client, variables=variables, secrets=Secrets(variables))
        results = self._send_all(sender, cases)
        if not self._traffic.reached and all(isinstance(result, ServerUnreachable) for result in results):
            return [SystemFailed(f"{self.name} answered no query: {results[0]}. {self.hint}")] * len(batches)
        answers: list[AnswerOrError] = []
        start = 0
        for frame in frames:
            answers.append(join_row_answers(results[start : start + len(frame)], self.labels))
            start += len(frame)
        return answers

    def _send_all(self, sender: _Sender, cases: list[dict[str, Any]]) -> list[Any]:
        # even a single request is sent by a thread: an interrupt ends the call at once, and its traceback has no frame with secrets
        pool = ThreadPoolExecutor(min(self.concurrency, len(cases)), thread_name_prefix="datamorphic-http")
        try:
            return list(pool.map(sender.query, range(len(cases)), cases))
        finally:
            sender.stopped.set()  # for requests that still wait for their turn after an interrupt
            pool.shutdown(wait=False, cancel_futures=True)

    def _open_client(self) -> httpx.Client:
        traffic = self._traffic
        with traffic.lock:
            if traffic.client is None:
                library: Any = import_optional("httpx", "systems", "Querying a service over HTTP")
                for name in CLIENT_LOGGERS:
                    logging.getLogger(name).addFilter(_SECRET_FILTER)  # adding it twice has no effect
                # a cookie of one answer must not influence the next one
                jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
                traffic.client = library.Client(
                    timeout=self.timeout,
                    follow_redirects=False,
                    verify=True if self.ca_file is None else self._load_certificates(),
                    limits=library.Limits(max_connections=self.concurrency),
                    headers={"User-Agent": f"datamorphic/{__version__}", "Accept": "application/json, */*;q=0.5"},
                    cookies=jar,
                )
                apply_deadlines(traffic.client)
            return traffic.client

    def _load_certificates(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except (ssl.SSLError, OSError) as error:
            raise ModelError(
                f"{self.ca_file} cannot be read as certificates in PEM format: {type(error).__name__}."
            ) from None


class _Traffic:
    """What all requests to a service share.

    That is the connections, the rate limit, the failures in succession, and the cache.
    """

    def __init__(self, rate_limit: float | None) -> None:
        self.client: httpx.Client | None = None
        self.reached = False  # whether the server ever responded
        self.lock = threading.Lock()
        self._pause_seconds = 0.0 if rate_limit is None else 1 / rate_limit
        self._next_request_at = 0.0  # on the monotonic clock
        self._next_attempt_at = 0.0  # on the monotonic clock; before it, the server counts as unreachable
        self._unreachable_rows = self._exhausted_rows = 0  # in succession
        self._outage: DatamorphicError = ServerUnreachable("")
        self._cached_answers: OrderedDict[str, Any] = OrderedDict()

    def close(self) -> None:
        """Close the connections."""
        client, self.client = self.client, None
        if client is not None:
            client.close()

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be shutting down
            self.close()

    def wait_for_turn(self, stopped: threading.Event) -> None:
        """Wait until the rate limit and the server's Retry-After allow a request."""
        with self.lock:
            now = time.monotonic()
            turn = max(self._next_request_at, now)
            self._next_request_at = turn + self._pause_seconds
        if turn > now:
            stopped.wait(turn - now)

    def postpone(self, seconds: float) -> None:
        """Send no request for some time, because the server demands it."""
        with self.lock:
            self._next_request_at = max(self._next_request_at, time.monotonic() + seconds)

    def find_outage(self) -> DatamorphicError | None:
        """Return the error of a server that could not be reached a moment ago."""
        with self.lock:
            return self._outage if time.monotonic() < self._next_attempt_at else None

    def count_tries(self, retries: int) -> int:
        """Return how often a row is tried: once if many rows failed in spite of retries."""
        return 1 if self._exhausted_rows >= MAX_EXHAUSTED_ROWS else 1 + retries

    def note_outcome(self, failure: _Failure | None) -> None:
        """Count failures in succession."""
        with self.lock:
            self.reached = self.reached or failure is None or not failure.unreachable
            if failure is None or not failure.retryable:
                self._unreachable_rows = self._exhausted_rows = 0
                return
            self._exhausted_rows += 1
            self._unreachable_rows = self._unreachable_rows + 1 if failure.unreachable else 0
            if self._unreachable_rows >= MAX_UNREACHABLE_ROWS:
                self._outage, self._next_attempt_at = failure.error, time.monotonic() + OUTAGE_SECONDS

    def find_cached(self, key: str) -> tuple[Any] | None:
        """Return the answer to an earlier request in a tuple, or None."""
        with self.lock:
            return (self._cached_answers[key],) if key in self._cached_answers else None

    def remember(self, key: str, answer: Any) -> None:
        """Store the answer to a request."""
        with self.lock:
            self._cached_answers[key] = answer
            if len(self._cached_answers) > MAX_CACHED_ANSWERS:
                self._cached_answers.popitem(last=False)


def load_service(file: Path) -> HttpService:
    """Return the service that a TOML file describes; its keys are the parameters of `HttpService`.

    The path of `ca_file` is relative to the file.
    """
    try:
        description = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"{file.name} is not a valid TOML file: {error}.") from None
    known_names = [name for name in inspect.signature(HttpService).parameters if name != "space"]
    for name in description:
        if name not in known_names:
            raise ModelError(
                f"{file.name} has the key {name!r}, which is not a parameter of HttpService. {suggest_name(name, known_names)}"
            )
    if "url" not in description:
        raise ModelError(f'{file.name} does not describe a service: it has no key url. Add url = "https://...".')
    if isinstance(description.get("ca_file"), str):
        description["ca_file"] = str(file.parent / description["ca_file"])
    try:
        return HttpService(**{"name": file.name} | description)
    except ArgumentError as error:
        raise ModelError(f"{file.name}: {error}") from None


class _Sender:
    """Sends the requests of one call. It holds the secrets, so it must not outlive the call."""

    def __init__(
        self, *, service: HttpService, client: httpx.Client, variables: Mapping[str, str], secrets: Secrets
    ) -> None:
        self.service, self.client, self.variables, self.secrets = service, client, variables, secrets
        self.stopped = threading.Event()

    def query(self, number: int, case: dict[str, Any]) -> Any:
        """Return the answer to a case, or the error that takes its place."""
        service, traffic = self.service, self.service._traffic
        key = ""
        if service.cache:
            # with the names of variables in the place of their values
            key = service.template.fill(case, {name: name for name in self.variables}).to_text()
            cached_answer = traffic.find_cached(key)
            if cached_answer is not None:
                return cached_answer[0]
        outage = traffic.find_outage()
        if outage is not None:
            return outage
        token = _secrets_in_use.set(self.secrets)
        try:
            answer = self._try_repeatedly(service.template.fill(case, self.variables), number)
        finally:
            _secrets_in_use.reset(token)
        if isinstance(answer, _Failure):
            return answer.error
        if service.cache:
            traffic.remember(key, answer)
        return answer

    def _try_repeatedly(self, request: PreparedRequest, number: int) -> Any:
        service, traffic = self.service, self.service._traffic
        jitter = np.random.default_rng((service.seed, number))
        tries = traffic.count_tries(service.retries)
        outcome: Any = None
        for attempt in range(tries):
            traffic.wait_for_turn(self.stopped)
            if self.stopped.is_set():
                return _Failure(SystemRaised("the run was stopped"))
            with limit_request(service.timeout):
                outcome = self._try(request)
            if not isinstance(outcome, _Failure) or not outcome.retryable:
                break
            if attempt + 1 < tries:
                pause = min(service.backoff * 2**attempt * (0.5 + jitter.random()), MAX_WAIT_SECONDS)
                if outcome.wait_seconds is not None:
                    traffic.postpone(min(outcome.wait_seconds, MAX_WAIT_SECONDS))
                self.stopped.wait(pause)
        if isinstance(outcome, _Failure) and outcome.retryable and tries > 1:
            outcome = replace(outcome, error=type(outcome.error)(f"{outcome.error}, in {tries} tries"))
        traffic.note_outcome(outcome if isinstance(outcome, _Failure) else None)
        return outcome

    def _try(self, request: PreparedRequest) -> Any:
        """Send a request once, and follow redirects on the same host; return the answer or a failure."""
        import httpx

        try:
            next_request = self.client.build_request(
                self.service.template.method, request.url, headers=request.headers, content=request.content
            )
        except (httpx.InvalidURL, ValueError, TypeError):
            return self._fail("the address or a header of its request is invalid")
        for _ in range(MAX_REDIRECTS + 1):
            sent_to = next_request.url
            try:
                response = self.client.send(next_request, stream=True)
            except httpx.TimeoutException as error:
                if isinstance(error, httpx.ConnectTimeout):
                    address, seconds = self.service.template.address, self.service.timeout
                    return self._fail(
                        f"no connection to {address} within {seconds:g} s", ServerUnreachable, retryable=True
                    )
                return self._fail(self._describe_timeout(), SystemHung, retryable=True)
            except httpx.HTTPError as error:
                return self._fail_to_connect(error)
            except Exception as error:  # what the client does not translate, such as a header that cannot be encoded
                return self._fail(f"its request could not be sent ({type(error).__name__})")
            try:
                content = _read_body(response)
            except httpx.TimeoutException:
                return self._fail(self._describe_timeout(), SystemHung, retryable=True)
            except httpx.DecodingError:
                return self._fail("the body of its answer cannot be decompressed", BadAnswer)
            except httpx.HTTPError:
                return self._fail("the body of its answer ended too early", BadAnswer)
            finally:
                response.close()
            if content is None:
                return self._fail(f"its answer is longer than {MAX_ANSWER_BYTES:,} bytes", BadAnswer)
            if response.next_request is None:
                return self._read_answer(response, content)
            next_request = response.next_request
            target = next_request.url
            is_upgrade = (sent_to.scheme, target.scheme) == ("http", "https") and sent_to.port == target.port
            same_origin = (sent_to.scheme, sent_to.port) == (target.scheme, target.port)
            if sent_to.host != target.host or not (same_origin or is_upgrade):
                place = f"{target.scheme}://{target.netloc.decode('ascii', 'replace')}"
                return self._fail(
                    f"it redirects to {place}, which is another host and must not get the request. Use the final address"
                )
        return self._fail(f"it redirects more than {MAX_REDIRECTS} times")

    def _describe_timeout(self) -> str:
        return f"it did not answer within {self.service.timeout:g} s"

    def _fail(
        self,
        message: str,
        kind: type[DatamorphicError] = SystemRaised,
        *,
        retryable: bool = False,
        wait_seconds: float | None = None,
    ) -> _Failure:
        error = kind(redact(self.secrets.remove(message)))
        return _Failure(error, retryable=retryable, wait_seconds=wait_seconds)

    def _fail_to_connect(self, error: BaseException) -> _Failure:
        address = self.service.template.address
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                reason = str(getattr(cause, "verify_message", "")) or "it is not trusted"
                return self._fail(f"the certificate of {address} is invalid: {reason}")
            if isinstance(cause, ssl.SSLError):
                reason = str(cause.reason or type(cause).__name__).replace("_", " ").lower()
                return self._fail(f"no encrypted connection to {address}: {reason}")
            cause = cause.__cause__ or cause.__context__
        if type(error).__name__ in ("UnsupportedProtocol", "LocalProtocolError"):
            return self._fail("the address or a header of its request is invalid")
        if type(error).__name__ == "ConnectError":
            message = f"no connection to {address}: {_shorten(str(error)) or 'refused'}"
            return self._fail(message, ServerUnreachable, retryable=True)
        return self._fail(f"the connection to {address} was lost before an answer came", retryable=True)

    def _read_answer(self, response: httpx.Response, content: bytes) -> Any:
        status = response.status_code
        if status in RETRIED_STATUSES:
            return self._fail(
                f"it answered {_format_status(response)}",
                retryable=True,
                wait_seconds=_read_retry_after(response.headers.get("Retry-After")),
            )
        text = self.secrets.remove(content.decode(response.encoding or "utf-8", "replace"))
        if not 200 <= status < 300:
            detail = _shorten(text)
            return self._fail(f"it answered {_format_status(response)}{': ' + detail if detail else ''}")
        path = self.service.path
        if path is None:
            return text.strip()
        try:
            document = json_module.loads(text)
        except (ValueError, RecursionError):
            start = _shorten(text)
            return self._fail(
                f"its answer is not JSON: {start}" if start else "its answer is empty, not JSON", BadAnswer
            )
        try:
            return path.find(document)
        except BadAnswer as error:
            return self._fail(str(error), BadAnswer)


def _read_body(response: httpx.Response) -> bytes | None:
    """Return the body, or None if it is too long."""
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            return None
    return bytes(content)


def _format_status(response: httpx.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".strip()[:MAX_DETAIL_CHARACTERS]


def _read_retry_after(header: str | None) -> float | None:
    """Return the seconds that a Retry-After header demands: a number or a date."""
    if header is None:
        return None
    with suppress(ValueError):
        return max(0.0, float(header))
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    return None


def _shorten(text: str) -> str:
    """Return the beginning of a text in one line."""
    line = " ".join(text[: 4 * MAX_DETAIL_CHARACTERS].split())
    return line if len(line) <= MAX_DETAIL_CHARACTERS else line[: MAX_DETAIL_CHARACTERS - 3] + "..."
