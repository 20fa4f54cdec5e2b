# SPDX-License-Identifier: Apache-2.0
"""An issuer of web tokens, with other means than the server's own library;
and files of tokens."""

import base64
import hashlib
import json
import os
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

NAME = "https://id.example"
RESOURCE = "https://run.example/mcp"
CURVES = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}


class Key:
    """A key that signs by one algorithm."""

    def __init__(self, kid, algorithm="ES256"):
        self.kid, self.algorithm = kid, algorithm
        if algorithm in CURVES:
            self.secret = ec.generate_private_key(CURVES[algorithm]())
        else:
            self.secret = rsa.generate_private_key(65537, 2048)

    def public(self):
        kind = ECAlgorithm if self.algorithm in CURVES else RSAAlgorithm
        found = json.loads(kind.to_jwk(self.secret.public_key()))
        found.pop("key_ops", None)
        return found | {"kid": self.kid, "use": "sig"}

    def token(self, headers=None, **claims):
        """A good one, but for what is said; None leaves a claim out."""
        now = int(time.time())
        all_claims = {
            "iss": NAME,
            "aud": RESOURCE,
            "sub": "alice",
            "exp": now + 600,
            "iat": now,
            "scope": "run",
        } | claims
        return jwt.encode(
            {k: v for k, v in all_claims.items() if v is not None},
            self.secret,
            self.algorithm,
            {"kid": self.kid} | (headers or {}),
        )


def key_set(*keys):
    return json.dumps({"keys": [key.public() for key in keys]})


def part(text):
    """Text, or what becomes JSON, as a part of a token."""
    if not isinstance(text, (str, bytes)):
        text = json.dumps(text)
    if isinstance(text, str):
        text = text.encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def replace(path, text):
    """Changes a file as it should be done: by another one."""
    aside = path.with_name(path.name + ".new")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(text)
    aside.rename(path)


def line(name, token, more=""):
    """A line of the file of tokens."""
    return f"{name} sha256:{hashlib.sha256(token.encode()).hexdigest()}{more}\n"
