// The TypeScript SDK, version 2, in any of its ways to find the revision.
// SPDX-License-Identifier: Apache-2.0
import { drive, packages, task, transport } from './steps.mjs';

const { Client, StreamableHTTPClientTransport } =
	packages('@modelcontextprotocol/client');
const { StdioClientTransport } = packages('@modelcontextprotocol/client/stdio');

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
	await client.connect(transport(StdioClientTransport,
				       StreamableHTTPClientTransport));
	return { client, revision: () => client.getNegotiatedProtocolVersion(),
		 close: () => client.close() };
}

await drive(connect, (client, name, args, options) =>
	client.callTool({ name, arguments: args }, options));
