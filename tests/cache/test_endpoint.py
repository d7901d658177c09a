"""A request goes to the provider's exact URL or to an https loopback URL, and to nothing that only looks like one."""

from __future__ import annotations

import pytest

from repocue.errors import UsageError
from repocue.evaluation.cache.endpoint import DEFAULT_URL, PROVIDER, parse


def test_the_default_is_the_providers_own_address_also_when_spelled_out() -> None:
    assert parse(None) == parse("https://api.anthropic.com/v1/messages") == PROVIDER
    assert (PROVIDER.host, PROVIDER.port, PROVIDER.path, PROVIDER.is_loopback, PROVIDER.host_header) == (
        "api.anthropic.com",
        443,
        "/v1/messages",
        False,
        "api.anthropic.com",
    )


@pytest.mark.parametrize(
    ("url", "host", "port", "path", "host_header"),
    [
        ("https://127.0.0.1:8443/v1/messages", "127.0.0.1", 8443, "/v1/messages", "127.0.0.1:8443"),
        ("https://localhost:1/", "localhost", 1, "/", "localhost:1"),
        ("https://LocalHost:65535", "localhost", 65535, "/", "localhost:65535"),
        ("https://127.255.255.254/a%20b/c;d=e", "127.255.255.254", 443, "/a%20b/c;d=e", "127.255.255.254"),
        ("https://[::1]:443/x", "::1", 443, "/x", "[::1]"),
        ("https://[::1]:8443/x", "::1", 8443, "/x", "[::1]:8443"),
    ],
)
def test_https_loopback_urls_are_taken_as_they_are(url: str, host: str, port: int, path: str, host_header: str) -> None:
    endpoint = parse(url)
    assert (endpoint.host, endpoint.port, endpoint.path, endpoint.host_header) == (host, port, path, host_header)
    assert endpoint.is_loopback


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://",
        "http://127.0.0.1/v1/messages",
        "HTTPS://127.0.0.1/v1/messages",
        "ftp://localhost/",
        "https://example.org/v1/messages",
        "https://api.anthropic.com/v1/messages/",
        "https://api.anthropic.com/v1/complete",
        "https://api.anthropic.com:443/v1/messages",
        "https://API.anthropic.com/v1/messages",
        "https://api.anthropic.com/v1/messages?beta=true",
        "https://api.anthropic.com/v1/messages#x",
        "https://user@127.0.0.1/",
        "https://user:secret@127.0.0.1/",
        "https://127.0.0.1@example.org/",
        "https://127.0.0.1/?q=1",
        "https://127.0.0.1/#f",
        "https://127.0.0.1#@example.org/",
        "https://127.0.0.1\\@example.org/",
        "https://127.0.0.1.example.org/",
        "https://localhost.example.org/",
        "https://localhost./",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://128.0.0.1/",
        "https://0.0.0.0/",
        "https://[::]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::1%25lo]/",
        "https://[fe80::1]/",
        "https://::1/",
        "https://127.0.0.1:0/",
        "https://127.0.0.1:65536/",
        "https://127.0.0.1:/",
        "https://127.0.0.1:+1/",
        "https://127.0.0.1/a b",
        "https://127.0.0.1/%zz",
        "https://127.0.0.1/\r\nx: y",
        "https://127.0.0.1/\t",
        " https://127.0.0.1/",
        "https://127.0.0.1/ ",
        "https://127.0.0.1/é",
        "https://١٢٧.0.0.1/",
        "//127.0.0.1/",
        "127.0.0.1",
    ],
)
def test_everything_else_is_one_usage_error(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(url)
    assert caught.value.code == "usage.endpoint"
    assert DEFAULT_URL in (caught.value.hint or "")


@pytest.mark.parametrize(
    "url", ["https://user:hunter2@127.0.0.1/", "https://127.0.0.1/?key=hunter2", "https://127.0.0.1/#hunter2"]
)
def test_credentials_in_a_url_are_not_repeated_in_the_message(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(url)
    assert "hunter2" not in caught.value.message
