# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of tests/cases/hostile.json: programs that try to get out
of a room or to break what is around it, with what must be seen. Any room: its
options are the runner's."""

import json
import re
import threading
import time
from pathlib import Path

from . import procs, stock
from .client import Answer, Server, strict_json
from .host import inet_sockets
from .listeners import can_connect
from .programs import ROOT, TESTS

CASES = TESTS / "cases" / "hostile.json"
ROOM = "wasm"
PLACEHOLDER = re.compile(r"\{\{([A-Z][A-Z_]+)\}\}")
MARK = re.compile(r"\[truncated, (at least )?([0-9]+) chars total\]")
WALL_MAX = 33
SPARES = 2  # that a room keeps ready
SETTLE = 10  # seconds until the server must be as it was
SETTLE_DEAR = 30  # where a start is half a second's work, and others go on beside
# Cases that change or fill things are not for a room that failed at these.
FIRST = ("fsr-001", "prc-001")
LATER = re.compile(r"fsw-|dsk-|mem-|pro-009|pro-010")


def load():
    return json.loads(CASES.read_text())


def runs_here(case, room=ROOM):
    """None if the case is run in this room, else the reason why it is not."""
    if room not in case["room_scope"]:
        return "for other rooms: " + ", ".join(case["room_scope"])
    return None


class Breach(AssertionError):
    """A check that does not hold."""


class Seen:
    """What one call of a case gave."""

    def __init__(self, message, raw, wall):
        self.raw = raw
        self.wall = wall
        self.error = message.get("error")
        answer = Answer(message) if "result" in message else None
        self.is_error = answer.is_error if answer else True
        fields = answer.structured if answer else None
        self.fields = fields or {
            "stdout": "",
            "stderr": "",
            "exit_code": None,
            "timed_out": False,
        }

    def __getitem__(self, name):
        return self.fields[name]


