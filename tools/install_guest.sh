#!/bin/sh
# install_guest.sh PREFIX: installs the guest's files and the shelf where an installed
# breakroom looks for them.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
to=$1/share/breakroom
install -d "$to"
install -m 644 build/guest-files/python.wasm \
    build/guest-files/python-stdlib.zip "$to/"
rm -rf "$to/shelf"
install -d "$to/shelf"
install -m 644 build/guest-files/shelf/*.whl "$to/shelf/"
echo "installed under $1; next: breakroom install (once for each user)," \
    "or for all: BREAKROOM_DATA=$1/lib/breakroom breakroom install"
