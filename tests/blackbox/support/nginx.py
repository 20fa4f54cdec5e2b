# SPDX-License-Identifier: Apache-2.0
"""The nginx example as an operator would use it, but for the addresses and
paths in it, which are those of a test."""

import datetime
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .http import Link
from .programs import ROOT

EXAMPLE = ROOT / "dist" / "nginx" / "breakroom.conf"
UNPACKED = ROOT / "build" / "nginx" / "usr" / "sbin" / "nginx"
FRAME = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log info;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/breakroom.conf;
}}
"""


def program():
    """nginx, installed or unpacked for the tests; None if there is none."""
    path = os.environ["PATH"] + ":/usr/sbin"
    return shutil.which("nginx", path=path) or (UNPACKED if UNPACKED.exists() else None)


def certify(folder):
    """A key and a certificate for localhost, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    (folder / "cert.pem").write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
    )


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def replaced(text, pattern, by):
    """The text with every match replaced; there must be one."""
    text, number = re.subn(pattern, by, text, flags=re.M)
    assert number, f"{pattern!r} is not in the example"
    return text


def adapt(text, port, replicas, folder):
    """The example with a test's addresses and paths."""
    for example, one in zip(("8081", "8082"), replicas, strict=True):
        text = replaced(text, rf"(server 127\.0\.0\.1):{example}\b", rf"\1:{one}")
    text = replaced(text, r"listen 443\b", f"listen 127.0.0.1:{port}")
    text = replaced(text, r"(ssl_certificate) .*;", rf"\1 {folder}/cert.pem;")
    text = replaced(text, r"(ssl_certificate_key) .*;", rf"\1 {folder}/key.pem;")
    return replaced(text, r"(server_name) .*;", r"\1 localhost;")


class Nginx:
    """A running nginx with the example's configuration."""

    def __init__(self, folder, replicas):
        self.folder = folder
        self.port = free_port()
        certify(folder)
        text = adapt(EXAMPLE.read_text(), self.port, replicas, folder)
        (folder / "breakroom.conf").write_text(text)
        main = folder / "nginx.conf"
        main.write_text(FRAME.format(folder=folder))
        self.process = subprocess.Popen(
            [str(program()), "-p", str(folder), "-c", str(main)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.tls = ssl.create_default_context(cafile=folder / "cert.pem")
        self._wait()

    def _wait(self, within=10):
        end = time.monotonic() + within
        while True:
            try:
                self.link().close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.close()
                    raise AssertionError(self.said()) from None
                time.sleep(0.05)

    def said(self):
        """What it has to say about itself."""
        said = self.process.stderr.read().decode(errors="replace")
        log = self.folder / "error.log"
        return said + (log.read_text(errors="replace") if log.exists() else "")

    def link(self, **how):
        return Link(self.port, tls=self.tls, **how)

    def close(self):
        """Ends the master, which ends its workers."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
            raise AssertionError("nginx outlived SIGTERM by 10 s") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
