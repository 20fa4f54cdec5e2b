# SPDX-License-Identifier: Apache-2.0
"""Who may call over HTTP: tokens from a file, web tokens, and everything that
looks like one; files that change while the server runs."""

import hashlib
import hmac
import json
import re
import stat
import time
from pathlib import Path

import pytest

from support import issuer, procs
from support.http import HttpServer
from support.programs import breakroom

ALICE = "alice-0123456789abcdef0123456789"
BOB = "bob-0123456789abcdef0123456789"
WRONG = "wrong-0123456789abcdef0123456789"
IN_FORCE_S = 1.0
FAILURES_MAX = 20
OLD, NEW, STRANGER = (issuer.Key(k, "RS256") for k in ("old", "new", "old"))
CURVE = issuer.Key("curve", "ES256")
METADATA = "https://run.example/.well-known/oauth-protected-resource/mcp"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
KNOWN = f'resource_metadata="{METADATA}", scope="run"'


def both():
    return issuer.line("alice", ALICE) + issuer.line("bob", BOB, " per-minute=3")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("auth")
    issuer.replace(place / "tokens", both())
    issuer.replace(place / "keys", issuer.key_set(OLD, CURVE))
    return place


@pytest.fixture(scope="module")
def static(place):
    with HttpServer("--tokens", place / "tokens", "--log-level", "debug") as server:
        yield server


def web_options(keys):
    yield from ("--jwks", keys, "--issuer", issuer.NAME)
    yield from ("--resource", issuer.RESOURCE, "--scope", "run")


@pytest.fixture
def web(place):
    """A new one for each test: addresses that guessed are remembered."""
    with HttpServer(*web_options(place / "keys")) as server:
        yield server


def ask(server, token=None, header=None, path="/mcp"):
    """The status of a ping, its headers and its body."""
    if token is not None:
        header = f"Bearer {token}"
    headers = {} if header is None else {"Authorization": header}
    with server.link() as link:
        link.post(PING, path=path, headers=headers)
        response = link.response()
        return response.status, response.headers, response.body().decode()


def enters(server, token):
    return ask(server, token)[0] == 200


def metrics(server, token):
    with server.link(token=token) as link:
        response = link.get("/metrics")
        assert response.status == 200
        return response.text


