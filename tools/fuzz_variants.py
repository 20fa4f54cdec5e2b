"""Other builds of a fuzz target beside build-san's own: one with a planted
fault, one that measures coverage. Only the files that the target is about are
compiled again, from copies; the sources are never touched.
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAN = ROOT / "build-san"
COVERAGE = ["-fprofile-instr-generate", "-fcoverage-mapping"]


class VariantError(Exception):
    """A variant cannot be built; the text says why."""


def run(command):
    done = subprocess.run(command, cwd=SAN, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise VariantError(f"{shlex.join(map(str, command))}:\n{done.stdout}")
    return done.stdout


def sources(name, target):
    """The C files to compile again, the target's own program first."""
    found = [ROOT / f"tests/fuzz/fuzz_{name}.c"]
    for pattern in target.files:
        matched = sorted(ROOT.glob(pattern))
        if not matched:
            raise VariantError(f"no file is called {pattern}")
        found += matched
    return found


def compile_command(source):
    """The words of build-san's command for a source file."""
    for entry in json.loads((SAN / "compile_commands.json").read_text()):
        if (SAN / entry["file"]).resolve() == source:
            return shlex.split(entry["command"])
    raise VariantError(f"{source} is not part of build-san")


def compile_again(source, folder, flags, overlay):
    """Compiles into folder; what overlay has of the sources comes first."""
    command = compile_command(source)
    target = folder / (source.stem + ".o")
    copy = overlay / source.relative_to(ROOT) if overlay else source
    command[command.index("-o") + 1] = str(target)
    command[command.index("-c") + 1] = str(copy if copy.exists() else source)
    for dependency in ("-MQ", "-MF"):
        at = command.index(dependency)
        del command[at:at + 2]
    command.remove("-MD")
    if overlay:
        command.insert(1, f"-I{overlay / 'src'}")
    run(command + flags)
    return target


def link_again(name, program, objects, flags):
    """Links as build-san does; the objects take the place of the members of
    its libraries."""
    own = f"tests/fuzz/fuzz_{name}"
    command = shlex.split(run(["ninja", "-t", "commands", own])
                          .splitlines()[-1])
    command[command.index("-o") + 1] = str(program)
    at = next(i for i, word in enumerate(command)
              if word.startswith(f"{own}.p/"))
    command[at:at + 1] = map(str, objects)
    run(command + flags)


def build(name, target, variant, flags=(), overlay=None):
    """Builds the program of a variant and returns its path."""
    folder = SAN / "variants" / name / variant
    folder.mkdir(parents=True, exist_ok=True)
    objects = [compile_again(source, folder, list(flags), overlay)
               for source in sources(name, target)]
    program = folder / f"fuzz_{name}"
    link_again(name, program, objects, list(flags))
    return program


def build_planted(name, target, index):
    """The program with one of the target's faults."""
    fault = target.faults[index]
    overlay = SAN / "variants" / name / f"planted-{index}-src"
    shutil.rmtree(overlay, ignore_errors=True)
    text = (ROOT / fault.file).read_text()
    if text.count(fault.old) != 1:
        raise VariantError(
            f"{fault.file} has {text.count(fault.old)} times what the fault "
            f"\"{fault.what}\" replaces: change tests/fuzz/targets.py")
    copy = overlay / fault.file
    copy.parent.mkdir(parents=True)
    copy.write_text(text.replace(fault.old, fault.new))
    return build(name, target, f"planted-{index}", overlay=overlay)


def tool(name):
    """The LLVM tool that belongs to the compiler."""
    return run(["clang", f"-print-prog-name={name}"]).strip()


def coverage(name, target, corpora):
    """Runs every input of the corpora once: {kind: (covered, of)} for the
    lines and branches of the target's files."""
    program = build(name, target, "coverage", COVERAGE)
    raw, profile = program.with_suffix(".profraw"), program.with_suffix(
        ".profdata")
    run(["env", f"LLVM_PROFILE_FILE={raw}", program, "-runs=0", *corpora])
    run([tool("llvm-profdata"), "merge", "-o", profile, raw])
    report = json.loads(run([
        tool("llvm-cov"), "export", "-summary-only",
        f"-instr-profile={profile}", program,
        *map(str, sources(name, target)[1:])]))
    totals = report["data"][0]["totals"]
    return {kind: (totals[kind]["covered"], totals[kind]["count"])
            for kind in ("lines", "branches")}
