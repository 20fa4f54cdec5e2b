// The TypeScript SDK, version 1: the client that most products have today.
// SPDX-License-Identifier: Apache-2.0
import { drive, packages, transport } from './steps.mjs';

const { Client } = packages('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } =
	packages('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } =
	packages('@modelcontextprotocol/sdk/client/streamableHttp.js');

async function connect() {
	const client = new Client({ name: 'tests', version: '1' });
	const way = transport(StdioClientTransport,
			      StreamableHTTPClientTransport);
	let revision;
	const told = way.setProtocolVersion?.bind(way);
	way.setProtocolVersion = (version) => {
		revision = version;
		told?.(version);
	};
	await client.connect(way);
	return { client, revision: () => revision,
		 close: () => client.close() };
}

await drive(connect, (client, name, args, options) =>
	client.callTool({ name, arguments: args }, undefined, options));
