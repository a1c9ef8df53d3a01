"""`WebOptions`: the options of ``datamorphic web``."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from .._validation import validate_integer
from ..errors import ArgumentError

DEFAULT_PORT = 8080
DEFAULT_UPLOAD_MEGABYTES = 50
MIN_TOKEN_CHARACTERS = 12
TOKEN_VARIABLE = "DATAMORPHIC_TOKEN"


@dataclass(frozen=True, kw_only=True)
class WebOptions:
    """What the studio serves, to whom, and what it may load.

    Examples
    --------
    >>> WebOptions(host="127.0.0.1").is_local
    True
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str | None = field(default=None, repr=False)
    public_url: str | None = None  # where people reach the studio through a proxy
    folder: Path = field(default_factory=Path.cwd)
    store: str | None = None  # where runs are kept; None for the default store
    trust: bool = False  # whether people may upload and load files that are code, such as pickles
    upload_megabytes: int = DEFAULT_UPLOAD_MEGABYTES  # the largest upload
    workspaces: Path | None = None  # where the work of each person is kept; None for the user's data folder

    def __post_init__(self) -> None:
        validate_integer("port", "web", self.port, 0, 65_535)
        validate_integer("upload_megabytes", "web", self.upload_megabytes, 1, 10_000)
        if not self.folder.is_dir():
            raise ArgumentError(f"The folder {str(self.folder)!r} does not exist. Give a folder with models and data.")
        if self.token is not None and len(self.token) < MIN_TOKEN_CHARACTERS:
            raise ArgumentError(
                f"The token has {len(self.token)} characters, which can be guessed. Give one of at least {MIN_TOKEN_CHARACTERS}."
            )
        if not self.is_local and self.token is None:
            raise ArgumentError(
                f"Everybody who can reach {self.host} could use the studio. Add a token (--token), or leave --host out."
            )
        if self.public_url is not None:
            self._validate_public_url(self.public_url)

    def _validate_public_url(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ArgumentError(
                f"The public URL is {url!r}. Give the address that people open, such as https://studio.example.org."
            )
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ArgumentError(
                f"The public URL {url!r} has a path. The studio needs a host name or a port of its own, such as "
                f"{parts.scheme}://{parts.netloc}."
            )
        if self.token is None:
            raise ArgumentError(
                f"Everybody who can reach {url} could use the studio. Add a token (--token), or leave --public-url out."
            )

    @property
    def public_origin(self) -> str | None:
        """The public URL as browsers name it in the header Origin."""
        if self.public_url is None:
            return None
        parts = urlsplit(self.public_url.lower())
        default_port = ":443" if parts.scheme == "https" else ":80"
        return f"{parts.scheme}://{parts.netloc.removesuffix(default_port)}"

    @property
    def is_local(self) -> bool:
        """Whether only this computer can reach the studio."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
