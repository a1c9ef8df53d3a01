"""The options of the studio: another address needs a token."""

import pytest

from datamorphic.errors import ArgumentError
from datamorphic.web.options import WebOptions
from support.cases import in_one_test


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_this_computer_needs_no_token(host, tmp_path):
    assert WebOptions(host=host, folder=tmp_path).is_local


@in_one_test("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "127.0.0.1.nip.io", "localhost."])
def test_another_address_needs_a_token(host, tmp_path):
    with pytest.raises(ArgumentError, match="Add a token"):
        WebOptions(host=host, folder=tmp_path)
    options = WebOptions(host=host, folder=tmp_path, token="a good long token")
    assert not options.is_local
    assert "a good long token" not in repr(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"token": "short"}, "can be guessed"),
        ({"token": ""}, "can be guessed"),
        ({"port": 70_000}, "port"),
        ({"port": -1}, "port"),
        ({"upload_megabytes": 0}, "upload_megabytes"),
    ],
)
def test_wrong_options_are_refused(options, message, tmp_path):
    with pytest.raises(ArgumentError, match=message):
        WebOptions(folder=tmp_path, **options)


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(ArgumentError, match="does not exist"):
        WebOptions(folder=tmp_path / "missing")
