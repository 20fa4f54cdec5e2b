// files.mjs: the files of a job, in Pyodide's file tree in memory.
//
// What is listed was made by the program: names and bytes are read from the
// tree itself, without asking its Python.
// SPDX-License-Identifier: Apache-2.0

const NOSPC = 51;

const decoder = new TextDecoder();

// Yields [name, bytes] of files as they travel: two lengths, name, bytes.
export function* unpack(files) {
  const view = new DataView(files.buffer, files.byteOffset, files.length);
  for (let at = 0; at < files.length;) {
    const nameN = view.getUint32(at, true);
    const bytesN = view.getUint32(at + 4, true);
    at += 8;
    const name = decoder.decode(files.subarray(at, at + nameN));
    at += nameN;
    yield [name, files.subarray(at, at + bytesN)];
    at += bytesN;
  }
}

function same(one, other) {
  return one.length === other.length &&
    one.every((byte, at) => byte === other[at]);
}

export class Tree {
  #fs;
  #top;
  #limit;
  // Bytes that were added since they were last counted, and those then.
  #grown = 0;
  #counted = 0;
  // Files as a job found them, by name: their node, times, size and bytes.
  #before = new Map();

  constructor(fs, top, limit) {
    this.#fs = fs;
    this.#top = top;
    this.#limit = limit;
    fs.mkdirTree(top);
  }

  // Bytes in a node and below it, of files that a program can have written.
  #bytesBelow(node) {
    if (this.#fs.isFile(node.mode)) {
      return node.usedBytes ?? 0;
    }
    if (!this.#fs.isDir(node.mode) || !node.contents) {
      return 0;
    }
    let sum = 0;
    for (const child of Object.values(node.contents)) {
      sum += this.#bytesBelow(child);
    }
    return sum;
  }

  // Refuses what would make the files too large.
  #grow(n) {
    this.#grown += n;
    if (this.#counted + this.#grown <= this.#limit) {
      return;
    }
    this.#counted = this.#bytesBelow(this.#fs.root);
    this.#grown = n;
    if (this.#counted + n > this.#limit) {
      throw new this.#fs.ErrnoError(NOSPC);
    }
  }

  // From now on files have no more bytes than the limit allows, beside what
  // the interpreter itself has there.
  bound(memfs) {
    const tree = this;
    const stream = memfs.ops_table.file.stream;
    const writing = stream.write;
    const resizing = memfs.resizeFileStorage;
    this.#limit += this.#counted = this.#bytesBelow(this.#fs.root);
    stream.write = function (file, buffer, offset, length, position, own) {
      const more = position + length - file.node.usedBytes;
      if (more > 0) {
        tree.#grow(more);
      }
      return writing(file, buffer, offset, length, position, own);
    };
    memfs.resizeFileStorage = function (node, size) {
      if (size > node.usedBytes) {
        tree.#grow(size - node.usedBytes);
      }
      return resizing.call(memfs, node, size);
    };
  }

  // Puts a job's files there.
  put(files) {
    for (const [name, bytes] of unpack(files)) {
      const path = `${this.#top}/${name}`;
      this.#fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      this.#fs.writeFile(path, bytes);
    }
  }

  *#walk(folder, prefix) {
    const names = Object.keys(folder.contents).sort();
    for (const name of names) {
      const node = folder.contents[name];
      if (this.#fs.isFile(node.mode)) {
        yield [prefix + name, node];
      } else if (this.#fs.isDir(node.mode) && node.contents) {
        yield* this.#walk(node, `${prefix}${name}/`);
      }
    }
  }

  *#all() {
    let node;
    try {
      node = this.#fs.lookupPath(this.#top).node;
    } catch {
      // The program removed it.
      return;
    }
    if (this.#fs.isDir(node.mode)) {
      yield* this.#walk(node, "");
    }
  }

  #bytes(node) {
    const contents = node.contents;
    return contents ? contents.subarray(0, node.usedBytes) : new Uint8Array(0);
  }

  // Remembers what is there.
  note() {
    this.#before.clear();
    for (const [name, node] of this.#all()) {
      this.#before.set(name, {
        node,
        time: Number(node.mtime),
        bytes: this.#bytes(node).slice(),
      });
    }
  }

  // Yields [name, size, bytes] of what is new or changed; bytes are null where
  // they are more than what is left.
  *changed(mostFiles, mostBytes) {
    let count = 0;
    let left = mostBytes;
    for (const [name, node] of this.#all()) {
      const bytes = this.#bytes(node);
      const before = this.#before.get(name);
      if (
        before && before.node === node && before.time === Number(node.mtime) &&
        same(before.bytes, bytes)
      ) {
        continue;
      }
      if (++count > mostFiles) {
        return;
      }
      const fits = bytes.length <= left;
      left -= fits ? bytes.length : 0;
      yield [name, bytes.length, fits ? bytes : null];
    }
  }
}
