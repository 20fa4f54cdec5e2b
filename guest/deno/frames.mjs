// frames.mjs: what travels between the runner and its proxy.
//
// A frame is a header of eight bytes (the payload's length, little-endian, in
// four; the type; three zeroes) and the payload.
// SPDX-License-Identifier: Apache-2.0

export const HEADER = 8;
// No frame's payload is longer, either way.
export const LONGEST = 1 << 20;

const encoder = new TextEncoder();

export function bytesOf(text) {
  return encoder.encode(text);
}

// Writes whole frames to a file; to be used by one thread alone.
export class FrameWriter {
  // Small frames are put together, so that each is one write.
  #small = new Uint8Array(1 << 14);
  #file;
  // What is written is then seen by nobody.
  silent = false;

  constructor(file) {
    this.#file = file;
  }

  #write(bytes) {
    if (this.silent) {
      this.#file.writeSync(bytes.subarray(0, 0));
      return;
    }
    for (let at = 0; at < bytes.length;) {
      at += this.#file.writeSync(bytes.subarray(at));
    }
  }

  // One frame: the payload is at most LONGEST.
  whole(type, payload) {
    const n = payload.length;
    const all = HEADER + n <= this.#small.length
      ? this.#small.subarray(0, HEADER + n)
      : new Uint8Array(HEADER + n);
    new DataView(all.buffer).setUint32(0, n, true);
    all[4] = type.charCodeAt(0);
    all.fill(0, 5, HEADER);
    all.set(payload, HEADER);
    this.#write(all);
  }

  // As many frames as it takes.
  pieces(type, bytes) {
    for (let at = 0; at < bytes.length; at += LONGEST) {
      this.whole(type, bytes.subarray(at, at + LONGEST));
    }
  }
}

// Reads frames from a file; one that is null is its end.
export class FrameReader {
  #held = new Uint8Array(1 << 16);
  #from = 0;
  #to = 0;
  #file;

  constructor(file) {
    this.#file = file;
  }

  #makeRoom(n) {
    const left = this.#held.subarray(this.#from, this.#to);
    if (n > this.#held.length) {
      const larger = new Uint8Array(Math.max(n, 2 * this.#held.length));
      larger.set(left);
      this.#held = larger;
    } else {
      this.#held.copyWithin(0, this.#from, this.#to);
    }
    this.#to -= this.#from;
    this.#from = 0;
  }

  // Where more of what is read goes, for n bytes to be held.
  #space(n) {
    if (this.#from + n > this.#held.length) {
      this.#makeRoom(n);
    }
    return this.#held.subarray(this.#to);
  }

  // The next frame if all of it is held, else how many bytes have to be.
  #next() {
    const held = this.#to - this.#from;
    if (held < HEADER) {
      return { needs: HEADER };
    }
    const view = new DataView(this.#held.buffer, this.#from, HEADER);
    const n = view.getUint32(0, true);
    const type = String.fromCharCode(view.getUint8(4));
    if (n > LONGEST) {
      throw new RangeError(`a frame of ${n} bytes`);
    }
    if (held < HEADER + n) {
      return { needs: HEADER + n };
    }
    const at = this.#from + HEADER;
    this.#from = at + n;
    return { frame: { type, payload: this.#held.slice(at, at + n) } };
  }

  async take() {
    for (;;) {
      const { frame, needs } = this.#next();
      if (frame) {
        return frame;
      }
      const got = await this.#file.read(this.#space(needs));
      if (!got) {
        return null;
      }
      this.#to += got;
    }
  }

  // The same, while the thread does nothing else.
  takeNow() {
    for (;;) {
      const { frame, needs } = this.#next();
      if (frame) {
        return frame;
      }
      const got = this.#file.readSync(this.#space(needs));
      if (!got) {
        return null;
      }
      this.#to += got;
    }
  }
}
