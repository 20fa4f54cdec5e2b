"""tls: a module `ssl` for a room in which nothing connects.

The guest has none, and much that uses the network cannot even be imported
without it.  Contexts can be made and set up; a connection is refused.
"""

# SPDX-License-Identifier: Apache-2.0

import _socket
import enum
import os
import socket
import sys
import types

from _breakroom import net, system


class SSLError(OSError):
    """An error of the TLS layer; it cannot come up, for nothing connects."""

    library = reason = None


def error_class(name, *bases):
    """Return an exception class of the module `ssl`."""
    return types.new_class(name, bases, {}, lambda ns: ns.update(__module__="ssl"))


class SSLContext:
    """Settings for connections that are never made."""

    def __init__(self, protocol=None):
        self.protocol = protocol
        self.check_hostname = protocol == TLSMethod.PROTOCOL_TLS_CLIENT
        self.verify_mode = (
            VerifyMode.CERT_REQUIRED if self.check_hostname else VerifyMode.CERT_NONE
        )
        self.options = 0
        self.verify_flags = 0
        self.minimum_version = TLSVersion.TLSv1_2
        self.maximum_version = TLSVersion.TLSv1_3
        self.post_handshake_auth = False
        self.keylog_filename = None
        self.sni_callback = None

    def accept(self, *args, **kwargs):
        """Take a setting that no connection will use."""

    load_cert_chain = load_default_certs = load_verify_locations = accept
    set_alpn_protocols = set_ciphers = set_default_verify_paths = accept
    set_ecdh_curve = load_dh_params = accept

    def get_ca_certs(self, binary_form=False):
        """Return no certificates."""
        return []

    def get_ciphers(self):
        """Return no ciphers."""
        return []

    def cert_store_stats(self):
        """Count no certificates."""
        return {"x509": 0, "crl": 0, "x509_ca": 0}

    wrap_socket = wrap_bio = net.off


class VerifyMode(enum.IntEnum):
    """Whether a peer's certificate is checked."""

    CERT_NONE = 0
    CERT_OPTIONAL = 1
    CERT_REQUIRED = 2


class TLSMethod(enum.IntEnum):
    """Protocols of a context."""

    PROTOCOL_TLS = 2
    PROTOCOL_SSLv23 = 2
    PROTOCOL_TLSv1 = 3
    PROTOCOL_TLSv1_1 = 4
    PROTOCOL_TLSv1_2 = 5
    PROTOCOL_TLS_CLIENT = 16
    PROTOCOL_TLS_SERVER = 17


class TLSVersion(enum.IntEnum):
    """Versions of the protocol."""

    MINIMUM_SUPPORTED = -2
    SSLv3 = 768
    TLSv1 = 769
    TLSv1_1 = 770
    TLSv1_2 = 771
    TLSv1_3 = 772
    MAXIMUM_SUPPORTED = -1


class Purpose(enum.Enum):
    """What a context is made for."""

    SERVER_AUTH = "1.3.6.1.5.5.7.3.1"
    CLIENT_AUTH = "1.3.6.1.5.5.7.3.2"


class SSLSocket(net.Socket):
    """The type of a wrapped socket, for isinstance checks."""


class SSLObject:
    """The type of a wrapped buffer, for isinstance checks."""


class MemoryBIO:
    """The type of a buffer, for isinstance checks."""


OPTIONS = {
    "OP_ALL": 0x80000050, "OP_NO_SSLv2": 0, "OP_NO_SSLv3": 0x02000000,
    "OP_NO_TLSv1": 0x04000000, "OP_NO_TLSv1_1": 0x10000000,
    "OP_NO_TLSv1_2": 0x08000000, "OP_NO_TLSv1_3": 0x20000000,
    "OP_NO_COMPRESSION": 0x20000, "OP_NO_TICKET": 0x4000,
    "OP_SINGLE_DH_USE": 0, "OP_SINGLE_ECDH_USE": 0, "OP_ENABLE_KTLS": 8,
    "OP_IGNORE_UNEXPECTED_EOF": 0x80, "OP_LEGACY_SERVER_CONNECT": 4,
    "VERIFY_DEFAULT": 0, "VERIFY_X509_STRICT": 0x20,
    "VERIFY_X509_TRUSTED_FIRST": 0x8000, "VERIFY_X509_PARTIAL_CHAIN": 0x80000,
    "HAS_SNI": True, "HAS_ALPN": True, "HAS_ECDH": True, "HAS_NPN": False,
    "HAS_NEVER_CHECK_COMMON_NAME": True, "HAS_SSLv2": False, "HAS_SSLv3": False,
    "HAS_TLSv1": False, "HAS_TLSv1_1": False, "HAS_TLSv1_2": True,
    "HAS_TLSv1_3": True, "OPENSSL_VERSION": "OpenSSL 3.0.0 (none: no network)",
    "OPENSSL_VERSION_INFO": (3, 0, 0, 0, 0), "OPENSSL_VERSION_NUMBER": 0x30000000,
    "CHANNEL_BINDING_TYPES": [], "SOCK_STREAM": _socket.SOCK_STREAM,
    "SSL_ERROR_ZERO_RETURN": 6, "SSL_ERROR_WANT_READ": 2,
    "SSL_ERROR_WANT_WRITE": 3, "SSL_ERROR_EOF": 8, "SSL_ERROR_SSL": 1,
}
ERRORS = (
    "SSLZeroReturnError", "SSLWantReadError", "SSLWantWriteError",
    "SSLSyscallError", "SSLEOFError",
)


def create_default_context(purpose=Purpose.SERVER_AUTH, **kwargs):
    """Return a context with the usual settings."""
    client = purpose == Purpose.SERVER_AUTH
    method = TLSMethod.PROTOCOL_TLS_CLIENT if client else TLSMethod.PROTOCOL_TLS_SERVER
    return SSLContext(method)


def unverified_context(*args, **kwargs):
    """Return a context that checks nothing."""
    return SSLContext(TLSMethod.PROTOCOL_TLS)


def install_ssl():
    """Make the module `ssl`, so that what builds on it can be imported."""
    ssl = system.new_module("ssl", "TLS of a room whose network is off.")
    classes = (
        SSLError, SSLContext, SSLSocket, SSLObject, MemoryBIO, Purpose,
        VerifyMode, TLSMethod, TLSVersion,
    )
    for cls in classes:
        cls.__module__ = "ssl"
        setattr(ssl, cls.__name__, cls)
    for cls in (VerifyMode, TLSMethod):
        vars(ssl).update(cls.__members__)
    vars(ssl).update(OPTIONS)
    for name in ERRORS:
        setattr(ssl, name, error_class(name, SSLError))
    ssl.SSLCertVerificationError = ssl.CertificateError = error_class(
        "SSLCertVerificationError", SSLError, ValueError
    )
    ssl.create_default_context = create_default_context
    ssl._create_default_https_context = create_default_context
    ssl._create_unverified_context = unverified_context
    ssl._create_stdlib_context = unverified_context
    ssl.get_server_certificate = net.refuse("get_server_certificate")
    ssl.get_default_verify_paths = lambda: None
    ssl.RAND_bytes = os.urandom
    ssl.socket = socket
    sys.modules["ssl"] = ssl
    core = system.new_module("_ssl", ssl.__doc__)
    vars(core).update({k: v for k, v in vars(ssl).items() if k[0] != "_"})
    sys.modules["_ssl"] = core


install_ssl()
