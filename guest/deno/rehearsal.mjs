// rehearsal.mjs: what is run before the first job, seen by nobody.
//
// What it passes through is compiled when it is executed first, and a worker
// executes one job.
// SPDX-License-Identifier: Apache-2.0

export const TIMES = 5;
export const PROGRAM = new TextEncoder().encode(`
x = [i * i for i in range(9)]
print("a", x, f"{x[2]:.2f}")
x[-1]
`);
