"""Where a request may go: the provider's own address, or an explicit https loopback fixture (seed, "Commands")."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

from repocue.errors import UsageError

DEFAULT_URL: Final = "https://api.anthropic.com/v1/messages"
_DEFAULT_HOST: Final = "api.anthropic.com"
_DEFAULT_PATH: Final = "/v1/messages"
_HTTPS_PORT: Final = 443

_IPV6_LOOPBACK: Final = ipaddress.IPv6Address("::1")

# No user, query or fragment can match; nothing is percent-decoded or normalised, so the text is the target.
_URL: Final = re.compile(
    r"https://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where to connect and what to ask for. `host` is a name or an address without brackets."""

    url: str
    host: str
    port: int
    path: str
    is_loopback: bool

    @property
    def host_header(self) -> str:
        """The value of the `host` field: with brackets for IPv6, with the port unless it is 443."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _HTTPS_PORT else f"{name}:{self.port}"


PROVIDER: Final = Endpoint(url=DEFAULT_URL, host=_DEFAULT_HOST, port=_HTTPS_PORT, path=_DEFAULT_PATH, is_loopback=False)


def parse(url: str | None) -> Endpoint:
    """The endpoint that was asked for; None is the provider's.

    Raises UsageError, code ``usage.endpoint``, for anything but the exact default URL and https loopback URLs
    (``localhost``, 127.0.0.0/8, ``[::1]``) without credentials, query and fragment.
    """
    if url is None or url == DEFAULT_URL:
        return PROVIDER
    match = _URL.fullmatch(url)
    if match is None:
        raise _refused(url, "it is not an https URL of host, optional port and path alone")
    port = int(match["port"]) if match["port"] else _HTTPS_PORT
    if not 1 <= port <= 65535:
        raise _refused(url, f"there is no port {port}")
    host = match["host"].strip("[]").lower()
    if not _is_loopback(host):
        raise _refused(url, f"{host} is no loopback host")
    return Endpoint(url=url, host=host, port=port, path=match["path"] or "/", is_loopback=True)


def is_loopback_address(address: str) -> bool:
    """Whether a numeric address, as the socket layer shows it, is a loopback one."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    # Whether an IPv4 address in IPv6 clothes is one, Python's versions disagree about; here it is none.
    return found == _IPV6_LOOPBACK if found.version == 6 else found.is_loopback


def _is_loopback(host: str) -> bool:
    return host == "localhost" or is_loopback_address(host)


def _refused(url: str, why: str) -> UsageError:
    # Where a user, a query or a fragment may be meant, a credential may stand in it.
    shown = url if re.fullmatch(r"[\x21-\x7e]{1,200}", url) and not set(url) & set("@?#") else "as given"
    return UsageError(
        f"The endpoint {shown} cannot be used: {why}.",
        code="usage.endpoint",
        hint=f"Leave --endpoint out for {DEFAULT_URL}, or name an https loopback URL such as"
        " https://127.0.0.1:8443/v1/messages.",
    )
