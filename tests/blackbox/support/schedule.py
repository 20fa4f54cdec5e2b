# SPDX-License-Identifier: Apache-2.0
"""Runs all hostile cases, under several grades, at the same time.

A lane is a thread with a server of its own, so that what must hold after each
case can be looked at while other lanes are busy. Cases without a cost share
one lane of their grade, in the order of the file: what one broke, the next
would show. Those that take long are mostly ended by their time limit, however
little of a processor they get, and so go side by side."""

import threading
from concurrent.futures import Future

from . import hostile

# Lanes of each grade by the cost of their cases; a heavy one may fill the
# memory that its limit allows.
LANES = {"plain": 1, "slow": 4, "heavy": 1}
SLOW = {"slow": "slow", "heavy": "heavy", "fast": "heavy"}


class Lane(threading.Thread):
    def __init__(self, schedule, grade, cases, runner):
        super().__init__(daemon=True, name=f"lane of {grade}")
        self.schedule = schedule
        self.grade = grade
        self.cases = cases
        self.runner = runner

    def run(self):
        try:
            self.runner.get()
        except BaseException as error:
            # Whoever waits hears of it: the first case meets it again.
            self.schedule.say(f"{self.grade}: no server: {error!r}")
        self.schedule.ready.wait()
        while self.cases:
            try:
                case = self.cases.pop(0)
            except IndexError:  # taken by another lane just now
                break
            self._one(case)
        try:
            self.runner.close()
        except BaseException as error:
            self.schedule.faults.append(f"{self.grade}: at the end: {error!r}")

    def _one(self, case):
        future = self.schedule.futures[self.grade, case["id"]]
        if not future.set_running_or_notify_cancel():
            return
        try:
            self.schedule.may_run(self.grade, case)
            self.runner.run(case)
            future.set_result("ran")
        except hostile.Breach as breach:
            self.schedule.failed.add((self.grade, case["id"]))
            future.set_exception(breach)
        except BaseException as error:
            self.schedule.failed.add((self.grade, case["id"]))
            self.runner.drop()
            future.set_exception(error)


class Schedule:
    """All chosen cases under their grades, begun at once."""

    def __init__(self, chosen, runners, lanes=LANES):
        """chosen: [(grade, case)], each once; runners: {grade: function that
        makes a Runner of that grade}; lanes: as LANES."""
        self.futures = {(grade, case["id"]): Future() for grade, case in chosen}
        self.failed = set()
        self.faults = []
        self.lanes = []
        for grade, new_runner in runners.items():
            for kind, number in lanes.items():
                cases = [
                    case
                    for one, case in chosen
                    if one == grade and SLOW.get(case.get("cost"), "plain") == kind
                ]
                for _ in range(min(number, len(cases))):
                    self.lanes.append(Lane(self, grade, cases, new_runner()))
        # All servers are at rest before the first case begins.
        self.ready = threading.Barrier(max(1, len(self.lanes)))
        for lane in self.lanes:
            lane.start()

    def say(self, fault):
        self.faults.append(fault)

    def may_run(self, grade, case):
        bad = [first for first in hostile.FIRST if (grade, first) in self.failed]
        if bad and hostile.LATER.match(case["id"]):
            raise hostile.Breach(f"not run in a room that failed at {bad}")

    def result(self, grade, id):
        """Waits for a case: "ran", or raises what was wrong."""
        return self.futures[grade, id].result()

    def close(self):
        """Cancels what has not begun, and waits for the rest."""
        for future in self.futures.values():
            future.cancel()
        for lane in self.lanes:
            lane.join()
