// jobs.mjs: how a job comes from the runner's first thread to its second: in
// memory that both have, for which the second sleeps. A message between threads
// would take a third of the time that a short program does.
// SPDX-License-Identifier: Apache-2.0

// A job's parts, by the type of their frames.
export const PARTS = { C: "code", I: "input", O: "options", F: "files" };
const NAMES = Object.values(PARTS);
// More than the host sends in one job.
const LARGEST = 64 << 20;
const FIRST = 1 << 16;
// What is in the cells before the parts' bytes.
const GIVEN = 0, DONE = 1, STAY = 2, LENGTHS = 3;
const HEAD = 4 * (LENGTHS + NAMES.length);

function sizeOf(pieces) {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

export class Jobs {
  #memory;
  #cells;

  // Of the thread that made the memory, or was sent it.
  constructor(memory) {
    this.#memory = memory ??
      new SharedArrayBuffer(FIRST, { maxByteLength: LARGEST });
    this.#cells = new Int32Array(this.#memory, 0, HEAD / 4);
  }

  get memory() {
    return this.#memory;
  }

  // parts: lists of pieces, by name. The one before must be done.
  give(parts, stay) {
    const sizes = NAMES.map((name) => sizeOf(parts[name]));
    const n = sizes.reduce((sum, size) => sum + size, HEAD);
    if (n > this.#memory.byteLength) {
      this.#memory.grow(n);
    }
    const bytes = new Uint8Array(this.#memory);
    let at = HEAD;
    for (const piece of NAMES.flatMap((name) => parts[name])) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#cells.set([stay ? 1 : 0, ...sizes], STAY);
    Atomics.add(this.#cells, GIVEN, 1);
    Atomics.notify(this.#cells, GIVEN);
  }

  // Waits for the next; the parts are copies.
  take() {
    const done = Atomics.load(this.#cells, DONE);
    Atomics.wait(this.#cells, GIVEN, done);
    const bytes = new Uint8Array(this.#memory);
    const job = { stay: this.#cells[STAY] === 1 };
    let at = HEAD;
    NAMES.forEach((name, i) => {
      const end = at + this.#cells[LENGTHS + i];
      job[name] = bytes.slice(at, end);
      at = end;
    });
    return job;
  }

  // What was taken is done: another may be given.
  done() {
    Atomics.add(this.#cells, DONE, 1);
    Atomics.notify(this.#cells, DONE);
  }

  // Waits until what was given is done.
  wait() {
    const given = Atomics.load(this.#cells, GIVEN);
    Atomics.wait(this.#cells, DONE, given - 1);
  }
}
