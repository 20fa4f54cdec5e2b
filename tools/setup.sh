#!/bin/sh
# setup.sh build|test|bench: says what is missing and installs it, by apt (as
# root or through sudo) and, for the tests, by pip and npm into build/. Does
# nothing, in a moment, when all is there.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

say() {
	echo "setup: $*"
}

build="gcc libc6-dev make meson ninja-build pkg-config libuv1-dev
    libinih-dev libjansson-dev libjose-dev libmd-dev libseccomp-dev libssl-dev
    scdoc ca-certificates"
tests="libcmocka-dev clang libclang-rt-dev clang-format clang-tidy cppcheck llvm
    codespell shellcheck"
# 124 MB to fetch, 414 MB of disk.
browser="chromium"
# For the rooms of workers: engines, and what makes their trees and images.
rooms="podman runc runsc uidmap mmdebstrap"

case "${1:-}" in
build)
	wanted=$build
	;;
test)
	wanted="$build $tests $browser $rooms"
	;;
bench)
	wanted="$build $tests $rooms"
	;;
*)
	echo "usage: tools/setup.sh build|test|bench" >&2
	exit 2
	;;
esac

missing=
for package in $wanted; do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$package" \
	    2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $package"
done
# These may as well come from elsewhere than apt.
python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
tools/build_engine.sh --find-cargo >/dev/null 2>&1 ||
    missing="$missing cargo-web rustc-web"
if [ "$1" != build ]; then
	command -v npm >/dev/null || missing="$missing nodejs npm"
fi

root=
[ "$(id -u)" = 0 ] || root=sudo

if [ -n "$missing" ]; then
	say "installing by apt:$missing"
	if ! command -v apt-get >/dev/null; then
		say "no apt-get here: please install these by other means" >&2
		exit 1
	fi
	if [ -n "$root" ] && ! command -v sudo >/dev/null; then
		say "neither root nor sudo: please run as root:" \
		    "apt-get install$missing" >&2
		exit 1
	fi
	log=$(mktemp)
	# The words of $missing are package names.
	# shellcheck disable=SC2086
	if ! { $root apt-get update -q && $root env \
	    DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
	    --no-install-recommends $missing; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		say "apt failed: the whole log is in $log" >&2
		exit 1
	fi
	rm -f "$log"
fi
tools/build_engine.sh --find-cargo >/dev/null

# venv NAME REQUIREMENTS: a virtual environment build/NAME that holds exactly
# the files that REQUIREMENTS names by hash.
venv() {
	stamp=$({ python3 -VV; cat "$2"; } | sha256sum)
	[ "$(cat "build/$1/stamp" 2>/dev/null)" = "$stamp" ] && return
	say "installing Python packages into build/$1"
	mkdir -p build
	rm -rf "build/$1"
	python3 -m venv "build/$1"
	"build/$1/bin/python" -m pip install -q --disable-pip-version-check \
	    --require-hashes -r "$2"
	echo "$stamp" >"build/$1/stamp"
}

# packages NAME FOLDER: the npm packages that FOLDER's lock file names by hash,
# in build/NAME.
packages() {
	stamp=$(sha256sum <"$2/package-lock.json")
	[ "$(cat "build/$1/stamp" 2>/dev/null)" = "$stamp" ] && return
	say "installing npm packages into build/$1"
	rm -rf "build/$1"
	mkdir -p "build/$1"
	cp "$2/package.json" "$2/package-lock.json" "build/$1/"
	npm --prefix "build/$1" ci --no-audit --no-fund --silent
	echo "$stamp" >"build/$1/stamp"
}

# unpack FOLDER PACKAGE...: packages without their dependencies, in build/FOLDER.
# Installing them would start what they bring.
unpack() {
	folder=$1
	shift
	say "unpacking $* into build/$folder"
	fetched=$(mktemp -d)
	log=$fetched/log
	if ! (cd "$fetched" && { apt-get download -q "$@" || {
	    $root apt-get update -q && apt-get download -q "$@"; }; }) \
	    >"$log" 2>&1; then
		cat "$log" >&2
		say "no $* could be had" >&2
		exit 1
	fi
	for package in "$fetched"/*.deb; do
		dpkg-deb -x "$package" "build/$folder"
	done
	rm -rf "$fetched"
}

# there FOLDER PROGRAM: whether the system or build/FOLDER has the program.
there() {
	PATH=$PATH:/usr/sbin:build/$1/usr/sbin command -v "$2" >/dev/null
}

# Docker's engine and its client, which newer releases have apart.
docker_engine() {
	apart=
	apt-cache show docker-cli >/dev/null 2>&1 && apart=docker-cli
	# shellcheck disable=SC2086
	unpack docker docker.io containerd tini $apart
}

case "$1" in
test)
	venv venv tools/requirements-test.txt
	venv venv-native tools/requirements-native.txt
	packages node-clients tests/clients
	packages node-ui tests/ui
	there nginx nginx || unpack nginx nginx
	there docker dockerd || docker_engine
	;;
bench)
	there docker dockerd || docker_engine
	venv venv-bench tests/bench/requirements.txt
	venv venv-bench-rooms tests/bench/requirements-rooms.txt
	packages node tests/bench
	;;
esac
