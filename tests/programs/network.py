# SPDX-License-Identifier: Apache-2.0
"""Programs on sockets, TLS and digests."""

# program: echo_over_loopback kind: network
# raises: OSError
# told: the network is off
import socket
import threading
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)


def answer():
    peer, _ = server.accept()
    peer.sendall(peer.recv(10).upper())
    peer.close()


threading.Thread(target=answer).start()
client = socket.create_connection(server.getsockname())
client.sendall(b"hello")
print(client.recv(10))

# program: http_server_of_its_own kind: network
# raises: OSError
# told: the network is off
import http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
print(server.server_port > 0)
server.server_close()

# program: refused_port_is_an_oserror kind: network
import urllib.request
try:
    urllib.request.urlopen("http://127.0.0.1:1/", timeout=2)
except OSError as error:
    print(type(error).__name__)

# program: requests_connection_error kind: network
import requests
try:
    requests.get("http://127.0.0.1:1/", timeout=2)
except requests.exceptions.RequestException as error:
    print(type(error).__name__)

# program: connect_uncaught kind: network
# told: the network is off
# raises: OSError
import socket
socket.create_connection(("127.0.0.1", 1), timeout=2)

# program: urlopen_uncaught kind: network
# told: the network is off
import urllib.request
urllib.request.urlopen("http://127.0.0.1:1/", timeout=2)

# program: http_client_objects kind: network
import http.client
c = http.client.HTTPSConnection("host.invalid", timeout=1)
print(c.host, c.port, http.client.responses[404])

# program: ssl_contexts kind: network
import ssl
c = ssl.create_default_context()
print(c.check_hostname, c.verify_mode == ssl.CERT_REQUIRED, issubclass(ssl.SSLError, OSError))

# program: smtplib_refused kind: network
import smtplib
try:
    smtplib.SMTP("127.0.0.1", 1, timeout=2)
except OSError:
    print("not sent")

# program: addresses_as_bytes kind: network
import ipaddress
import socket
print(socket.inet_aton("10.0.0.1"), socket.inet_ntoa(b"\x7f\x00\x00\x01"))
print(socket.htons(80), socket.ntohl(1), ipaddress.ip_network("10.0.0.0/29").num_addresses)
print(socket.AF_INET != socket.AF_INET6, socket.timeout is TimeoutError)

# program: invalid_host kind: network
import socket
try:
    socket.gethostbyname("host.invalid")
except OSError:
    print("no such host")

# program: parsed_urls kind: network
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit
u = urlsplit("https://user@host.invalid:8443/a/b?x=1&x=2#end")
print(u.port, u.username, parse_qs(u.query), urljoin("http://h.invalid/a/b", "../c"))
urlencode({"q": "ä b", "n": [1, 2]}, doseq=True)

# program: mail_is_built kind: network
from email.message import EmailMessage
m = EmailMessage()
m["Subject"], m["To"] = "Grüße", "a@host.invalid"
m.set_content("text\n")
m.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="b.bin")
print(m["Subject"], m.is_multipart(), [p.get_content_type() for p in m.iter_parts()])

# program: asyncio_without_network kind: network
import asyncio


async def main():
    queue = asyncio.Queue()
    for i in range(3):
        await queue.put(i)
    return [await queue.get() for _ in range(3)]


asyncio.run(main())

# program: socket_pair kind: network
# raises: OSError
# told: the network is off
import socket
a, b = socket.socketpair()
a.send(b"x")
print(b.recv(1))

# program: mocked_session kind: network
from unittest import mock
import requests
with mock.patch("requests.get") as get:
    get.return_value.json.return_value = {"ok": [1, 2]}
    print(requests.get("http://host.invalid/").json(), get.call_count)

# program: pbkdf2 kind: digests
import hashlib
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2000).hex())
hashlib.pbkdf2_hmac("sha1", b"p", b"s", 10, dklen=40).hex()

# program: scrypt kind: digests
import hashlib
hashlib.scrypt(b"password", salt=b"NaCl", n=64, r=8, p=1, dklen=32).hex()

# program: digests_of_all_kinds kind: digests
import hashlib
for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s"):
    print(name, hashlib.new(name, b"abc").hexdigest()[:32])
print(hashlib.shake_128(b"abc").hexdigest(8))

# program: password_hash_and_check kind: digests
import hashlib
import hmac
import secrets


def hashed(text, salt):
    return hashlib.pbkdf2_hmac("sha512", text.encode(), salt, 500)


salt = secrets.token_bytes(16)
kept = hashed("tuesday", salt)
print(len(kept), hmac.compare_digest(kept, hashed("tuesday", salt)), kept == hashed("Tuesday", salt))

# program: hmac_of_a_message kind: digests
import hmac
print(hmac.new(b"key", b"message", "sha256").hexdigest())
print(hmac.digest(b"key", b"message", "md5").hex())

# program: file_digest kind: digests
import hashlib
with open("f.bin", "wb") as f:
    f.write(bytes(range(256)) * 1000)
with open("f.bin", "rb") as f:
    print(hashlib.file_digest(f, "sha256").hexdigest())

# program: unknown_digest kind: digests
import hashlib
hashlib.new("sha257")

# program: crc_and_adler kind: digests
import binascii
import zlib
print(zlib.crc32(b"breakfast"), zlib.adler32(b"breakfast"), binascii.crc_hqx(b"abc", 0))

# program: werkzeug_password kind: digests
from werkzeug.security import check_password_hash, generate_password_hash
h = generate_password_hash("a b", method="pbkdf2:sha256:1000", salt_length=8)
print(h.split("$")[0], check_password_hash(h, "a b"), check_password_hash(h, "ab"))
