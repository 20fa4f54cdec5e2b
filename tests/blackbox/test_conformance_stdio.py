# SPDX-License-Identifier: Apache-2.0
"""The cases of the official suite over stdio, for which it has no leg: what it
says over HTTP is recorded and said again, and what comes back must have the
shape of what the suite found right, its check of the wire's schema included."""

import json
import queue
import subprocess
import threading

import pytest

from support.programs import FIXTURE
from support.recorder import Recorder
from test_conformance import COUNTS, Fixture, run_suite

WAIT_S = 10
HEADER_MISMATCH = -32020  # there are no headers on this wire
NAMES = {"taskId", "requestState"}  # differ each time, and are said again
FREE = NAMES | {"createdAt", "lastUpdatedAt"}


class Stdio:
    """A fixture program on a pair of pipes."""

    def __init__(self):
        self.process = subprocess.Popen(
            [str(FIXTURE), "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.came = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.came.put(json.loads(line))
        self.came.put(None)

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def hear(self):
        message = self.came.get(timeout=WAIT_S)
        assert message is not None, "the program ended"
        return message

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(WAIT_S) == 0


def learn(old, new, names):
    """Remembers which name of the replay stands for which recorded one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys():
            if key in NAMES and isinstance(old[key], str):
                names[old[key]] = new[key]
            learn(old[key], new[key], names)


def renamed(value, names):
    if isinstance(value, dict):
        return {key: renamed(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [renamed(one, names) for one in value]
    if not isinstance(value, str):
        return value
    for old, new in names.items():
        # A state may have been tampered with at its end.
        if value.startswith(old):
            return new + value[len(old) :]
    return value


def plain(value):
    """Without what differs each time."""
    if isinstance(value, dict):
        return {k: "..." if k in FREE else plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def is_task(said):
    return said.message.get("method") == "tasks/get"


def status_free(answer):
    """A task is met at another moment: what all its states have."""
    result = plain(answer).get("result", {})
    kept = {"taskId", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"}
    return {key: result[key] for key in kept & result.keys()}


class Replay:
    """Says what one client said, in its order, and judges what comes back."""

    def __init__(self):
        self.stdio = Stdio()
        self.names = {}
        self.last = 0
        self.compared = 0

    def _hear_answer(self, number, said, replies):
        """The answer to a request, the client's own replies given on the
        way."""
        while True:
            message = self.stdio.hear()
            if "method" in message and "id" in message:
                reply = next(r for r in replies if r["id"] == message["id"])
                self.stdio.say(reply)
            elif message.get("id") == number:
                return message

    def _listen(self, number):
        message = self.stdio.hear()
        while message.get("method") != "notifications/subscriptions/acknowledged":
            message = self.stdio.hear()
        meta = message["params"]["_meta"]
        assert meta["io.modelcontextprotocol/subscriptionId"] == number
        self.stdio.say(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": number},
            }
        )

    def request(self, said, replies):
        old = said.answer()
        code = (old or {}).get("error", {}).get("code")
        if code == HEADER_MISMATCH:
            return
        self.last += 1
        message = renamed(said.message, self.names) | {"id": self.last}
        self.stdio.say(message)
        if message["method"] == "subscriptions/listen":
            self._listen(self.last)
            return
        if old is None:
            # Its answer came on another stream, or the client left.
            self._hear_answer(self.last, said, replies)
            return
        new = self._hear_answer(self.last, said, replies)
        learn(old, new, self.names)
        self.compared += 1
        if is_task(said):
            assert status_free(new) == status_free(old)
        else:
            assert plain(new | {"id": 0}) == plain(old | {"id": 0}), said.message

    def say(self, said, replies):
        method = said.message.get("method")
        if method and said.message.get("id") is not None:
            self.request(said, replies)
        elif method and method.startswith("notifications/"):
            self.stdio.say(said.message)


@pytest.fixture(scope="module", params=COUNTS)
def recorded(request, tmp_path_factory):
    fixture = Fixture()
    recorder = Recorder(fixture.url)
    try:
        code, text, _ = run_suite(
            recorder.url, request.param, tmp_path_factory.mktemp("recorded")
        )
        assert code == 0, text
    finally:
        recorder.end()
        fixture.end()
    return request.param, recorder.said


def by_client(said):
    """What each client said: those of one session are one, and so are all
    that have none."""
    clients = {}
    for one in said:
        if one.status is None or one.status in (403, 404) and one.session:
            continue
        clients.setdefault(one.session, []).append(one)
    return clients.values()


def test_replay(recorded):
    revision, said = recorded
    compared = 0
    for client in by_client(said):
        replies = [
            one.message
            for one in client
            if "method" not in one.message and "id" in one.message
        ]
        replay = Replay()
        for one in client:
            if one.status != 403:
                replay.say(one, replies)
        replay.stdio.end()
        compared += replay.compared
    assert compared > {"2025-11-25": 60, "2026-07-28": 100}[revision]
