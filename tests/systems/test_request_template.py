from __future__ import annotations

import json
import pickle
from urllib.parse import parse_qsl

import pytest

from datamorphic.errors import ArgumentError, ModelError
from datamorphic.systems.request_template import RequestTemplate, Secrets
from support.cases import in_one_test

NASTY = 'a&b=c/../#?"}{x}${HOME} \n é'


def test_values_are_escaped_for_their_place():
    template = RequestTemplate(
        url="http://h/{text}/x?q={text}",
        method="POST",
        params={"p": "{text}", "n": "{n}"},
        json={"t": "{text}", "both": "{n}: {text}", "n": "{n}"},
    )
    request = template.fill({"text": NASTY, "n": 3}, {})
    path, _, query = request.url.removeprefix("http://h/").partition("?")
    assert path.count("/") == 1
    assert parse_qsl(query) == [("q", NASTY), ("p", NASTY), ("n", "3")]
    assert "{" not in query
    assert json.loads(request.content) == {"t": NASTY, "both": f"3: {NASTY}", "n": 3}


@pytest.mark.parametrize("value", [".", ".."])
def test_a_value_does_not_lead_to_another_folder(value):
    assert "." not in RequestTemplate(url="http://h/users/{name}/x").fill({"name": value}, {}).url.removeprefix(
        "http://h"
    )


def test_a_whole_case_is_an_object():
    request = RequestTemplate(url="http://h", method="POST", json={"case": "{*}"}).fill({"a": 1, "b": None}, {})
    assert json.loads(request.content) == {"case": {"a": 1, "b": None}}


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("application/json", '{"t": {text}}', None),
        ("application/x-www-form-urlencoded", "t={text}", "t=%3C%26%22"),
        ("text/xml", "<t>{text}</t>", "<t>&lt;&amp;&quot;</t>"),
        ("text/plain; charset=utf-8", "{text}!", '<&"!'),
    ],
)
def test_a_body_is_encoded_as_its_type(kind, body, expected):
    request = RequestTemplate(url="http://h", method="POST", body=body, headers={"Content-Type": kind}).fill(
        {"text": '<&"'}, {}
    )
    text = request.content.decode()
    assert json.loads(text) == {"t": '<&"'} if expected is None else text == expected


def test_variables_are_read_when_a_request_is_made(monkeypatch):
    template = RequestTemplate(url="http://h?key=${API_KEY}", headers={"Authorization": "Bearer ${API_TOKEN}"})
    monkeypatch.delenv("API_TOKEN", raising=False)
    monkeypatch.setenv("API_KEY", "k&1")
    with pytest.raises(
        ModelError, match=r"needs the environment variable API_TOKEN, which is not set. .*export API_TOKEN"
    ):
        template.read_variables()
    monkeypatch.setenv("API_TOKEN", "secret-token")
    variables = template.read_variables()
    request = template.fill({}, variables)
    assert request.headers == {"Authorization": "Bearer secret-token"}
    assert request.url == "http://h?key=k%261"
    assert b"secret-token" not in pickle.dumps(template)
    assert "secret-token" not in repr(request) + repr(variables)


def test_secrets_are_removed_in_every_form():
    secrets = Secrets({"TOKEN": 'a/b "c'})
    assert secrets.remove('a/b "c, a%2Fb%20%22c, a%2Fb+%22c, {"t": "a/b \\"c"}') == '***, ***, ***, {"t": "***"}'
    assert "a/b" not in repr(secrets)
    assert b"a/b" not in pickle.dumps(secrets)
    assert Secrets({"LANGUAGE": "en"}).remove("an end") == "an end"


@in_one_test(
    ("options", "message"),
    [
        ({"url": "ftp://h"}, "must be an address"),
        ({"url": "https://me:pass@h"}, "must not hold a user or a password"),
        ({"url": "https://{host}/x"}, "host of a service cannot depend on the case"),
        ({"url": "https://h?token=abc"}, "'token' looks like a secret"),
        ({"headers": {"Authorization": "Bearer abc"}}, "'Authorization' looks like a secret"),
        ({"params": {"api_key": "abc"}}, "'api_key' looks like a secret"),
        ({"method": "POST", "json": {"auth": [{"password": "abc"}]}}, "'password' looks like a secret"),
        ({"headers": {"X-Name": "{name}"}}, "Headers take environment variables"),
        ({"headers": {"X-Name": 3}}, "must be a text"),
        ({"headers": ["X"]}, "a mapping"),
        ({"method": "FETCH"}, "one of 'GET'"),
        ({"json": {}}, "A GET request has no body"),
        ({"method": "POST", "json": {}, "body": ""}, "one body"),
        ({"method": "POST", "body": "{x}", "headers": {"Content-Type": "image/png"}}, "cannot be inserted safely"),
    ],
)
def test_wrong_templates_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        RequestTemplate(**{"url": "https://h"} | options)
    assert "abc" not in str(caught.value)
    assert "pass@" not in str(caught.value)


def test_a_column_that_the_data_lack_is_named():
    with pytest.raises(ModelError, match=r"needs the column 'agee', .* Did you mean 'age'\?"):
        RequestTemplate(url="https://h/{agee}").check_columns(["age"])
