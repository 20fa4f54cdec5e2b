# The front door: one word per habit. Meson does the work ("make help").
# SPDX-License-Identifier: Apache-2.0

PREFIX  ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
CALLS   ?= 1000000
BUILD   := build
NINJA   := ninja -C $(BUILD)

.DEFAULT_GOAL := build

## help: this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST) | column -t -s: -l 2

## build: the two programs, build/breakroom and build/breakroom-keeper (default)
build: engine llhttp $(BUILD)/build.ninja
	@$(NINJA) --quiet

## engine: Wasmtime's C API as a static library (minutes, once)
engine:
	@tools/build_engine.sh

## llhttp: the parser of HTTP/1.1, fetched by its pinned hash
llhttp:
	@tools/fetch_llhttp.py

# What was set up without cmocka, for "run", has no unit tests.
tests: build
	@meson configure $(BUILD) -Dtests=enabled
	@$(NINJA) --quiet

$(BUILD)/build.ninja: | engine llhttp
	@command -v meson >/dev/null || { \
	    echo "meson is missing: run tools/setup.sh build" >&2; exit 1; }
	@meson setup $(BUILD) . --prefix $(PREFIX) >$(BUILD)/setup.log 2>&1 || \
	    { cat $(BUILD)/setup.log >&2; exit 1; }

## setup: what building needs, by apt (run and test do this themselves)
setup:
	@tools/setup.sh build

## guest: fetch CPython for the room by its pinned hash
guest:
	@tools/fetch_guest.py

## run: from nothing to a tool call before your eyes
run:
	@tools/run.py

## test: everything, from nothing; the last line is the count
test:
	@tools/test.py

## check: unit tests and fuzz corpora only
check: tests
	@meson test -C $(BUILD) --no-rebuild --print-errorlogs

## san: unit tests and fuzz corpora under ASan and UBSan
san: engine llhttp
	@tools/san.sh

## fuzz: fuzz targets, and planted faults: make fuzz T=jsonrpc SECONDS=60
fuzz: engine llhttp
	@tools/build_san.sh
	@tools/fuzz.py --seconds $(SECONDS) $(T)

## mutate: takes the walls away one at a time: each must be missed
mutate: build
	@for room in mutate mutate_jail mutate_deno; do \
		tools/$$room.py || exit 1; \
	done

## hostile: every hostile case in every kind of room; half an hour
hostile: build
	@HOSTILE=all build/venv/bin/python -m pytest -q tests/rooms/test_hostile.py

## fault: every call of the C library fails, and the machine runs out of things
fault: build
	@tools/fault.py $(FAULT)

## lint: format, clang-tidy, cppcheck, layers, sizes, lists, shellcheck, codespell
lint: build
	@tools/lint.py

## fmt: clang-format -i on every C file
fmt:
	@find src tests tools -name '*.[ch]' -exec clang-format -i {} +

## lists: update the file lists in meson.build
lists:
	@tools/lists.py --fix

## stats: the longest functions and files
stats:
	@tools/sizes.py --stats

## man: the manual pages, build/man/*
man: engine llhttp $(BUILD)/build.ninja
	@$(NINJA) --quiet man/breakroom.1 man/breakroom.conf.5 \
	    man/breakroom-rooms.7

## bench: this server beside four others
bench:
	@tests/bench/run.sh

## soak: mixed calls on one server, and what grew, make soak CALLS=1000000
soak: build
	@build/breakroom install
	@tests/harness/endure.py soak $(CALLS)

## int64-suites: numpy's, pandas' and others' own tests in the room, EVERY=40
int64-suites: EVERY = 40
int64-suites: build
	@build/breakroom install --int64=off
	@build/breakroom install
	@for room in native off on; do \
	    tests/int64/suites.py run $$room --every $(EVERY) --seconds 60 || exit; \
	done
	@tests/int64/suites.py table

## deadlines: 200 programs that never end, and how late each was ended
deadlines: build
	@build/breakroom install
	@tests/harness/endure.py deadlines

## load: many connections on one server over HTTP, make load SECONDS=120
load: SECONDS = 120
load: build
	@build/breakroom install
	@tests/harness/load.py $(SECONDS)

## install: programs, guest files and manual page under PREFIX (DESTDIR honoured)
install: build guest
	@meson configure $(BUILD) --prefix $(PREFIX) >/dev/null
	@$(NINJA) --quiet
	@DESTDIR='$(DESTDIR)' meson install -C $(BUILD) --quiet
	@tools/install_guest.sh '$(DESTDIR)$(PREFIX)'

## clean: remove what was built but the engine and what was fetched
clean:
	@tools/clean.sh

## distclean: remove all that was built
distclean:
	@rm -rf build build-*

.PHONY: help build tests engine llhttp setup guest run test check san fuzz fault mutate hostile \
    lint fmt lists stats man bench soak int64-suites deadlines load install clean distclean
