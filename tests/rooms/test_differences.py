# SPDX-License-Identifier: Apache-2.0
"""Where rooms differ: each line of the table in breakroom-rooms(7) still holds,
in each room, and no line is missing there."""

import kinds
import pytest
import table

ROWS = {row["name"]: row for row in table.rows()}


def holds(got, wanted):
    for field, value in wanted.items():
        if field == "stderr":
            assert value in got.stderr, got
        else:
            assert getattr(got, field) == value, got


@pytest.mark.parametrize("name", ROWS)
def test_difference(server, turns, room, name):
    row = ROWS[name]
    arguments = dict(row.get("arguments", {}))
    if "fork_of" in arguments:
        arguments["fork_of"] = server.call("pass", session="new").session
    got = (server if arguments else turns).call(
        row["program"], timeout_s=20, **arguments
    )
    if row.get("needs") and row["needs"] not in room.has:
        assert got.exit_code == 1 and "ModuleNotFoundError" in got.stderr, got
        return
    elsewhere = row.get("elsewhere", {})
    holds(got, elsewhere.get(room.id) or row["gives"][room.column])


def test_page():
    """The page shows the table as it is: table.py --fix."""
    assert table.shown() == table.rendered()


def test_each_row_is_whole():
    assert set(table.COLUMNS) <= {"wasm", "jail", "container", "gvisor", "deno"}
    for row in ROWS.values():
        assert tuple(row["shown"]) == tuple(row["gives"]) == table.COLUMNS, row["name"]
        assert row["reason"].endswith(".") and all(row["gives"].values())
        assert set(row.get("elsewhere", ())) <= set(kinds.IDS)
        assert row.get("needs") in (None, *kinds.TRAITS)


def test_processes_in_the_jail(new_server, room):
    """They are on with --allow-processes, within the limit of processes."""
    if room.name != "jail":
        return
    got = new_server("--allow-processes").call(ROWS["Processes"]["program"])
    assert got.stdout == "ran\n\n", got
