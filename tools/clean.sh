#!/bin/sh
# Removes what was built, but not what took minutes to build or to fetch: the
# engine, llhttp, the guest's files, the Python and npm packages.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
rm -rf build-san build-bench
[ -d build ] || exit 0
find build -mindepth 1 -maxdepth 1 ! -name engine ! -name engine-target \
    ! -name guest-files ! -name llhttp ! -name venv ! -name venv-bench \
    ! -name venv-bench-rooms ! -name venv-native ! -name node ! -name node-clients ! -name node-ui \
    ! -name nginx -exec rm -rf {} +
