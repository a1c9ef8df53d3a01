"""The options of the studio: another address needs a token."""

import pytest

from datamorphic.errors import ArgumentError
from datamorphic.web.options import WebOptions
from support.cases import in_one_test

TOKEN = "a good long token"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_this_computer_needs_no_token(host, tmp_path):
    assert WebOptions(host=host, folder=tmp_path).is_local


@in_one_test("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "127.0.0.1.nip.io", "localhost."])
def test_another_address_needs_a_token(host, tmp_path):
    with pytest.raises(ArgumentError, match="Add a token"):
        WebOptions(host=host, folder=tmp_path)
    options = WebOptions(host=host, folder=tmp_path, token=TOKEN)
    assert not options.is_local
    assert TOKEN not in repr(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"token": "short"}, "can be guessed"),
        ({"token": ""}, "can be guessed"),
        ({"port": 70_000}, "port"),
        ({"port": -1}, "port"),
        ({"upload_megabytes": 0}, "upload_megabytes"),
        ({"public_url": "https://studio.example.org"}, "Add a token"),
        ({"public_url": "studio.example.org", "token": TOKEN}, "such as https://"),
        ({"public_url": "ftp://studio.example.org", "token": TOKEN}, "such as https://"),
        ({"public_url": "https://ada:secret@studio.example.org", "token": TOKEN}, "such as https://"),
        ({"public_url": "https://example.org/studio", "token": TOKEN}, "a host name or a port of its own"),
    ],
)
def test_wrong_options_are_refused(options, message, tmp_path):
    with pytest.raises(ArgumentError, match=message):
        WebOptions(folder=tmp_path, **options)


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(ArgumentError, match="does not exist"):
        WebOptions(folder=tmp_path / "missing")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Studio.example.org/", "https://studio.example.org"),
        ("https://studio.example.org:443", "https://studio.example.org"),
        ("http://192.168.1.5:9000", "http://192.168.1.5:9000"),
    ],
)
def test_the_public_origin_is_written_as_browsers_write_it(url, origin, tmp_path):
    assert WebOptions(folder=tmp_path, token=TOKEN, public_url=url).public_origin == origin
