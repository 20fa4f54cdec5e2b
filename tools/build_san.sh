#!/bin/sh
# Builds everything with clang under ASan and UBSan in build-san, the fuzz
# targets as libFuzzer programs.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

if [ ! -f build-san/build.ninja ]; then
	mkdir -p build-san
	CC=clang meson setup build-san . -Db_sanitize=address,undefined \
	    -Db_lundef=false -Dfuzz=enabled -Dman=disabled \
	    -Doptimization=1 >build-san/setup.log 2>&1 || {
		cat build-san/setup.log >&2
		exit 1
	}
fi
exec ninja -C build-san --quiet
