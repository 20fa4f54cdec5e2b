"""What the installer makes, and what it refuses.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json
import shutil
import zipfile

import pytest
from runner import Runner


def test_the_snapshot_has_the_code_of_the_rooms_modules(installed, files, tmp_path):
    """All of it: with a boot.py that compiles nothing it starts all the same."""
    runner = tmp_path / "runner"
    shutil.copytree(files, runner)
    boot = runner / "boot.py"
    text = boot.read_text()
    assert text.count("return compile(") == 1
    boot.write_text(text.replace("return compile(", "raise SystemError("))
    with Runner(installed, runner) as one:
        assert one.run("6 * 7").value == "42"
    with Runner(installed, runner, snapshot=None) as one, pytest.raises(EOFError):
        one.run("6 * 7")


def test_a_module_of_another_version_is_compiled(installed, files, tmp_path):
    runner = tmp_path / "runner"
    shutil.copytree(files, runner)
    with (runner / "room.py").open("a") as module:
        module.write("sys.another_version = 1\n")
    with Runner(installed, runner) as one:
        assert one.run("import sys\nsys.another_version").value == "1"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with one pure package and a lock file that names it."""
    name = "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / name, "w") as wheel:
        wheel.writestr("tiny.py", "ANSWER = 42\n")
        wheel.writestr("tiny-1.0.dist-info/METADATA",
                       "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL",
                       "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
                       "Tag: py3-none-any\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    write_lock(tmp_path, name, digest)
    return tmp_path


def write_lock(folder, name, digest):
    entry = {
        "name": "tiny", "version": "1.0", "file_name": name, "sha256": digest,
        "install_dir": "site", "package_type": "package", "depends": [],
        "imports": ["tiny"], "unvendored_tests": False,
    }
    info = {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3",
            "python": "3.14.2", "version": "314.0.7"}
    (folder / "pyodide-lock.json").write_text(
        json.dumps({"info": info, "packages": {"tiny": entry}}))


def modules(installed, tmp_path):
    """Return an installation's files as npm leaves them."""
    place = tmp_path / "node_modules"
    for machine in ("linux-x64-glibc", "linux-arm64-glibc"):
        (place / "@deno" / machine).mkdir(parents=True)
        (place / "@deno" / machine / "deno").symlink_to(installed / "deno")
    (place / "pyodide").symlink_to(installed / "pyodide")
    return place


def test_manifest_has_versions_and_hashes(installed):
    manifest = json.loads((installed / "manifest.json").read_text())
    assert set(manifest["versions"]) == {"deno", "pyodide", "python"}
    assert manifest["snapshot"]
    for name in ("deno", "snapshot.bin", "pyodide/pyodide.asm.wasm"):
        digest = hashlib.sha256((installed / name).read_bytes()).hexdigest()
        assert manifest["files"][name] == digest
    assert oct(installed.stat().st_mode)[-3:] == "755"


def test_a_package_from_a_folder(install, installed, files, folder, tmp_path):
    source = modules(installed, tmp_path / "from")
    into, done = install("--from", source, "--pyodide-packages", folder)
    assert done.returncode == 0, done.stderr
    about = {"packages": into / "packages", "preload": ["tiny", "nothing"]}
    with Runner(into, files, **about) as one:
        assert one.facts["missing"] == ["nothing"]
        assert one.run("import tiny\ntiny.ANSWER").value == "42"


def test_a_wrong_hash_is_refused(install, installed, folder, tmp_path):
    write_lock(folder, "tiny-1.0-py3-none-any.whl", "0" * 64)
    source = modules(installed, tmp_path / "from")
    into, done = install("--from", source, "--pyodide-packages", folder)
    assert done.returncode == 1 and not into.exists()
    assert "has another hash" in done.stderr


def test_absent_files_are_named(install, installed, tmp_path):
    source = modules(installed, tmp_path / "from")
    (tmp_path / "empty").mkdir()
    into, done = install(
        "--from", source, "--pyodide-packages", tmp_path / "empty", "numpy")
    assert done.returncode == 1 and not into.exists()
    assert "numpy-" in done.stderr and "not in" in done.stderr
    into, done = install("--from", tmp_path / "empty")
    assert done.returncode == 1 and "pyodide.asm.wasm" in done.stderr


def test_an_unknown_package_is_refused(install, installed, tmp_path):
    source = modules(installed, tmp_path / "from")
    _, done = install("--from", source, "no-such-package")
    assert done.returncode == 1
    assert "has no package no-such-package" in done.stderr
