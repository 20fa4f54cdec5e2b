#!/bin/sh
# Builds Wasmtime's C API with cargo as one static library in build/engine,
# beside its C headers. Does nothing when that is up to date.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

out=build/engine
crate=wasmtime-c-api-impl
needed=1.95

# True if version $1 is at least version $2.
at_least() {
	[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# The first cargo that is new enough, with the rustc beside it.
find_cargo() {
	for candidate in cargo "${HOME:-/root}/.cargo/bin/cargo" \
	    /usr/bin/cargo; do
		path=$(command -v "$candidate") || continue
		version=$("$path" --version 2>/dev/null | cut -d' ' -f2) || continue
		if at_least "${version:-0}" $needed; then
			echo "$path"
			return
		fi
	done
	echo "build_engine: no cargo of $needed or newer:" \
	    "run tools/setup.sh build" >&2
	return 1
}

if [ "${1:-}" = --find-cargo ]; then
	find_cargo
	exit
fi

cargo=$(find_cargo)
# A cargo of /usr/bin must not take an older rustc from elsewhere.
PATH=$(dirname "$cargo"):$PATH
export PATH

stamp=$({
	cat engine/Cargo.toml engine/Cargo.lock engine/src/lib.rs "$0"
	rustc --version
} | sha256sum | cut -d' ' -f1)
if [ "$(cat $out/stamp 2>/dev/null)" = "$stamp" ]; then
	exit 0
fi

echo "engine: building Wasmtime's C API (3 to 5 minutes on two cores, once)"
mkdir -p $out
"$cargo" build --release --locked --manifest-path engine/Cargo.toml \
    --target-dir build/engine-target

# The headers lie in the crate's source; conf.h is made from its template, as
# the crate's own CMake does, with the features that engine/Cargo.toml names.
host=$(rustc -vV | sed -n "s/^host: //p")
source=$("$cargo" metadata --locked --format-version 1 --filter-platform "$host" \
    --manifest-path engine/Cargo.toml | python3 -c '
import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == "'$crate'":
        print(os.path.dirname(package["manifest_path"]))')
rm -rf $out/include.new
cp -r "$source/include" $out/include.new
python3 - "$out/include.new/wasmtime" <<'EOF'
import pathlib, re, sys
folder = pathlib.Path(sys.argv[1])
on = {"CRANELIFT", "PARALLEL_COMPILATION", "GC", "GC_NULL", "ASYNC"}
text = (folder / "conf.h.in").read_text()
seen = set(re.findall(r"#cmakedefine WASMTIME_FEATURE_(\w+)", text))
if not on <= seen:
    sys.exit(f"conf.h.in lacks {sorted(on - seen)}")
(folder / "conf.h").write_text(re.sub(
    r"#cmakedefine WASMTIME_FEATURE_(\w+)",
    lambda m: ("#define " if m[1] in on else "// off: ")
    + "WASMTIME_FEATURE_" + m[1], text))
EOF
rm -rf $out/include
mv $out/include.new $out/include
ln -f build/engine-target/release/libbreakroom_engine.a $out/
echo "$stamp" > $out/stamp
echo "engine: built"
