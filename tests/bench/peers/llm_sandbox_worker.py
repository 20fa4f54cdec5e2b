"""llm-sandbox, a new sandbox for each call: reads [number, code] a line, writes
[number, text]. Arguments: the engine (docker, podman) and the image.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import sys

from llm_sandbox import SandboxBackend, SandboxSession

# The room's image has neither a command nor a root with a name, which
# llm-sandbox needs, and its Python has the one name only. The trap lets the
# engine end it at once.
COMMAND = ["sh", "-c", "echo root:x:0:0::/:/bin/sh >>/etc/passwd;"
           "mkdir -p /usr/local/bin;"
           "ln -s \"$(command -v python3)\" /usr/local/bin/python;"
           "trap 'exit 0' TERM; sleep 3600 & wait"]


def backend(engine):
    """What a session needs to find the engine."""
    if engine == "docker":
        return {"backend": SandboxBackend.DOCKER}
    from podman import PodmanClient
    return {"backend": SandboxBackend.PODMAN,
            "client": PodmanClient(base_url=os.environ["CONTAINER_HOST"])}


def one(found, image, code):
    with SandboxSession(
            lang="python", image=image, workdir="/workspace",
            keep_template=True, skip_environment_setup=True,
            runtime_configs={"network_mode": "none", "user": "0:0",
                             "command": COMMAND}, **found) as session:
        done = session.run(code)
    return done.stdout + done.stderr


def main():
    engine, image = sys.argv[1:]
    found = backend(engine)
    for line in sys.stdin:
        number, code = json.loads(line)
        try:
            text = one(found, image, code)
        except Exception as why:  # noqa: BLE001: whatever it is, it is told
            text = f"{type(why).__name__}: {why}"
        print(json.dumps([number, text]), flush=True)


if __name__ == "__main__":
    main()
