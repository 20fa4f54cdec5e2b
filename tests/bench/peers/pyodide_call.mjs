// Runs the Python on standard input in Pyodide, from the folder named.
// SPDX-License-Identifier: Apache-2.0
const folder = Deno.args[0];
const { loadPyodide } = await import(`file://${folder}/pyodide.mjs`);
const code = await new Response(Deno.stdin.readable).text();
const python = await loadPyodide({ indexURL: folder + "/" });
python.runPython(code);
