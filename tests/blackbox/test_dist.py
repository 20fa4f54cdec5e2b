# SPDX-License-Identifier: Apache-2.0
"""What lies in dist/ is right, and has what its pages promise."""

import configparser
import re
import shlex
import shutil
import subprocess

import pytest
import yaml

from support.programs import BREAKROOM, ROOT, breakroom

DIST = ROOT / "dist"
UNIT = DIST / "systemd" / "breakroom.service"
SOCKET = DIST / "systemd" / "breakroom.socket"
# Calls that systemd of Debian 12 has no name for; it says so and goes on.
UNNAMED = {"fchmodat2"}


def check(*args):
    """What --check-config says of these arguments."""
    done = breakroom("serve", *args, "--check-config", timeout=30)
    return done.stderr.decode().splitlines()


# ---- systemd ----


def unit(path):
    """Keys of all sections, each with its values in order."""
    keys = {}
    for line in path.read_text().splitlines():
        if line and line[0] not in "#[":
            name, value = line.split("=", 1)
            keys.setdefault(name, []).append(value)
    return keys


def test_systemd_takes_the_units(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here")
    text = UNIT.read_text().replace("/usr/local/bin/breakroom", str(BREAKROOM))
    (tmp_path / UNIT.name).write_text(text)
    (tmp_path / SOCKET.name).write_text(SOCKET.read_text())
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", UNIT.name, SOCKET.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "unknown" not in done.stderr.lower(), done.stderr


def test_the_unit_gives_up_no_more_than_it_says():
    keys = unit(UNIT)
    for name in (
        "DynamicUser",
        "PrivateNetwork",
        "PrivateTmp",
        "PrivateDevices",
        "ProtectHome",
        "ProtectKernelTunables",
        "ProtectKernelModules",
        "ProtectKernelLogs",
        "ProtectClock",
        "NoNewPrivileges",
        "LockPersonality",
        "RestrictRealtime",
        "RestrictSUIDSGID",
    ):
        assert keys[name] == ["yes"], name
    assert keys["ProtectSystem"] == ["strict"]
    assert keys["CapabilityBoundingSet"] == [""]
    assert keys["AmbientCapabilities"] == [""]
    assert keys["OOMPolicy"] == ["continue"]
    text = UNIT.read_text()
    given_up = re.findall(r"^# - ([\w, ]+):", text, re.M)
    for name in ", ".join(given_up).split(", "):
        assert name not in keys, name
    assert {"RestrictNamespaces", "MemoryDenyWriteExecute"} <= set(given_up)


def systemd_calls(words):
    """The calls that lists of names and groups of systemd's let through."""
    text = subprocess.run(
        ["systemd-analyze", "syscall-filter"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    groups = {}
    for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines():
        if line.startswith("@"):
            members = groups.setdefault(line.split()[0], [])
        elif re.match(r" +[@\w-]+$", line):
            members.append(line.strip())

    def calls(word):
        if word[0] != "@":
            return {word}
        return set().union(*map(calls, groups[word]))

    allowed = set()
    for line in words:
        for word in line.lstrip("~").split():
            allowed = (
                allowed - calls(word) if line[0] == "~" else allowed | calls(word)
            )
    return allowed


def test_the_unit_lets_through_what_the_programs_may_call():
    """Each process confines itself to a policy; systemd's filter, which comes
    before it, must not take away a call of it."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here")
    allowed = systemd_calls(unit(UNIT)["SystemCallFilter"])
    assert len(allowed) > 200
    wanted = {"seccomp", "unshare", "pivot_root", "sethostname", "setdomainname"}
    for policy in (ROOT / "src" / "walls" / "policy").glob("*.policy"):
        if policy.stem == "never":
            continue
        # A line that begins with no word of the policies' own lets a call through.
        names = re.findall(r"^([a-z][a-z0-9_]*)\b", policy.read_text(), re.M)
        wanted |= set(names) - {
            "default",
            "include",
            "kill",
            "errno",
            "allow",
        }
    assert len(wanted) > 60
    assert wanted - allowed <= UNNAMED


def test_the_unit_and_its_socket_agree():
    streams = unit(SOCKET)["ListenStream"]
    conf = configparser.ConfigParser(inline_comment_prefixes=";")
    conf.read(DIST / "breakroom.conf")
    assert streams == [conf["server"]["http"]]
    assert "admin-http" not in conf["server"]
    for key in ("ExecStart", "ExecStartPre"):
        assert "--config /etc/breakroom/breakroom.conf" in unit(UNIT)[key][0]


# ---- the container ----


def containerfile():
    """Stages: a name and the instructions, lines joined."""
    text = (DIST / "Containerfile").read_text()
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    stages = []
    for word, rest in lines:
        if word == "FROM":
            stages.append((rest.split(" AS ")[-1], []))
        elif stages:
            stages[-1][1].append((word, rest))
    return stages


def runtime():
    """The stage with the programs; the last, of the same name, only names it."""
    return next(lines for name, lines in containerfile() if name == "runtime")


def test_the_image_has_the_libraries():
    """By the names of the system's packages."""
    if not shutil.which("dpkg"):
        pytest.skip("dpkg is not here")
    listed = set(" ".join(rest for word, rest in runtime() if word == "RUN").split())
    for program in (BREAKROOM, BREAKROOM.with_name("breakroom-keeper")):
        ldd = subprocess.run(
            ["ldd", program], capture_output=True, text=True, check=True
        ).stdout
        for library in re.findall(r"^\s*(\S+) => /", ldd, re.M):
            owner = subprocess.run(
                ["dpkg", "-S", f"*-linux-gnu/{library}"],
                capture_output=True,
                text=True,
                check=False,
            ).stdout.split(":")[0]
            if not owner:
                pytest.skip(f"{library} is no package's here")
            assert owner in listed | {"libc6", "libgcc-s1"}, (library, owner)


def test_the_image_is_nobodys_root():
    users = [rest for word, rest in runtime() if word == "USER"]
    assert len(users) == 1
    assert all(int(number) >= 1000 for number in users[0].split(":"))
    last = containerfile()[-1]
    assert last == ("runtime", [])


def test_the_image_starts_with_good_arguments():
    command = yaml.safe_load(dict(runtime())["CMD"])
    assert command[0] == "serve"
    # Only what a container brings is missing.
    said = check(*command[1:])
    assert len(said) == 1
    assert "/etc/breakroom/tokens: No such file" in said[0]


# ---- Kubernetes ----


def objects():
    found = {}
    for path in sorted((DIST / "kubernetes").glob("*.yaml")):
        for one in yaml.safe_load_all(path.read_text()):
            found[one["kind"], one["metadata"]["name"]] = one
    return found


def pod():
    return objects()["Deployment", "breakroom"]["spec"]["template"]["spec"]


def test_kubernetes_has_what_is_promised():
    assert set(objects()) == {
        ("ConfigMap", "breakroom"),
        ("Deployment", "breakroom"),
        ("HorizontalPodAutoscaler", "breakroom"),
        ("NetworkPolicy", "breakroom"),
        ("RuntimeClass", "gvisor"),
        ("Service", "breakroom"),
        ("Service", "breakroom-admin"),
    }
    assert all(
        "apiVersion" in one and "namespace" not in one["metadata"]
        for one in objects().values()
    )


def test_pods_have_no_rights():
    spec = pod()
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] >= 1000
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in spec["containers"] + spec["initContainers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} == set(container["resources"]["limits"])
    for word in ("hostNetwork", "hostPID", "hostIPC", "hostPath", "privileged"):
        assert word not in str(spec)


def test_pods_reach_nothing():
    policy = objects()["NetworkPolicy", "breakroom"]["spec"]
    labels = objects()["Deployment", "breakroom"]["spec"]["template"]["metadata"]
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    assert policy["egress"] == []
    assert policy["podSelector"]["matchLabels"] == labels["labels"]
    # Nobody comes in without being named.
    assert all(rule["from"] and rule["ports"] for rule in policy["ingress"])


def test_kubernetes_configuration_and_probes(tmp_path):
    text = objects()["ConfigMap", "breakroom"]["data"]["breakroom.conf"]
    container = pod()["containers"][0]
    tokens = tmp_path / "tokens"
    tokens.write_text("alice sha256:" + "5" * 64 + "\n")
    path = tmp_path / "breakroom.conf"
    path.write_text(text.replace("/etc/breakroom/tokens", str(tokens)))
    assert str(tokens) in path.read_text()
    assert check("--config", path) == []
    conf = configparser.ConfigParser()
    conf.read_string(text)
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert conf["server"]["http"].endswith(f":{ports['http']}")
    assert conf["server"]["admin-http"].endswith(f":{ports['admin']}")
    probes = {
        name: container[name]["httpGet"]
        for name in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert probes["livenessProbe"] == {"path": "/healthz", "port": "admin"}
    assert probes["readinessProbe"] == {"path": "/readyz", "port": "admin"}
    assert probes["startupProbe"] == {"path": "/readyz", "port": "admin"}
    assert container["args"] == shlex.split(
        "serve --config /etc/breakroom/breakroom.conf"
    )


def test_memory_of_a_pod_suffices():
    """What dist/README.md says: 1 GiB, and for each call memory + 64 MiB."""
    conf = configparser.ConfigParser()
    conf.read_string(objects()["ConfigMap", "breakroom"]["data"]["breakroom.conf"])
    room = conf["room wasm"]
    call = int(room["memory"].removesuffix("M")) + 64
    limit = pod()["containers"][0]["resources"]["limits"]["memory"]
    needed = 1024 + call * int(room["concurrency"])
    assert int(limit.removesuffix("Gi")) * 1024 >= needed


def test_the_autoscaler_asks_for_a_figure_that_exists():
    spec = objects()["HorizontalPodAutoscaler", "breakroom"]["spec"]
    assert spec["scaleTargetRef"]["name"] == "breakroom"
    name = spec["metrics"][0]["pods"]["metric"]["name"]
    source = (ROOT / "src" / "front" / "metrics.c").read_text()
    assert f'"{name.removeprefix("breakroom_")}", "gauge"' in source
    for figure in re.findall(
        r"`breakroom_(\w+)`", (DIST / "README.md").read_text()
    ):
        assert f'"{figure}"' in source, figure


def test_the_page_names_what_is_there():
    text = (DIST / "README.md").read_text()
    table = re.findall(r"^\| `(dist/[^`]+)`", text, re.M)
    assert all((ROOT / name).exists() for name in table)
    covered = {name.split("/")[1] for name in table}
    assert {path.name for path in DIST.iterdir()} == covered | {"README.md"}
