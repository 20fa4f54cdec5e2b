// room.mjs: the worker of the room `deno`, its second thread: Pyodide, and all
// that is answered.
//
// Hostile input: what the program does. It cannot come by JavaScript's globals
// (they are taken away before it runs, text cannot become code, and Python's
// modules for them are unregistered); one that gets hold of a piece of Pyodide
// all the same is still held by Deno's permissions and the walls around, and
// can only spoil its own answer.
// SPDX-License-Identifier: Apache-2.0

import { bytesOf, FrameWriter, LONGEST } from "./frames.mjs";
import { Tree } from "./files.mjs";
import { Jobs } from "./jobs.mjs";
import { TIMES } from "./rehearsal.mjs";

const [PYODIDE, SNAPSHOT, PACKAGES] = Deno.args;
const SIGABRT = 6;
const KEYBOARD_INTERRUPT = 130;
const END_BYTES = 32;
// What the language itself has, and what Pyodide needs beside.
const KEPT = new Set([
  "AggregateError", "Array", "ArrayBuffer", "Atomics", "BigInt",
  "BigInt64Array", "BigUint64Array", "Boolean", "DataView", "Date", "Error",
  "EvalError", "FinalizationRegistry", "Float32Array", "Float64Array",
  "Function", "Infinity", "Int16Array", "Int32Array", "Int8Array", "Intl",
  "Iterator", "JSON", "Map", "Math", "NaN", "Number", "Object", "Promise",
  "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set",
  "SharedArrayBuffer", "String", "Symbol", "SyntaxError", "TypeError",
  "URIError", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray",
  "WeakMap", "WeakRef", "WeakSet", "WebAssembly", "decodeURI",
  "decodeURIComponent", "encodeURI", "encodeURIComponent", "globalThis",
  "isFinite", "isNaN", "parseFloat", "parseInt", "undefined",
  "AbortController", "AbortSignal", "DOMException", "MessageChannel",
  "TextDecoder", "TextEncoder", "clearTimeout", "console", "crypto",
  "onmessage", "performance", "queueMicrotask", "setTimeout",
]);

const out = new FrameWriter(Deno.stdout);
const post = self.postMessage.bind(self);
const readFile = Deno.readFileSync;
const readText = Deno.readTextFileSync;

// What the program reads as its standard input.
let input = { bytes: new Uint8Array(0), at: 0 };
let settings, shared, jobs, py, tree, python;
// A Python that crashed has nothing more to say: it would name our frames.
let crashed = false;
// Of the interpreter's memory, without what a program allocated.
let baseBytes = 0;

function readInput(buffer) {
  const n = Math.min(buffer.length, input.bytes.length - input.at);
  buffer.set(input.bytes.subarray(input.at, input.at + n));
  input.at += n;
  return n;
}

function stream(type) {
  return {
    isatty: false,
    write(buffer) {
      if (!crashed) {
        out.pieces(type, buffer);
      }
      return buffer.length;
    },
  };
}

// A descriptor of Python's whose writes are frames.
function descriptor(fs, number, send) {
  const device = fs.makedev(64, number);
  fs.registerDevice(device, {
    write(_, buffer, offset, length) {
      if (!crashed) {
        const from = buffer.byteOffset + offset;
        send(new Uint8Array(buffer.buffer, from, length));
      }
      return length;
    },
  });
  const path = `/dev/breakroom${number}`;
  fs.mkdev(path, 0o600, device);
  fs.dupStream(fs.open(path, 1), number);
}

// A picture is written whole, after its length.
function sendPicture(bytes) {
  const n = bytes.length - 4;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (n > 0 && n <= LONGEST && view.getUint32(0, true) === n) {
    out.whole("P", bytes.subarray(4));
  }
}

function connect() {
  py.setStdin({ read: readInput, isatty: false });
  py.setStdout(stream("1"));
  py.setStderr(stream("2"));
  descriptor(py.FS, 102, (bytes) => out.pieces("V", bytes));
  descriptor(py.FS, 103, (bytes) => out.pieces("H", bytes));
  descriptor(py.FS, 104, sendPicture);
}

// Python that asks for more memory than the limit gets a MemoryError.
function boundMemory() {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function (pages) {
    const limit = settings.memory_bytes;
    const bytes = this.buffer.byteLength + pages * 65536;
    if (limit && baseBytes && bytes > baseBytes + limit) {
      throw new RangeError("the room's memory");
    }
    return grow.call(this, pages);
  };
}

async function loadInterpreter() {
  const { loadPyodide } = await import(`${PYODIDE}pyodide.mjs`);
  const options = {
    indexURL: PYODIDE,
    jsglobals: { Object, setTimeout, clearTimeout },
    packageBaseUrl: PACKAGES === "-" ? PYODIDE : PACKAGES,
  };
  if (PACKAGES !== "-") {
    options.lockFileContents = readText(`${PACKAGES}pyodide-lock.json`);
  }
  if (SNAPSHOT !== "-") {
    try {
      return await loadPyodide({
        ...options, _loadSnapshot: readFile(SNAPSHOT),
      });
    } catch (error) {
      // It is of another version, or damaged; it only saves time.
      console.error(`snapshot: ${error.message}`);
    }
  }
  return await loadPyodide(options);
}

