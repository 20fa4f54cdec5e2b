#!/bin/sh
# make bench: sets up the peers, builds, installs, measures. Words after it
# go to bench.py (--help lists them).
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
tools/setup.sh bench
make --no-print-directory build
tools/fetch_guest.py
build/breakroom install
build/venv-bench/bin/python tests/bench/bench.py "$@"
build/venv-bench/bin/python tests/bench/http_bench.py
python3 tests/bench/walls.py
python3 tests/bench/sessions.py
build/venv-bench/bin/python tests/bench/rooms.py
