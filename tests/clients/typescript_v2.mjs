// The TypeScript SDK, version 2, in any of its ways to find the revision.
// SPDX-License-Identifier: Apache-2.0
import { drive, packages, task } from './steps.mjs';

const { Client, StreamableHTTPClientTransport } =
	packages('@modelcontextprotocol/client');
const { StdioClientTransport } = packages('@modelcontextprotocol/client/stdio');

function transport() {
	if (task.command)
		return new StdioClientTransport({
			command: task.command[0], args: task.command.slice(1),
			env: process.env, stderr: 'inherit',
		});
	return new StreamableHTTPClientTransport(new URL(task.url), {
		requestInit: { headers: task.headers },
	});
}

function negotiation() {
	if (task.mode === undefined)
		return {};
	const known = ['legacy', 'auto'].includes(task.mode);
	return { versionNegotiation: {
		mode: known ? task.mode : { pin: task.mode } } };
}

async function connect() {
	const client = new Client({ name: 'tests', version: '1' },
				  negotiation());
	await client.connect(transport());
	return { client, revision: () => client.getNegotiatedProtocolVersion(),
		 close: () => client.close() };
}

await drive(connect, (client, name, args, options) =>
	client.callTool({ name, arguments: args }, options));