// The modules of the settings that can be had; returns those that cannot.
async function preload() {
  const missing = [];
  for (const name of settings.preload ?? []) {
    try {
      await py.loadPackage(name, { messageCallback() {} });
      py.pyimport(name);
    } catch {
      missing.push(name);
    }
  }
  return missing;
}

function loadPython() {
  const folder = new URL(".", import.meta.url);
  const read = (name) => readText(new URL(name, folder));
  const boot = py.runPython(read("boot.py"), { filename: "<breakroom boot>" });
  for (const line of read("ORDER").trim().split("\n")) {
    const [name] = line.split(" ");
    boot(name, read(`${name}.py`));
  }
  python = py.pyimport("_breakroom.room");
  py.unregisterJsModule("js");
  py.unregisterJsModule("pyodide_js");
  python.prepare(settings.workspace ?? "/workspace");
}

// Whatever the host of this language put there.
function takeGlobals() {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!KEPT.has(name)) {
      delete globalThis[name];
    }
  }
  // Where Emscripten leaves the status of an exit.
  globalThis.process = {};
}

// Pyodide tells first that it happened.
function quietCrash() {
  console.error = (text) => {
    crashed ||= String(text).startsWith("Pyodide has suffered");
  };
}

function memoryBytes() {
  return py._module.HEAPU8.length;
}

function sendFiles() {
  const name8 = (size, name) => {
    const bytes = bytesOf(name);
    const payload = new Uint8Array(8 + bytes.length);
    new DataView(payload.buffer).setBigUint64(0, BigInt(size), true);
    payload.set(bytes, 8);
    return payload;
  };
  const most = [settings.files_count ?? 1000, settings.files_bytes ?? 1 << 28];
  for (const [name, size, bytes] of tree.changed(...most)) {
    out.whole("N", name8(size, name));
    if (bytes) {
      out.pieces("D", bytes);
    }
  }
}

function sendEnd(end) {
  const payload = new Uint8Array(END_BYTES);
  const view = new DataView(payload.buffer);
  view.setInt32(0, end.status, true);
  view.setUint32(4, end.signal, true);
  view.setUint32(8, end.stays ? 1 : 0, true);
  view.setUint32(12, Atomics.load(shared, 1), true);
  view.setBigUint64(16, BigInt(Math.round(end.micros)), true);
  view.setBigUint64(24, BigInt(memoryBytes()), true);
  out.whole("E", payload);
}

// How the interpreter ended, where it is not Python that says it.
function lost(error) {
  if (error?.constructor?.name === "ExitStatus" || error?.name === "Exit") {
    return { status: error.status & 0xFF, signal: 0, over: true };
  }
  if (error?.type === "KeyboardInterrupt") {
    return { status: KEYBOARD_INTERRUPT, signal: 0, over: true };
  }
  out.pieces("2", bytesOf(`Fatal Python error: ${error?.message}\n`));
  return { status: -SIGABRT, signal: SIGABRT, over: true };
}

async function execute(job) {
  try {
    const status = await python.call(job.code, job.options, job.stay);
    return { status, signal: 0, over: false };
  } catch (error) {
    return lost(error);
  }
}

// Returns whether another may follow.
async function run(job) {
  input = { bytes: job.input, at: 0 };
  tree.put(job.files);
  tree.note();
  const before = performance.now();
  const end = await execute(job);
  end.micros = 1000 * (performance.now() - before);
  end.stays = job.stay && !end.over;
  if (settings.take_files !== false) {
    sendFiles();
  }
  sendEnd(end);
  return end.stays;
}

async function start(message) {
  ({ settings, shared } = message);
  jobs = new Jobs(message.memory);
  boundMemory();
  py = await loadInterpreter();
  const missing = await preload();
  connect();
  tree = new Tree(py.FS, settings.workspace ?? "/workspace",
    settings.files_bytes ?? 256 << 20);
  loadPython();
  py.setInterruptBuffer(shared);
  quietCrash();
  takeGlobals();
  tree.bound(py.FS.filesystems.MEMFS);
  baseBytes = memoryBytes();
  return {
    python: py.runPython("import sys; sys.version.split()[0]"),
    missing,
    uid: null,
  };
}

// What every job touches is there, and in the engine's caches, before the first
// one comes.
async function rehearse() {
  post(true);
  out.silent = true;
  for (let i = 0; i < TIMES; i++) {
    await run(jobs.take());
    jobs.done();
  }
  python.forget();
  out.silent = false;
}

async function serve() {
  for (let more = true; more;) {
    more = await run(jobs.take());
    jobs.done();
  }
}

self.onmessage = async ({ data }) => {
  try {
    const facts = await start(data);
    await rehearse();
    out.whole("R", bytesOf(JSON.stringify(facts)));
    await serve();
  } catch (error) {
    // Of the runner's own; a program's errors are part of its answer.
    console.error(`room: ${error.stack}`);
  }
  post(false);
};