class Runner:
    """One server, and the host around it. prefix: the command that starts the
    server's own; options: of "breakroom serve", for other rooms than the one
    that it has by itself; same: {case: what it gave in an earlier room};
    arguments: {case: further ones of its calls}; dear: a call costs the start of an interpreter, so whether
    the server is well is asked of one in a session, which must stay; that
    another starts the next case shows."""

    def __init__(
        self,
        host,
        prefix=(),
        options=(),
        same=None,
        arguments=None,
        dear=False,
    ):
        self.host = host
        self.prefix = prefix
        self.options = options
        self.same = {} if same is None else same
        self.arguments = arguments or {}
        self.dear = dear
        self.server = None
        self.session = None
        self.well = False  # since the last call of a case

    # ---- the server ----

    def get(self):
        if self.server and self.server.process.poll() is None:
            return self.server
        log = ("--log", self.host.config, "--log-level", "debug")
        self.server = self._server(*log, cwd=self.host.cwd)
        assert self.server.is_well()
        if self.dear:
            self.session = self.server.call("1", session="new").session
            assert self.session
        self._settle_in()
        return self.server

    def _server(self, *more, **how):
        server = Server(
            *self.options,
            *more,
            prefix=self.prefix,
            env=self.host.environment(),
            **how,
        )
        server.initialize()
        return server

    def _settle_in(self):
        """Waits for the spares, and takes stock of the server at rest."""
        self._wait_for_spares()
        self.rest = self._stock()
        looks = 2 if self.dear else 5
        for _ in range(looks):
            assert self.server.is_well()
            self._wait_for_spares()
            procs.at_rest(self.server.pid, quiet=1.5 / looks)
            self._note_rest()
        # A dear spare has its process long before it has all that it holds.
        for _ in range(6 if self.dear else 0):
            time.sleep(1)
            self._note_rest()

    def _note_rest(self):
        now = self._stock()
        self.rest = {name: max(self.rest[name], now[name]) for name in now}

    @property
    def _settle(self):
        return SETTLE_DEAR if self.dear else SETTLE

    def _wait_for_spares(self):
        end = time.monotonic() + self._settle
        names = []
        children = SPARES + bool(self.session)
        while names.count("child") < children and time.monotonic() < end:
            time.sleep(0.1 if self.dear else 0.02)
            names = [one.name for one in procs.descendants(self.server.pid)]

    def _stock(self):
        return stock.of(self.server.pid, self.host.tmp)

    def resident_mib(self):
        who = procs.wait_roles(self.server.pid)
        return (
            procs.resident_kib(who.server)
            + procs.resident_kib(who.keeper)
            + procs.private_kib(who.zygote)
        ) / 1024

    def close(self):
        if self.server:
            # No case has come after the last.
            assert not self.dear or self.server.is_well(60)
            self.server.close()
            self.server.assert_intact()
        self.host.close()

    # ---- one case ----

    def run(self, case):
        """Raises Breach where anything is not as it must be."""
        server = self.get()
        host = self.host
        host.new_secret()
        self.before = {
            "state": host.state(),
            "hits": host.listeners.hits,
            "disk": host.disk_use(),
            "stderr": len(server.stderr) + host.config.stat().st_size,
            "resident": self.resident_mib(),
            "cpu": procs.cpu_ticks(server.pid),
            "time": time.monotonic(),
        }
        extra = case.get("extra_check", {}).get("host_can_connect")
        watches = watches_neighbour(case)
        self.neighbour = Neighbour(self._server()) if watches else None
        self.case = case
        with Connecting(extra["port"] if extra else None) as self.connecting:
            self._calls(case, case["code"], case["expect"], case)
        for then in case.get("then", ()):
            self._calls(case, then["code"], then["expect"], then)
        if extra and self.connecting.connected != extra["value"]:
            raise Breach(f"port {extra['port']} could be reached")
        self._always()

    def _calls(self, case, code, expect, step):
        if "gen" in step:
            code = eval(step["gen"], {"__builtins__": {"len": len}})
        names = self.host.placeholders()
        code, expect = fill(code, names), fill(expect, names)
        repeat = step.get("repeat", 1)
        seen = [self._call(case, code) for _ in range(repeat)]
        for one in seen:
            self._always_of_a_call(one, [v for v in names.values() if v in code])
            for check in expect:
                self._check(check, one, seen)

    def _call(self, case, code):
        server = self.server
        self.well = False
        began = time.monotonic()
        id = server.new_id()
        server.expect(id)
        if "raw_json_escape" in case:
            server.send_bytes(raw_call(server, id, case["raw_json_escape"]))
        else:
            params = server.params(code, **self.arguments.get(case.get("id"), {}))
            server.send(
                {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
            )
        if self.neighbour:
            self.neighbour.measure_until(lambda: server.answered(id))
        message = server.answer(id, within=60)
        raw = server.raw[server._key(id)]
        return Seen(message, raw, time.monotonic() - began)

    # ---- checks ----

    def _check(self, check, one, seen):
        if "any_of" in check and "field" not in check:
            faults = []
            for part in check["any_of"]:
                try:
                    return self._check(part, one, seen)
                except Breach as fault:
                    faults.append(str(fault))
            raise Breach("none of: " + "; ".join(faults))
        if "field" in check:
            return check_field(check, one)
        ((name, value),) = check.items()
        return getattr(self, "check_" + name)(value, one, seen)

    def check_exit_code(self, value, one, _):
        need(one["exit_code"] == value, one, f"exit code {value}")

    def check_exit_code_in(self, value, one, _):
        need(one["exit_code"] in value, one, f"exit code in {value}")

    def check_exit_code_nonzero(self, value, one, _):
        need((one["exit_code"] not in (0, None)) == value, one, "non-zero exit code")

    def check_timed_out(self, value, one, _):
        need(one["timed_out"] is value, one, f"timed_out {value}")

    def check_max_wall_s(self, value, one, _):
        need(one.wall <= value, one, f"within {value} s, not {one.wall:.1f}")

    def check_stderr_not_contains(self, value, one, _):
        need(value not in one["stderr"], one, f"stderr without {value!r}")

    def check_valid_json_utf8(self, value, one, _):
        strict_json(one.raw)

    def check_truncation_note_total(self, value, one, _):
        found = MARK.search(one[value["field"]])
        need(found, one, "a mark of the cut")
        text = found.group(2)
        loose = [t for t in value["any_of"] if not t[0].isdigit()]
        wanted = [t.replace(",", "") for t in value["any_of"] if t[0].isdigit()]
        need(
            text in wanted or any(t in found.group(0) for t in loose),
            one,
            f"a total of {value['any_of']}",
        )

    def check_host_unchanged(self, value, *_):
        self._host_unchanged()

    def check_no_leftover_processes(self, value, *_):
        self._as_before({"processes"})

    def check_no_core_files(self, value, *_):
        if self.host.core_files():
            raise Breach(f"core files: {self.host.core_files()}")

    def check_server_alive(self, value, *_):
        """Asked once after a call: most cases name what holds for all."""
        self.well = self.well or self._is_well()
        if not self.well:
            raise Breach("print(6*7) does not give 42")

    def _is_well(self):
        if not self.dear:
            return self.server.is_well()
        got = self.server.call("print(6*7)", within=20, session=self.session)
        return not got.is_error and got.stdout == "42\n"

    def check_host_listener_hits(self, value, *_):
        hits = self.host.listeners.hits - self.before["hits"]
        if hits != value:
            raise Breach(f"{hits} hits at the host's listeners")
        held = inet_sockets(p.pid for p in procs.tree(self.server.pid))
        if held:
            raise Breach(f"internet sockets: {held}")

    def check_server_rss_growth_max_mb(self, value, *_):
        end = time.monotonic() + SETTLE
        while self.resident_mib() - self.before["resident"] > value:
            if time.monotonic() > end:
                raise Breach(
                    f"resident memory from {self.before['resident']:.1f} "
                    f"to {self.resident_mib():.1f} MiB"
                )
            time.sleep(0.1)

    def check_server_cpu_max_share(self, value, *_):
        used = (procs.cpu_ticks(self.server.pid) - self.before["cpu"]) / 100
        share = used / max(time.monotonic() - self.before["time"], 0.1)
        if share > value:
            raise Breach(f"the server used {share:.2f} of a processor")

    def check_server_stderr_not_matches(self, value, *_):
        said = self._said()
        if re.search(value, said):
            raise Breach(f"the server's log matches {value!r}")

    def check_host_disk_growth_max_mb(self, value, *_):
        grown = (self.host.disk_use() - self.before["disk"]) / 2**20
        if grown > value:
            raise Breach(f"{grown:.1f} MiB more on disk")

    def check_protocol_intact(self, value, *_):
        if self.server.breaches:
            raise Breach(f"on stdout: {self.server.breaches[:3]}")

    def check_differs_between_calls(self, value, one, seen):
        texts = {other["stdout"] for other in seen}
        if len(texts) < value or "" in texts:
            raise Breach(f"{len(texts)} different outputs of {value}")

    check_differs_between_calls_min = check_differs_between_calls

    def check_same_between_calls(self, value, one, seen):
        texts = {other["stdout"] for other in seen}
        if len(texts) != 1 or len(seen) < value:
            raise Breach(f"{len(texts)} different outputs in {len(seen)} calls")

    def check_same_across_rooms(self, value, one, seen):
        """What the first room gave, every other gives, and itself each time."""
        self.check_same_between_calls(1, one, seen)
        first = self.same.setdefault(self.case["id"], one["stdout"])
        need(one["stdout"] == first, one, f"as in another room: {first!r}")

    def check_neighbour_p95_factor_max(self, value, *_):
        calm, busy = p95(self.neighbour.calm), p95(self.neighbour.busy)
        if busy > value * max(calm, 0.01):
            raise Breach(f"a neighbour's p95 rose from {calm:.3f} to {busy:.3f} s")

    def check_rpc_error_or_is_error(self, value, one, _):
        need((one.error is not None or one.is_error) == value, one, "an error")

    # ---- what holds for every case ----

    def _always_of_a_call(self, one, named):
        """named: what the program knows of the host, being told."""
        if one.wall > WALL_MAX:
            raise Breach(f"{one.wall:.1f} s")
        said = one["stderr"]
        for text in named:
            said = said.replace(text, "")
        for path in (ROOT, self.host.root, Path.home()):
            if len(path.parts) > 1 and str(path) in said:
                raise Breach(f"a path of the host on stderr: {path}")

    def _always(self):
        for check in ("server_alive", "host_unchanged", "protocol_intact"):
            getattr(self, "check_" + check)(True)
        self._as_before()  # no process left, among others

    def drop(self):
        """Ends the server, whatever its state; the next case has a new one."""
        if self.server:
            self.server.kill_all()
            self.server = self.session = None

    def _said(self):
        data = self.server.stderr + self.host.config.read_bytes()
        return data.decode(errors="replace")

    def _as_before(self, names=None):
        """Waits until the server holds no more than at rest."""
        end = time.monotonic() + self._settle
        while True:
            now = self._stock()
            more = {
                name: (was, now[name])
                for name, was in self.rest.items()
                if now[name] > was and (names is None or name in names)
            }
            if not more:
                return
            if time.monotonic() > end:
                raise Breach(f"at rest and now: {more}")
            # To look takes a processor from what is being started meanwhile.
            time.sleep(0.2 if self.dear else 0.05)

    def _host_unchanged(self):
        now = self.host.state()
        if now != self.before["state"]:
            before = self.before["state"]
            changed = {
                path
                for path in now.keys() | before.keys()
                if now.get(path) != before.get(path)
            }
            raise Breach(f"changed on the host: {sorted(changed)}")


class Neighbour:
    """A second client with a server of its own, which measures its calls
    before the case and while it runs."""

    def __init__(self, server):
        self.busy = []
        self.server = server
        self.calm = [self._one() for _ in range(40)]

    def _one(self):
        began = time.monotonic()
        assert self.server.is_well()
        return time.monotonic() - began

    def measure_until(self, done):
        while not done():
            self.busy.append(self._one())
        self.server.close()


def watches_neighbour(case):
    return any("neighbour_p95_factor_max" in check for check in case["expect"])


class Connecting:
    """Tries to connect to a port while a call runs."""

    def __init__(self, port):
        self.port = port
        self.connected = False
        self._stop = threading.Event()

    def _try(self):
        while not self._stop.wait(0.1):
            self.connected |= can_connect(self.port)

    def __enter__(self):
        if self.port:
            self._thread = threading.Thread(target=self._try, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_):
        if self.port:
            self._stop.set()
            self._thread.join()


def fill(value, names):
    """Placeholders in a text, or in every text of a list of checks."""
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda m: names.get(m.group(1), m.group(0)), value)
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, names) for key, item in value.items()}
    return value


