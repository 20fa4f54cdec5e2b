#!/bin/sh
# Builds the two programs whose calls of the C library can be made to fail, in
# build-fault: not optimised much, so that each call in the source is one.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

if [ ! -f build-fault/build.ninja ]; then
	mkdir -p build-fault
	meson setup build-fault . -Doptimization=g -Dfault=enabled \
	    -Dtests=disabled -Dman=disabled >build-fault/setup.log 2>&1 || {
		cat build-fault/setup.log >&2
		exit 1
	}
fi
exec ninja -C build-fault --quiet tests/fault/breakroom \
    tests/fault/breakroom-keeper
