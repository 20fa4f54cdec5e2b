#!/bin/sh
# Unit tests under ASan and UBSan.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
tools/build_san.sh
exec meson test -C build-san --no-rebuild --print-errorlogs
