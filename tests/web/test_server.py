"""The application is built from its pages."""

from datamorphic.web.server import READY_MESSAGE


def test_the_address_is_announced():
    assert "{address}" in READY_MESSAGE
