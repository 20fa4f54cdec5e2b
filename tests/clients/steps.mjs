// The steps that each TypeScript client goes through, one JSON line each.
// SPDX-License-Identifier: Apache-2.0
import { createRequire } from 'node:module';

// What the task says: where the server is, how to speak, and which steps.
export const task = JSON.parse(process.argv[2]);
export const packages = createRequire(`${task.packages}/package.json`);

const GIVE_UP_MS = 500;
const NAME = task.tool ?? 'run_python';

// The way to the server, by the classes of one version of the SDK.
export function transport(Stdio, Http) {
	if (task.command)
		return new Stdio({
			command: task.command[0], args: task.command.slice(1),
			env: process.env, stderr: 'inherit',
		});
	return new Http(new URL(task.url), {
		requestInit: { headers: task.headers },
	});
}

function say(step, what) {
	process.stdout.write(JSON.stringify({ step, ...what }) + '\n');
}

function outcome(result) {
	return {
		isError: result.isError ?? false,
		structured: result.structuredContent,
		content: result.content,
	};
}

function failure(error) {
	return { failure: { code: error.code ?? null, name: error.name,
			    message: String(error.message) } };
}

async function attempt(promise) {
	try {
		return outcome(await promise);
	} catch (error) {
		return failure(error);
	}
}

// connect() gives { client, revision, close }; request(client, name,
// arguments, options) calls a tool.
export async function drive(connect, request) {
	let link = await connect();
	const call = (code, options = {}, more = {}) =>
		request(link.client, NAME, { code, ...more }, options);
	// A client without a session can only hang up on a call.
	const again = async () => {
		if (!task.reconnect)
			return;
		await link.close();
		link = await connect();
	};
	const steps = {
		list: async () => ({
			revision: link.revision(),
			tools: (await link.client.listTools()).tools.map(
				(tool) => tool.name),
		}),
		call: () => attempt(call('print(6*7)')),
		image: () => attempt(request(link.client, 'test_image_content',
					     {}, {})),
		error: () => attempt(call('1/0')),
		unknown: () => attempt(request(link.client, 'no_such_tool', {},
					       {})),
		limit: () => attempt(call("print('x', flush=True)\n" +
					  'while True: pass', {},
					  { timeout_s: 0.5 })),
		progress: async () => {
			const notes = [];
			const result = await attempt(call(
				'import time; time.sleep(2.5)\nprint("done")',
				{ onprogress: (note) => notes.push(note) }));
			return { ...result, notes };
		},
		timeout: async () => {
			const gone = await attempt(call(
				'while True: pass', { timeout: GIVE_UP_MS }));
			await again();
			return { ...gone, next: await next() };
		},
		cancel: async () => {
			const stop = new AbortController();
			setTimeout(() => stop.abort(), GIVE_UP_MS);
			const gone = await attempt(call(
				'import time; time.sleep(60)',
				{ signal: stop.signal }));
			await again();
			return { ...gone, next: await next() };
		},
	};
	async function next() {
		const began = performance.now();
		const result = await attempt(call('print("on")'));
		return { ...result, ms: performance.now() - began };
	}
	for (const step of task.steps)
		say(step, await steps[step]());
	await link.close();
}
