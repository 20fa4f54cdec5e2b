# SPDX-License-Identifier: Apache-2.0
"""One site fails, once or for a while, in one phase of a server's life."""

import errno
import time
from typing import NamedTuple

from support import procs
from support.client import Lost

import scenario
from scenario import Broken

PHASES = ("start", "calls", "kills", "close")
SHORT = 100  # times: a lack that is waited for must end by itself


class Trial(NamedTuple):
    phase: str
    key: int
    text: str
    code: int
    times: int  # that it fails; 0: until the fault is over

    def __str__(self):
        often = {0: "on and on", 1: "once"}.get(self.times, f"{self.times} times")
        return (
            f"{self.phase}: {self.text} fails {often} with {errno.errorcode[self.code]}"
        )


def may_be_final(trial):
    """The launcher ends once; the walls are tried once a keeper, and what is
    not permitted will not be."""
    roles = ("launcher", "trial", "keeper/")
    places = ("src/walls/", "src/room/launcher")
    return (
        trial.code == errno.EPERM
        or trial.text.startswith(roles)
        or any(place in trial.text for place in places)
    )


class Bench:
    """A server that goes through trials, replaced when one has changed it."""

    def __init__(self, area):
        self.area = area
        self.server = self.before = self.healthy = None

    def get(self):
        if self.server is None:
            self.server = scenario.start()
            scenario.shake_hands(self.server)
            scenario.calls(self.server)
            scenario.wait_well(self.server)
            procs.at_rest(self.server.pid)
            self.before = scenario.at_rest(self.server, self.area)
            self.healthy = self.healthy or self.before
        return self.server

    def drop(self):
        if self.server is not None:
            self.server.kill_all()
            self.server = None

    def run(self, trial):
        """(how often it failed, what was wrong or "", what was seen)."""
        began = time.monotonic()
        try:
            fired, seen = getattr(self, trial.phase)(trial)
            wrong = ""
        except (Broken, Lost, AssertionError, OSError) as error:
            fired, seen = self.area.clear(), ""
            wrong = f"{type(error).__name__}: {error}"
            if self.server:
                wrong += f"\n{self.server.stderr[-800:].decode(errors='replace')}"
            self.drop()
        self.area.clear()
        return fired, wrong, f"{seen} ({time.monotonic() - began:.1f} s)"

    def plan(self, trial):
        self.area.plan(trial.key, trial.code, 0, trial.times)

    def start(self, trial):
        """It fails while a server starts."""
        if not self.healthy:
            self.get()
        self.drop()
        self.plan(trial)
        self.server = server = scenario.start()
        try:
            scenario.shake_hands(server)
            seen = f"{scenario.calls(server)} right"
        except (Lost, BrokenPipeError) as error:
            if "the server ended" not in str(error) and "Broken" not in str(error):
                if server.process.poll() is None:
                    raise
            seen = scenario.check_end(server)
            fired = self.area.clear()
            self.drop()
            return fired, seen
        fired = self.area.clear()
        if scenario.wait_well(server, may_be_final(trial)):
            seen += ", final"
        else:
            # Allocations may differ: a buffer has grown or not.
            kinds = ("descriptors",)
            scenario.at_rest(server, self.area, self.healthy, kinds)
        self.server = None
        try:
            scenario.end(server)
        finally:
            server.kill_all()
        return fired, seen

    def _steady(self, trial, do):
        server = self.get()
        self.plan(trial)
        seen = f"{do(server)} right"
        fired = self.area.clear()
        if scenario.wait_well(server, may_be_final(trial)):
            seen += ", final"
            self.server = None
            scenario.end(server)
            return fired, seen
        now = scenario.at_rest(server, self.area, self.before)
        if now.who[:4] != self.before.who[:4]:
            seen += ", processes replaced"
            self.server = None
            scenario.end(server)
            server.kill_all()
        return fired, seen

    def calls(self, trial):
        return self._steady(trial, scenario.calls)

    def kills(self, trial):
        return self._steady(trial, scenario.kills)

    def close(self, trial):
        server = self.get()
        loop = server.start_call("while True: pass", timeout_s=30)
        self.server = None
        self.plan(trial)
        try:
            scenario.end(server)
        finally:
            server.kill_all()
        return self.area.clear(), f"answered: {server.answered(loop)}"


def discover(area):
    """{phase: {Seen: hits}} of an undisturbed server's life."""
    found = {}
    server = scenario.start()
    try:
        area.forget()
        server.close()
        area.forget()
        server = scenario.start()
        scenario.shake_hands(server)
        scenario.wait_well(server)
        time.sleep(0.3)
        found["start"] = area.seen()
        for phase, do in (("calls", scenario.calls), ("kills", scenario.kills)):
            area.forget()
            if do(server) != scenario.EVERYTHING:
                raise Broken(f"{phase}: not right without a fault")
            scenario.wait_well(server)
            time.sleep(0.3)
            found[phase] = area.seen()
        area.forget()
        server.start_call("while True: pass", timeout_s=30)
        scenario.end(server)
        found["close"] = area.seen()
    finally:
        server.kill_all()
    return found


def trials_of(found, name_of, codes_of, everything):
    """The trials of all sites (codes_of a site out of our scope: none). A
    phase has the sites that no phase before it had; but those of the calls
    fail in any case, in every way. With everything, so does each."""
    before = set()
    for phase in PHASES:
        for seen in found[phase]:
            if seen.key in before and not (everything or phase == "calls"):
                continue
            codes, text = codes_of(seen), name_of(seen)
            ways = [(code, 1) for code in codes]
            if codes:
                ways.append((codes[0], SHORT if codes[0] == errno.ENOBUFS else 0))
            if not everything and phase != "calls":
                del ways[1:]
            for code, times in ways:
                yield Trial(phase, seen.key, text, code, times)
        before.update(seen.key for seen in found[phase])
