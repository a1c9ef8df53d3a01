"""Requests to a service as templates: values of a case are inserted safely, secrets come from environment variables.

``{name}`` is the value of the column `name`; ``${NAME}`` is an environment variable. A template holds only the names of
variables. Their values are read when a request is built, so that neither a pickle nor a report can hold them.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit
from xml.sax.saxutils import escape

from .._text import is_secret_name, redact, suggest_name
from .._validation import reject, validate_choice
from ..errors import ArgumentError, ModelError

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
WHOLE_CASE = "*"  # {*} in a JSON template: all columns as an object
#: values of other variables may be harmless words such as "en", which must not be removed from answers
MIN_SECRET_CHARACTERS = 8
#: an environment variable, or a value of the case
_PLACEHOLDER = re.compile(r"\$\{(?P<variable>[A-Za-z_]\w*)\}|(?<!\$)\{(?P<column>[^{}\"'\n]+)\}")
_CONTENT_TYPE = "content-type"
OWNER = "HttpService"


@dataclass(frozen=True, kw_only=True, repr=False)
class PreparedRequest:
    """A request with the values of one case, and with its secrets. It must not be stored or shown."""

    url: str
    headers: dict[str, str]
    content: bytes | None

    def to_text(self) -> str:
        """Return all parts as one text, such as the key of a cache; only for requests without secrets."""
        return repr((self.url, self.headers, self.content))


class VariableValues(dict[str, str]):
    """The values of environment variables by name; it shows only the names."""

    def __repr__(self) -> str:
        return f"VariableValues({', '.join(self)})"


class Secrets:
    """The values of environment variables in a request, which no message may show.

    Examples
    --------
    >>> Secrets({"API_TOKEN": "a b/c"}).remove("Bearer a b/c, ?key=a%20b%2Fc")
    'Bearer ***, ?key=***'
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        forms = {
            form
            for name, value in values.items()
            if value and (len(value) >= MIN_SECRET_CHARACTERS or is_secret_name(name))
            for form in (value, quote(value, safe=""), quote_plus(value), quote(value), json.dumps(value)[1:-1])
        }
        self._forms = sorted(forms, key=len, reverse=True)

    def remove(self, text: str) -> str:
        """Return a text with every secret replaced by ***."""
        for form in self._forms:
            text = text.replace(form, "***")
        return text

    def __repr__(self) -> str:
        return f"Secrets({len(self._forms)})"

    def __reduce__(self) -> Any:
        return (Secrets, ({},))  # a pickle holds none of them


