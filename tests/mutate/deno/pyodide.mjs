// pyodide.mjs: what stands in the place of Pyodide where the room deno is to be
// shown to hold a hostile program: JavaScript of an attacker's, who has what
// Deno's own flags leave, and system calls where they leave too much.
//
// A program for it is a text of lines, "NAME ARGUMENT...", done one after the
// other, as for the broken guest of op.h.
// SPDX-License-Identifier: Apache-2.0

// Kept from before the runner takes its globals away.
const deno = Deno;
const importer = (url) => import(url);

const MIB = 1 << 20;
const SYS_SHMGET = 29n;
const SYS_EXECVE = 59n;
const SYS_KILL = 62n;
const SYS_SETPRIORITY = 141n;
const SHM_KEY = 0x62726b72n; // as in tools/mutate.py
const ERRNO = {
  1: "EPERM", 2: "ENOENT", 3: "ESRCH", 11: "EAGAIN", 12: "ENOMEM",
  13: "EACCES", 22: "EINVAL", 38: "ENOSYS",
};

const bytesOf = (text) => new TextEncoder().encode(text);

// ---- what the proxy is told ----

function frame(type, payload) {
  const all = new Uint8Array(8 + payload.length);
  new DataView(all.buffer).setUint32(0, payload.length, true);
  all[4] = type.charCodeAt(0);
  all.set(payload, 8);
  for (let at = 0; at < all.length;) {
    at += deno.stdout.writeSync(all.subarray(at));
  }
}

const say = (text) => frame("1", bytesOf(text));

// ---- system calls ----

const I64 = "i64";
let libc;

function symbols() {
  libc ??= deno.dlopen("libc.so.6", {
    syscall: { parameters: [I64, I64, I64, I64, I64], result: I64 },
    __errno_location: { parameters: [], result: "pointer" },
    pthread_create: {
      parameters: ["buffer", "pointer", "pointer", "pointer"], result: "i32",
    },
    pause: { type: "pointer" },
  }).symbols;
  return libc;
}

function failed(number) {
  return Object.assign(new Error("a system call"), {
    code: ERRNO[number] ?? `${number}`,
  });
}

function call(number, ...args) {
  const { syscall, __errno_location } = symbols();
  const four = [0, 1, 2, 3].map((i) => BigInt(args[i] ?? 0));
  if (syscall(number, ...four) < 0n) {
    const view = new deno.UnsafePointerView(__errno_location());
    throw failed(view.getInt32());
  }
}

const address = (bytes) =>
  deno.UnsafePointer.value(deno.UnsafePointer.of(bytes));

// What the addresses of these lead to has to live as long as the call.
const held = [];

function text(word) {
  held.push(bytesOf(`${word}\0`));
  return address(held.at(-1));
}

function list(words) {
  held.push(new BigUint64Array([...words.map((w) => BigInt(text(w))), 0n]));
  return address(held.at(-1));
}

// ---- operations ----

function threads(count) {
  const { pthread_create, pause } = symbols();
  for (let i = 0; i < count; i++) {
    const error = pthread_create(new BigUint64Array(1), null, pause, null);
    if (error !== 0) {
      throw failed(error);
    }
  }
}

function touch(mib) {
  const memory = [];
  for (let i = 0; i < mib; i += 32) {
    memory.push(new Uint8Array(32 * MIB).fill(1));
  }
}

const OPERATIONS = {
  read: (path) => void deno.readFileSync(path),
  "read-text": (path) => deno.readTextFileSync(path).replaceAll("\n", " "),
  write: (path) => deno.writeTextFileSync(path, "written\n"),
  directory: (path) => deno.mkdirSync(path),
  connect: async (port) =>
    (await deno.connect({ hostname: "127.0.0.1", port: Number(port) })).close(),
  import: async (url) => (await importer(url)).default,
  env: (name) => deno.env.get(name),
  "host-name": () => deno.hostname(),
  run: (path) => `${deno.statSync(path) && new deno.Command(path, {
    args: ["--version"],
  }).outputSync().code}`,
  library: () => void symbols(),
  text: () => new Function("return 'ran'")(),
  globals: () => globalThis.Deno.version.deno,
  shm: () => call(SYS_SHMGET, 0, 4096, 0o1600),
  "shm-of-host": () => call(SYS_SHMGET, SHM_KEY, 0, 0),
  kill: (pid) => call(SYS_KILL, pid, 0),
  nice: () => call(SYS_SETPRIORITY, 0, 0, -10),
  execve: (path, ...args) =>
    call(SYS_EXECVE, text(path), list([path, ...args]),
      list(["LD_LIBRARY_PATH=/lib", "DENO_DIR=/tmp", "HOME=/tmp"])),
  threads,
  touch,
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  spin() {
    for (;;);
  },
};

async function perform(line) {
  const [name, ...args] = line.split(" ");
  say(name);
  try {
    say(` ok ${await OPERATIONS[name](...args) ?? ""}\n`);
  } catch (error) {
    say(` errno ${error.code ?? error.name}\n`);
  }
}

// A program is a job's; what is run ahead of it is nobody's.
async function program(code) {
  const lines = new TextDecoder().decode(code).split("\n");
  for (const line of lines.filter((each) => each.split(" ")[0] in OPERATIONS)) {
    await perform(line);
  }
  return 0;
}

// ---- what the runner believes to be Pyodide ----

function nothing() {}

function files() {
  const node = { mode: "dir", contents: {} };
  return {
    root: node,
    isFile: () => false,
    isDir: () => true,
    lookupPath: () => ({ node }),
    filesystems: {
      MEMFS: {
        ops_table: { file: { stream: { write: nothing } } },
        resizeFileStorage: nothing,
      },
    },
    mkdirTree: nothing,
    makedev: nothing,
    registerDevice: nothing,
    mkdev: nothing,
    open: nothing,
    dupStream: nothing,
  };
}

export function loadPyodide() {
  return {
    FS: files(),
    _module: { HEAPU8: new Uint8Array(1) },
    runPython: () => nothing,
    pyimport: () => ({ prepare: nothing, call: program, forget: nothing }),
    loadPackage: nothing,
    setStdin: nothing,
    setStdout: nothing,
    setStderr: nothing,
    setInterruptBuffer: nothing,
    unregisterJsModule: nothing,
  };
}
