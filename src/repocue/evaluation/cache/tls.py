"""TLS settings of our own: TLS 1.2 at least, host names checked, nothing taken from the environment.

`ssl.create_default_context` obeys SSLKEYLOGFILE, and OpenSSL's default paths obey SSL_CERT_FILE and SSL_CERT_DIR; a
bare context with certificates loaded by path obeys none of them.
"""

from __future__ import annotations

import os
import ssl
import sys
from typing import Final

from repocue.errors import UsageError

_KNOWN_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # macOS, BSD
    "/opt/homebrew/etc/openssl@3/cert.pem",
    "/usr/local/etc/openssl@3/cert.pem",
)


class NoTrustStore(Exception):
    """No certificate authorities are found on this machine."""


def context(ca_file: str | None) -> ssl.SSLContext:
    """A client context that trusts the system's authorities, or only those in `ca_file`.

    Raises UsageError, code ``usage.endpoint-ca``, where `ca_file` holds no certificates, and NoTrustStore where the
    system's authorities cannot be found.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    if ca_file is not None:
        try:
            made.load_verify_locations(cafile=ca_file)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            reason = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else None
            raise UsageError(
                f"The file given with --endpoint-ca holds no usable certificates: {reason or 'it is not PEM'}.",
                code="usage.endpoint-ca",
            ) from None
        return made
    if not _trust_system(made):
        raise NoTrustStore
    return made


def _trust_system(made: ssl.SSLContext) -> bool:
    """Load the first authorities that are found where systems keep them; False where there are none."""
    if sys.platform == "win32":
        made.load_default_certs()  # reads the system's store; OpenSSL's variables matter for its file paths only
        return True
    paths = ssl.get_default_verify_paths()  # the compiled-in ones are asked for below, not the environment's
    for bundle in (paths.openssl_cafile, *_KNOWN_BUNDLES):
        if os.path.isfile(bundle):
            try:
                made.load_verify_locations(cafile=bundle)
            except OSError:
                continue  # empty or unreadable; another may do
            return True
    if os.path.isdir(paths.openssl_capath):
        made.load_verify_locations(capath=paths.openssl_capath)
        return True
    return False
