"""net: a socket layer on which every connection fails at once, and plainly.

The modules above it (http.client, urllib, smtplib, ftplib, asyncio) import
and work up to the point where they would reach out.
"""

# SPDX-License-Identifier: Apache-2.0

import _socket
import enum
import errno
import os
import socket
import sys
import types

OFF = "the network is off in this room"


def off(*args, **kwargs):
    """Fail as a machine without any network does, and say so."""
    raise OSError(errno.ENETUNREACH, OFF)


def refuse(name):
    """Return a function `name` that fails with the network's OSError."""

    def function(*args, **kwargs):
        raise OSError(errno.ENETUNREACH, OFF)

    function.__name__ = function.__qualname__ = name
    return function


def no_address(host, *args, **kwargs):
    """Fail to look up a name."""
    raise socket.gaierror(_socket.EAI_FAIL, OFF)


class Socket(_socket.socket):
    """A socket that can be made and set up, but not connected."""

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        self._timeout = _socket.getdefaulttimeout()
        self._closed = False
        self._io_refs = 0
        self._family = _socket.AF_INET if family == -1 else family
        self._type = _socket.SOCK_STREAM if type == -1 else type

    family = property(lambda self: socket.AddressFamily(self._family))
    type = property(lambda self: socket.SocketKind(self._type))
    proto = property(lambda self: 0)

    def __repr__(self):
        return f"<socket.socket family={self._family} type={self._type}>"

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()

    def close(self):
        """Close the socket."""
        self._closed = True

    def detach(self):
        """Close the socket; there is no descriptor to hand over."""
        self._closed = True
        return -1

    def fileno(self):
        """Return -1: no descriptor stands behind this socket."""
        return -1

    def settimeout(self, value):
        """Set the timeout, which nothing will ever reach."""
        self._timeout = value

    def gettimeout(self):
        """Return the timeout."""
        return self._timeout

    def setblocking(self, flag):
        """Set the timeout to none or zero."""
        self._timeout = None if flag else 0.0

    def getblocking(self):
        """Return whether the timeout is other than zero."""
        return self._timeout != 0

    def setsockopt(self, *args):
        """Accept an option; there is nothing that it could change."""

    def getsockopt(self, *args):
        """Return zero for every option."""
        return 0

    def connect_ex(self, address):
        """Return the error number that connect() would raise."""
        return errno.ENETUNREACH


REFUSED_METHODS = (
    "accept", "bind", "connect", "getpeername", "getsockname", "listen",
    "makefile", "recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg",
    "send", "sendall", "sendfile", "sendmsg", "sendto", "shutdown", "dup",
)
REFUSED_FUNCTIONS = ("create_connection", "create_server", "socketpair", "fromfd")
LOOKUPS = (
    "getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr",
    "getnameinfo",
)
# Names that programs read and this build of the module lacks.
CONSTANTS = {
    "AF_UNIX": 1, "SOCK_RAW": 3, "SO_REUSEADDR": 2, "SO_KEEPALIVE": 9,
    "SO_BROADCAST": 6, "SO_RCVTIMEO": 20, "SO_SNDTIMEO": 21, "SO_ERROR": 4,
    "SO_LINGER": 13, "SO_RCVBUF": 8, "SO_SNDBUF": 7, "SO_REUSEPORT": 15,
    "IPPROTO_UDP": 17, "MSG_DONTWAIT": 64, "MSG_OOB": 1, "MSG_NOSIGNAL": 16384,
}


def install_socket():
    """Fill in the module `socket`."""
    for name in REFUSED_METHODS:
        setattr(Socket, name, refuse(name))
    Socket.__name__ = Socket.__qualname__ = "socket"
    Socket.__module__ = "socket"
    socket.socket = socket.SocketType = Socket
    for name in REFUSED_FUNCTIONS:
        setattr(socket, name, refuse(name))
    for name in LOOKUPS:
        function = types.FunctionType(
            no_address.__code__, no_address.__globals__, name
        )
        setattr(socket, name, function)
        setattr(_socket, name, function)
    for name, value in CONSTANTS.items():
        if not hasattr(socket, name):
            setattr(socket, name, value)
    socket.gethostname = _socket.gethostname = lambda: "localhost"
    socket.getfqdn = lambda name="": name or "localhost"
    socket.getservbyname = service_port
    # The default handlers of urllib look for this one at import.
    socket.has_ipv6 = False


SERVICES = {"http": 80, "https": 443, "ftp": 21, "ssh": 22, "smtp": 25, "domain": 53}


def service_port(name, protocol="tcp", /):
    """Return the port of a well-known service."""
    if name not in SERVICES:
        raise OSError("service/proto not found")
    return SERVICES[name]


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

    wrap_socket = wrap_bio = off


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


class SSLSocket(Socket):
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
    "HAS_TLSv1_3": True, "OPENSSL_VERSION": "none (the network is off)",
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
    ssl = types.ModuleType("ssl", "TLS of a room whose network is off.")
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
    ssl.get_server_certificate = refuse("get_server_certificate")
    ssl.get_default_verify_paths = lambda: None
    ssl.RAND_bytes = os.urandom
    ssl.socket = socket
    sys.modules["ssl"] = ssl
    core = types.ModuleType("_ssl", ssl.__doc__)
    vars(core).update({k: v for k, v in vars(ssl).items() if k[0] != "_"})
    sys.modules["_ssl"] = core


install_socket()
install_ssl()
