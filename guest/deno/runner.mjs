// runner.mjs: the worker of the room `deno`, its first thread.
//
// It reads what the proxy sends: the settings, jobs, interrupts, the end. The
// thread of room.mjs has the interpreter and writes all that is answered: so a
// program that runs can be interrupted, its output appears at once, and whoever
// writes too much waits for its reader.
//
// usage: deno run FLAGS runner.mjs PYODIDE/ SNAPSHOT|- PACKAGES/|-
// SPDX-License-Identifier: Apache-2.0

import { FrameReader, FrameWriter } from "./frames.mjs";
import { Jobs, PARTS } from "./jobs.mjs";
import { PROGRAM, TIMES } from "./rehearsal.mjs";

// Of the cells shared with the other thread: the interrupt that Python looks
// for, and whether one came.
const SIGINT = 2;
const shared = new Uint8Array(new SharedArrayBuffer(2));
const jobs = new Jobs();
const room = new Worker(new URL("./room.mjs", import.meta.url), {
  type: "module",
});
const started = Promise.withResolvers();

room.onerror = (event) => {
  console.error(`room: ${event.message}`);
  Deno.exit(1);
};
// It has started; or it ends itself after a job that was its last.
room.onmessage = ({ data }) => data ? started.resolve() : Deno.exit(0);

function newParts() {
  return { code: [], input: [], options: [], files: [] };
}

let parts = newParts();

function give(stay) {
  shared.fill(0);
  jobs.give(parts, stay);
  parts = newParts();
}

function interrupt() {
  Atomics.store(shared, 1, 1);
  Atomics.store(shared, 0, SIGINT);
}

// Returns whether a job has begun.
function take({ type, payload }) {
  if (type in PARTS) {
    parts[PARTS[type]].push(payload);
  } else if (type === "G") {
    give(payload[0] === 1);
  } else if (type === "K") {
    interrupt();
  } else if (type === "S") {
    const settings = JSON.parse(new TextDecoder().decode(payload));
    room.postMessage({ settings, shared, memory: jobs.memory });
  } else {
    throw new TypeError(`a frame of type ${type}`);
  }
  return type === "G";
}

// A file in memory, of what a job is made of.
function fileOf(program) {
  let all = new Uint8Array(0);
  const writer = new FrameWriter({
    writeSync(bytes) {
      all = Uint8Array.of(...all, ...bytes);
      return bytes.length;
    },
  });
  writer.whole("C", program);
  writer.whole("G", new Uint8Array(4));
  return {
    readSync(buffer) {
      const n = all.length;
      buffer.set(all);
      all = all.subarray(n);
      return n;
    },
  };
}

// All that a job passes through has been executed before the first one comes.
function rehearse() {
  for (let i = 0; i < TIMES; i++) {
    const frames = new FrameReader(fileOf(PROGRAM));
    for (let frame; (frame = frames.takeNow()) !== null;) {
      take(frame);
    }
    jobs.wait();
  }
}

async function read() {
  const frames = new FrameReader(Deno.stdin);
  take(await frames.take());
  await started.promise;
  rehearse();
  // Until a job has begun there is nothing else to look to, and this thread
  // itself is woken by what comes.
  for (let begun = false; !begun;) {
    const frame = frames.takeNow();
    if (frame === null) {
      return;
    }
    begun = take(frame);
  }
  for (let frame; (frame = await frames.take()) !== null;) {
    take(frame);
  }
}

try {
  await read();
} catch (error) {
  console.error(`runner: ${error.message}`);
}
// Nobody is there any more; whatever runs ends with this process.
Deno.exit(0);