@dataclass(frozen=True, kw_only=True)
class RequestTemplate:
    """A request with places for the values of a case and for environment variables."""

    url: str
    method: str = "GET"
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None
    json: Any = None
    body: str | None = None

    def __post_init__(self) -> None:
        validate_choice("method", OWNER, self.method, METHODS)
        parts = urlsplit(self.url) if isinstance(self.url, str) else None
        if parts is None or parts.scheme not in ("http", "https") or not parts.netloc:
            reject("url", OWNER, "an address such as 'https://host/predict?age={age}'", self.url)
        if "@" in parts.netloc:
            raise ArgumentError(
                "The address of a service must not hold a user or a password. Give them as a header with an environment "
                "variable: headers={'Authorization': 'Basic ${API_LOGIN}'}."
            )
        if _PLACEHOLDER.search(parts.netloc) and "{" in parts.netloc.replace("${", ""):
            raise ArgumentError("The host of a service cannot depend on the case. Write it out, or use ${VARIABLE}.")
        for name, mapping in (("params", self.params), ("headers", self.headers)):
            if mapping is not None and not (
                isinstance(mapping, Mapping) and all(isinstance(key, str) for key in mapping)
            ):
                reject(name, OWNER, "a mapping with names as keys", type(mapping))
        for name, value in (self.headers or {}).items():
            if not isinstance(value, str):
                raise ArgumentError(f"The header {name!r} must be a text. Got {type(value).__name__}.")
            if any(match["column"] for match in _PLACEHOLDER.finditer(value)):
                raise ArgumentError(
                    f"The header {name!r} holds a column in braces. Headers take environment variables, ${{NAME}}, only."
                )
        if self.json is not None and self.body is not None:
            raise ArgumentError("A request has one body. Give json= or body=, not both.")
        if self.body is not None and not isinstance(self.body, str):
            reject("body", OWNER, "a text", type(self.body))
        if self.method == "GET" and (self.json is not None or self.body is not None):
            raise ArgumentError("A GET request has no body. Use method='POST' with json= or body=, or params=.")
        self._find_body_encoder()
        named_values = [*self._list_named_values(), *parse_qsl(parts.query, keep_blank_values=True)]
        for name, value in named_values:
            if isinstance(value, str) and value and is_secret_name(name) and not _PLACEHOLDER.search(value):
                raise ArgumentError(
                    f"{name!r} looks like a secret, and secrets come from environment variables only. Write "
                    f"'${{MY_VARIABLE}}' instead of the value, and set MY_VARIABLE before the run."
                )

    def _list_named_values(self) -> Iterator[tuple[str, Any]]:
        yield from _list_named_values(dict(self.params or {}))
        yield from (self.headers or {}).items()
        yield from _list_named_values(self.json)

    @property
    def address(self) -> str:
        """The host and path for messages, without the query and with the names of variables."""
        parts = urlsplit(self.url)
        return redact(parts.netloc + parts.path)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values are inserted, in order, without the whole case."""
        names = [match["column"] for text in self._list_texts() for match in _PLACEHOLDER.finditer(text)]
        return tuple(dict.fromkeys(name for name in names if name and name != WHOLE_CASE))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the environment variables."""
        names = [match["variable"] for text in self._list_texts() for match in _PLACEHOLDER.finditer(text)]
        return tuple(dict.fromkeys(filter(None, names)))

    def _list_texts(self) -> Iterator[str]:
        yield self.url
        yield from _list_texts([self.params, self.headers, self.json, self.body])

    def read_variables(self) -> VariableValues:
        """Return the values of the environment variables, or raise `ModelError` for one that is not set."""
        values = VariableValues((name, os.environ.get(name, "").strip()) for name in self.variables)
        for name, value in values.items():
            if not value:
                raise ModelError(
                    f"The service at {self.address} needs the environment variable {name}, which is not set. "
                    f"Set it before the run: export {name}=..."
                )
        return values

    def check_columns(self, columns: list[str]) -> None:
        """Raise `ModelError` if a column of the template is not among those of the data."""
        for name in self.columns:
            if name not in columns:
                raise ModelError(
                    f"The request to {self.address} needs the column {name!r}, which the data do not have. "
                    f"{suggest_name(name, columns)}"
                )

    def fill(self, case: Mapping[str, Any], variables: Mapping[str, str]) -> PreparedRequest:
        """Return the request for one case, whose values are JSON values."""
        base, mark, query = self.url.partition("?")
        scheme, separator, rest = base.partition("://")
        host, slash, path = rest.partition("/")
        url = f"{scheme}{separator}{_insert(host, case, variables, str)}{slash}{_insert(path, case, variables, _quote)}"
        if mark:
            url += "?" + _insert(query, case, variables, _quote)
        params = []
        for name, value in (self.params or {}).items():
            new_value = _fill_json(value, case, variables)
            items = new_value if isinstance(new_value, list) else [new_value]
            params += [f"{quote_plus(name)}={quote_plus(_to_text(item))}" for item in items if item is not None]
        if params:
            url += ("&" if mark and query else "" if mark else "?") + "&".join(params)
        headers = {name: _insert(value, {}, variables, str) for name, value in (self.headers or {}).items()}
        content: bytes | None = None
        if self.json is not None:
            content = json.dumps(_fill_json(self.json, case, variables), ensure_ascii=False).encode()
        elif self.body is not None:
            content = _insert(self.body, case, variables, self._find_body_encoder()).encode()
        if content is not None and _CONTENT_TYPE not in map(str.lower, headers):
            headers["Content-Type"] = "application/json"
        return PreparedRequest(url=url, headers=headers, content=content)

    def _find_body_encoder(self) -> Callable[[Any], str]:
        """Return how values are written into the body, which its content type decides."""
        headers = {name.lower(): value for name, value in (self.headers or {}).items()}
        kind = str(headers.get(_CONTENT_TYPE, "application/json")).partition(";")[0].strip().lower()
        if kind.endswith("json"):
            return lambda value: json.dumps(value, ensure_ascii=False)
        if kind == "application/x-www-form-urlencoded":
            return lambda value: quote_plus(_to_text(value))
        if kind.endswith("xml"):
            return lambda value: escape(_to_text(value), {'"': "&quot;", "'": "&apos;"})
        if kind == "text/plain" or self.body is None:
            return _to_text
        raise ArgumentError(
            f"Values cannot be inserted safely into a body of the type {kind!r}. Use JSON, XML, a form or text/plain."
        )


def to_plain_value(value: Any) -> Any:
    """Return a cell of a frame as a JSON value: None for a missing one, ISO text for dates.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> [to_plain_value(value) for value in (np.int64(3), float("nan"), pd.Timestamp("2026-05-31"), "text")]
    [3, None, '2026-05-31T00:00:00', 'text']
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if hasattr(value, "isoformat"):
        return None if value != value else value.isoformat()  # NaT differs from itself
    if hasattr(value, "tolist"):
        return to_plain_value(value.tolist())
    if isinstance(value, list | tuple):
        return [to_plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain_value(item) for key, item in value.items()}
    text = str(value)
    return None if text == "<NA>" else text


def _fill_json(template: Any, case: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    """Return a JSON template with values.

    A text that is one placeholder becomes the value with its own type.
    """
    if isinstance(template, str):
        match = _PLACEHOLDER.fullmatch(template)
        if match is not None and match["column"]:
            return dict(case) if match["column"] == WHOLE_CASE else case[match["column"]]
        return _insert(template, case, variables, _to_text)
    if isinstance(template, Mapping):
        return {str(key): _fill_json(value, case, variables) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [_fill_json(value, case, variables) for value in template]
    return template


def _insert(text: str, case: Mapping[str, Any], variables: Mapping[str, str], encode: Callable[[Any], str]) -> str:
    """Return a text with the encoded values of columns and variables.

    Inserted values are not searched for placeholders.
    """

    def find_value(match: re.Match[str]) -> str:
        if match["variable"]:
            return encode(variables[match["variable"]])
        column = match["column"]
        return encode(dict(case) if column == WHOLE_CASE else case[column]) if case else match[0]

    return _PLACEHOLDER.sub(find_value, text)


def _quote(value: Any) -> str:
    text = quote(_to_text(value), safe="")
    return text.replace(".", "%2E") if text in (".", "..") else text  # a value cannot lead to another folder


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _list_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _list_texts(item)


def _list_named_values(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name), item
            yield from _list_named_values(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _list_named_values(item)