def raw_call(server, id, escaped):
    """A call whose source is given as the inside of a JSON string."""
    marker = "@@source@@"
    message = {
        "jsonrpc": "2.0",
        "id": id,
        "method": "tools/call",
        "params": server.params(marker),
    }
    return json.dumps(message).replace(marker, escaped).encode() + b"\n"


def need(holds, one, what):
    if not holds:
        raise Breach(f"wanted {what}; seen {shorten(one.fields)}")


def shorten(fields):
    return {
        key: value[:400] + "..."
        if isinstance(value, str) and len(value) > 400
        else value
        for key, value in fields.items()
    }


def check_field(check, one):
    text = one[check["field"]]
    tests = {
        "equals": lambda v: text == v,
        "contains": lambda v: v in text,
        "not_contains": lambda v: v not in text,
        "matches": lambda v: re.search(v, text),
        "not_matches": lambda v: not re.search(v, text),
        "max_chars": lambda v: len(text) <= v,
        "equals_repeat": lambda v: text == v[0] * v[1],
    }
    for name, value in check.items():
        if name != "field":
            need(tests[name](value), one, f"{check['field']} {name} {value!r:.200}")


def p95(times):
    ordered = sorted(times)
    return ordered[int(0.95 * (len(ordered) - 1))] if ordered else 0.0