def wait_until(holds, within=IN_FORCE_S + 0.3):
    """The change is in force in a second; the rest is the asking."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < within, "not in force in time"
        time.sleep(0.02)


# ---- tokens from a file ----


@pytest.mark.parametrize(
    "header, status",
    [
        (f"Bearer {ALICE}", 200),
        (f"bearer {BOB}", 200),
        (None, 401),
        ("", 401),
        (f"Basic {ALICE}", 401),
        (ALICE, 401),
        (f"Bearer {WRONG}", 401),
        (f"Bearer {ALICE}x", 401),
        (f"Bearer {ALICE[:-1]}", 401),
        (f"Bearer  {ALICE}", 400),
        ("Bearer", 400),
        (f"Bearer {ALICE} x", 400),
        (f"Bearer {ALICE}, Bearer {ALICE}", 400),
        ("Bearer " + "a" * 10000, 401),
    ],
)
def test_header(static, header, status):
    got, headers, _ = ask(static, header=header)
    assert got == status
    if status == 200:
        assert "www-authenticate" not in headers
        return
    challenge = headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    sent = header and header.lower().startswith("bearer")
    error = {400: "invalid_request", 401: "invalid_token"}[status]
    assert (f'error="{error}"' in challenge) == bool(sent)
    assert "resource_metadata" not in challenge


def test_huge_token(static):
    """A MiB of it: refused before it is there."""
    with static.link() as link:
        try:
            link.send("POST", "/mcp", {"Authorization": "Bearer " + "a" * 2**20})
        except OSError:
            pass  # it did not read all of it
        assert link.response().status == 431


def test_token_in_the_query(static):
    for name in ("access_token", "token", "authorization"):
        assert ask(static, path=f"/mcp?{name}={ALICE}")[0] in (400, 401)


def test_two_headers(static):
    with static.link() as link:
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{static.port}\r\n"
        head += f"Authorization: Bearer {WRONG}\r\n"
        head += f"Authorization: Bearer {ALICE}\r\nContent-Length: 2\r\n\r\n{{}}"
        link.sock.sendall(head.encode())
        assert link.response().status == 400


def test_no_metadata_with_static_tokens(static):
    with static.link() as link:
        path = "/.well-known/oauth-protected-resource"
        assert link.get(path).status == 404
        assert link.get(path + "/mcp").status == 404


def test_calls_in_a_minute(place):
    with HttpServer("--tokens", place / "tokens") as server:
        with server.link(token=BOB) as link:
            for _ in range(3):
                assert link.call("print(1)").text == "1\n"
            refused = link.called(link.start_call("print(1)"), statuses=(429,))
            text = refused.error["message"]
            wait = re.search(r"too many calls .* again in (\d+) s", text)
            assert 15 <= int(wait[1]) <= 20
        with server.link(token=ALICE) as link:
            assert link.call("print(1)").text == "1\n"


def test_guesses(place):
    """Ten thousand of them: few are heard, none is let in, and whoever has a
    token is served meanwhile."""
    with HttpServer("--tokens", place / "tokens") as server:
        seen = {}
        began = time.monotonic()
        for count in range(100):
            with server.link() as link:
                for guess in range(100):
                    headers = {"Authorization": f"Bearer {WRONG}{count}x{guess}"}
                    link.post(PING, headers=headers)
                    response = link.response()
                    response.body()
                    seen[response.status] = seen.get(response.status, 0) + 1
                    if response.status == 429:
                        assert 1 <= int(response.headers["retry-after"]) <= 60
                    if response.headers.get("connection") == "close":
                        break
            if count % 10 == 9:
                assert enters(server, ALICE)
        took = time.monotonic() - began
        assert set(seen) == {401, 429}
        assert seen[401] <= FAILURES_MAX + took / 3 + 1
        assert ask(server)[0] == 401  # without one nothing is guessed


# ---- the file changes ----


def test_tokens_are_exchanged(tmp_path):
    tokens = tmp_path / "tokens"
    issuer.replace(tokens, both())
    with HttpServer("--tokens", tokens) as server:
        assert enters(server, ALICE) and not enters(server, WRONG)
        issuer.replace(tokens, issuer.line("carol", WRONG))
        wait_until(lambda: enters(server, WRONG))
        assert not enters(server, ALICE)
        # Broken: what was in force stays, and that is said.
        issuer.replace(tokens, both() + "dave sha256:0\n")
        time.sleep(IN_FORCE_S)
        assert enters(server, WRONG) and not enters(server, ALICE)
        assert b"line 3: the second word" in server.stderr
        tokens.unlink()
        time.sleep(IN_FORCE_S)
        assert enters(server, WRONG)
        assert b"No such file" in server.stderr
        # In place, and as a link to somewhere below.
        tokens.write_text(both())
        wait_until(lambda: enters(server, ALICE))
        (tmp_path / "..data").mkdir()
        (tmp_path / "..data" / "tokens").write_text(issuer.line("carol", WRONG))
        link = tmp_path / "link"
        link.symlink_to("..data/tokens")
        link.rename(tokens)
        wait_until(lambda: enters(server, WRONG))


def test_a_call_outlives_its_token(tmp_path):
    """Whoever was let in gets the answer; nobody else is let in."""
    tokens = tmp_path / "tokens"
    issuer.replace(tokens, both())
    with HttpServer("--tokens", tokens) as server, server.link(token=ALICE) as link:
        id = link.start_call("import time; time.sleep(2); print('slept')")
        wait_until(lambda: "breakroom_running 1\n" in metrics(server, BOB), 10)
        issuer.replace(tokens, "# nobody\n")
        wait_until(lambda: not enters(server, ALICE))
        assert link.called(id).text == "slept\n"
        link.start_call("print(1)")
        assert link.response().status == 401


def test_private_file(tmp_path):
    tokens = tmp_path / "tokens"
    issuer.replace(tokens, both())
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
    with HttpServer("--tokens", tokens) as server:
        assert enters(server, ALICE)
        issuer.replace(tokens, issuer.line("carol", WRONG))
        wait_until(lambda: enters(server, WRONG))


def failed_start(*options):
    """The complaint of a server that does not start."""
    done = breakroom("serve", "--http", "127.0.0.1:0", *options, timeout=20)
    assert done.returncode not in (0, None)
    return done.stderr.decode()


def test_start_with_broken_files(tmp_path):
    tokens = tmp_path / "tokens"
    assert "No such file" in failed_start("--tokens", tokens)
    tokens.write_text("alice " + ALICE + "\n")
    said = failed_start("--tokens", tokens)
    assert "line 1" in said and ALICE not in said
    tokens.write_text("")
    assert "empty" in failed_start("--tokens", tokens)
    keys = tmp_path / "keys"
    keys.write_text('{"keys":[{"kty":"oct","k":"AAAA"}]}')
    assert "secret key" in failed_start(*web_options(keys))
    keys.write_text(issuer.key_set(OLD))
    assert "--issuer" in failed_start("--jwks", keys, "--resource", issuer.RESOURCE)
    assert "--resource" in failed_start("--jwks", keys, "--issuer", issuer.NAME)


def test_open_server_stays_at_home():
    done = breakroom("serve", "--http", "0.0.0.0:0", timeout=20)
    assert done.returncode not in (0, None)
    assert b"--insecure-no-auth" in done.stderr


def test_open_server_elsewhere_if_asked():
    """And it says so, whenever it starts."""
    with HttpServer("--insecure-no-auth", address="0.0.0.0:0") as server:
        assert ask(server)[0] == 200
    assert b"level=warn event=no_auth" in server.stderr


# ---- the command that makes one ----


def test_token_command(tmp_path):
    done = breakroom("token", "ci")
    assert done.returncode == 0
    token = done.stdout.decode().strip()
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    assert done.stderr.decode() == issuer.line("ci", token)
    assert breakroom("token", "ci").stdout != done.stdout
    tokens = tmp_path / "tokens"
    tokens.write_bytes(done.stderr)
    with HttpServer("--tokens", tokens) as server:
        assert enters(server, token)
    for wrong in ([], [""], ["a b"], ["a", "b"], ["x" * 65], ["a#b"]):
        done = breakroom("token", *wrong)
        assert done.returncode == 2 and not done.stdout


# ---- web tokens ----


def test_web_tokens(web):
    for key in (OLD, CURVE):
        assert enters(web, key.token())
        assert enters(web, key.token(aud=["other", issuer.RESOURCE]))
        assert enters(web, key.token({"typ": "at+jwt"}, scope="x run y"))
        assert enters(web, key.token(scope=None, scp=["run"]))
    status, headers, _ = ask(web)
    assert (status, headers["www-authenticate"]) == (401, f"Bearer {KNOWN}")
    status, headers, _ = ask(web, OLD.token(scope="read"))
    assert status == 403
    error = 'error="insufficient_scope"'
    assert headers["www-authenticate"] == f"Bearer {error}, {KNOWN}"
    with web.link(token=OLD.token()) as link:
        assert link.call("print(6*7)").text == "42\n"


def forgeries():
    now = int(time.time())
    claims = {"iss": issuer.NAME, "aud": issuer.RESOURCE, "sub": "alice"}
    claims |= {"exp": now + 600, "iat": now, "scope": "run"}
    yield "aud", OLD.token(aud="https://other.example/mcp")
    yield "no aud", OLD.token(aud=None)
    yield "aud's start", OLD.token(aud=issuer.RESOURCE + "/x")
    yield "iss", OLD.token(iss="https://evil.example")
    yield "expired", OLD.token(exp=now - 60)
    yield "no exp", OLD.token(exp=None)
    yield "nbf", OLD.token(nbf=now + 60)
    yield "iat", OLD.token(iat=now + 60)
    yield "no sub", OLD.token(sub=None)
    yield "a stranger's key", STRANGER.token()
    yield "no such kid", NEW.token()
    yield "crit", OLD.token({"crit": ["exp"]})
    yield "another type", OLD.token({"typ": "logout+jwt"})
    # The public key as a shared secret.
    start = issuer.part({"alg": "HS256", "kid": "old"}) + "." + issuer.part(claims)
    secret = json.dumps(OLD.public()).encode()
    digest = hmac.new(secret, start.encode(), hashlib.sha256).digest()
    yield "HS256", start + "." + issuer.part(digest)
    for name in ("none", "None", "NONE"):
        yield name, issuer.part({"alg": name}) + "." + issuer.part(claims) + ".AAAA"
    yield "no signature", OLD.token().rpartition(".")[0] + ".AAAA"
    good = OLD.token().split(".")
    yield "other claims", ".".join([good[0], issuer.part(claims), good[2]])
    twice = json.dumps(claims)[:-1] + ', "sub": "bob"}'
    yield "claims twice", ".".join([good[0], issuer.part(twice), good[2]])
    yield "padding", ".".join([good[0] + "==", good[1], good[2]])
    yield "huge", OLD.token(more="x" * 9000)


# The names; the tokens are made when they are needed, since they age.
FORGERIES = tuple(dict(forgeries()))


@pytest.fixture(scope="module")
def guess(place):
    """Asks with a wrong token, of another server when one heard enough."""
    heard = []

    def ask_one(token):
        if len(heard) % (FAILURES_MAX - 2) == 0:
            if heard:
                heard[-1].close()
            heard.append(HttpServer(*web_options(place / "keys")))
        else:
            heard.append(heard[-1])
        return ask(heard[-1], token)

    yield ask_one
    if heard:
        heard[-1].close()


@pytest.mark.parametrize("what", FORGERIES)
def test_forgeries(guess, what):
    status, headers, _ = guess(dict(forgeries())[what])
    if what == "padding":  # no bearer's token at all
        assert status == 400
        return
    assert status == 401
    error = 'error="invalid_token"'
    assert headers["www-authenticate"] == f"Bearer {error}, {KNOWN}"


def test_metadata(web):
    expected = {
        "resource": issuer.RESOURCE,
        "authorization_servers": [issuer.NAME],
        "bearer_methods_supported": ["header"],
        "resource_name": "breakroom",
        "scopes_supported": ["run"],
    }
    for path in ("", "/mcp"):
        with web.link() as link:
            got = link.get("/.well-known/oauth-protected-resource" + path)
            assert got.status == 200
            assert json.loads(got.text) == expected
            assert got.headers["content-type"].startswith("application/json")
            assert got.headers["access-control-allow-origin"] == "*"
    with web.link() as link:
        path = "/.well-known/oauth-protected-resource/other"
        assert link.get(path).status == 404


def test_keys_are_exchanged(tmp_path):
    keys = tmp_path / "keys"
    issuer.replace(keys, issuer.key_set(OLD))
    with HttpServer(*web_options(keys)) as server:
        assert enters(server, OLD.token()) and not enters(server, NEW.token())
        issuer.replace(keys, issuer.key_set(OLD, NEW))
        wait_until(lambda: enters(server, NEW.token()))
        assert enters(server, OLD.token())
        issuer.replace(keys, issuer.key_set(NEW))
        wait_until(lambda: not enters(server, OLD.token()))
        assert enters(server, NEW.token())
        issuer.replace(keys, issuer.key_set(NEW)[:-1])
        time.sleep(IN_FORCE_S)
        assert enters(server, NEW.token())
        assert b"not a JSON object" in server.stderr


def test_both_kinds(place):
    options = ("--tokens", place / "tokens", *web_options(place / "keys"))
    with HttpServer(*options) as server:
        assert enters(server, ALICE) and enters(server, OLD.token())
        assert not enters(server, WRONG)


# ---- where a token is not ----


def memory_of_children(server):
    """What other processes of the server can be read: arguments, and the
    environment."""
    for proc in procs.tree(server.pid):
        for name in ("cmdline", "environ"):
            try:
                yield Path(f"/proc/{proc.pid}/{name}").read_bytes()
            except OSError:
                pass


def test_tokens_are_nowhere(place):
    options = ("--tokens", place / "tokens", *web_options(place / "keys"))
    web_token, expired = OLD.token(), OLD.token(exp=int(time.time()) - 60)
    with HttpServer(*options, "--log-level", "debug", "--log-content") as server:
        for token in (ALICE, WRONG, web_token, expired):
            ask(server, token)
        with server.link(token=ALICE) as link:
            code = "import os, sys; print(dict(os.environ), sys.argv)"
            shown = link.call(code).text
        with server.link() as link:
            pages = metrics(server, ALICE) + link.get("/readyz").text
        texts = [shown, pages, *map(repr, memory_of_children(server))]
    texts.append(server.stderr.decode())
    assert "alice" in texts[-1]  # the log names who called
    for token in (ALICE, WRONG, web_token, expired):
        for piece in (token, token[:20], token[-20:]):
            assert not any(piece in text for text in texts)


def test_no_token_takes_the_connections_of_all(place):
    with HttpServer("--tokens", place / "tokens", "--connections", "8") as server:
        links = [server.link(token=ALICE) for _ in range(4)]
        for link in links:
            link.start_call("import time; time.sleep(20)")
        wait_until(lambda: ask(server, ALICE)[0] == 429, within=5)
        assert int(ask(server, ALICE)[1]["retry-after"]) > 0
        assert enters(server, BOB)
        for link in links:
            link.close()
        wait_until(lambda: enters(server, ALICE), within=5)


def test_watcher_goes_with_its_server(place):
    with HttpServer("--tokens", place / "tokens") as server:
        named = [p for p in procs.tree(server.pid) if "watcher" in comm(p.pid)]
        assert len(named) == 1
        assert server.close() == 0
        assert not procs.alive(named[0])


def comm(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""
