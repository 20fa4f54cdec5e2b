// snapshot.mjs: writes the memory of a Pyodide that has just been started, and
// tries it.
//
// usage: deno run FLAGS snapshot.mjs make PYODIDE/ SNAPSHOT RUNNER.json
//        deno run FLAGS snapshot.mjs try PYODIDE/ SNAPSHOT|-
// SPDX-License-Identifier: Apache-2.0

const [what, pyodide, snapshot, runner] = Deno.args;
const { loadPyodide } = await import(`${pyodide}pyodide.mjs`);
// What programs import again and again, and what the room's own Python does.
const WARM = `
import _pyodide._future_helper, ast, asyncio, bisect, collections, contextlib
import copy, csv, dataclasses, datetime, decimal, difflib, dis, enum, fractions
import functools, hashlib, heapq, hmac, inspect, io, itertools, json, linecache
import logging, math, multiprocessing.dummy, operator, os, pathlib, pkgutil
import platform, queue, random, re, shutil, socket, statistics, string
import subprocess, tempfile, textwrap, threading, time, tokenize, traceback, types
import typing, unicodedata, uuid, warnings, weakref, zipfile
import concurrent.futures.thread, multiprocessing.pool, urllib.parse
`;

// The code of the room's own modules, which boot.py takes where it is that of
// the same text.
const KEEP = `
import sys
sys._breakroom_kept = {}
def keep(name, text):
    file_name = f"<breakroom {name} importlib._bootstrap>"
    sys._breakroom_kept[name] = text, compile(text, file_name, "exec")
keep
`;

function keepModules(py) {
  const files = JSON.parse(Deno.readTextFileSync(runner));
  const keep = py.runPython(KEEP);
  for (const line of files.ORDER.trim().split("\n")) {
    const [name] = line.split(" ");
    keep(name, files[`${name}.py`]);
  }
  keep.destroy();
  py.runPython("del keep\nimport gc\ngc.collect()");
}

if (what === "make") {
  // The interpreter's name for itself stays in its memory: no path of ours.
  globalThis.process.argv[1] = "/usr/bin/python3";
  const py = await loadPyodide({ indexURL: pyodide, _makeSnapshot: true });
  py.runPython(WARM);
  keepModules(py);
  Deno.writeFileSync(snapshot, py.makeMemorySnapshot());
} else {
  const more = snapshot === "-"
    ? {}
    : { _loadSnapshot: Deno.readFileSync(snapshot) };
  const py = await loadPyodide({ indexURL: pyodide, ...more });
  console.log(py.runPython("import sys; sys.version.split()[0]"));
}
