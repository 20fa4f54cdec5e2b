"""net: a socket layer on which every connection fails at once, and plainly.

The modules above it (http.client, urllib, smtplib, ftplib, asyncio) import
and work up to the point where they would reach out.
"""

# SPDX-License-Identifier: Apache-2.0

import _socket
import errno
import socket
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


install_socket()
