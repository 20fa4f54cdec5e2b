// mcp.js: the endpoint of the server that gave out this page, spoken to as any
// client does: POST /mcp, each request on its own, in revision 2026-07-28.
// SPDX-License-Identifier: Apache-2.0

const REVISION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const NAMED = { 'tools/call': 'name', 'resources/read': 'uri' };
const RANGE = 'breakroom/range';

let next = 1;

// What the server answered in place of a result.
export class Refused extends Error {
	constructor(status, text, code) {
		super(text);
		this.status = status;
		this.code = code;
	}
}

// A value of the body as a header repeats it.
function headerValue(text) {
	if (/^[!-~]+( +[!-~]+)*$/.test(text) && !text.startsWith('=?'))
		return text;
	const bytes = new TextEncoder().encode(text);
	return `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
}

function headersOf(method, params, token) {
	const headers = {
		'Content-Type': 'application/json',
		'Accept': 'application/json, text/event-stream',
		'MCP-Protocol-Version': REVISION,
		'Mcp-Method': method,
	};
	if (NAMED[method])
		headers['Mcp-Name'] = headerValue(params[NAMED[method]]);
	if (token)
		headers.Authorization = `Bearer ${token}`;
	return headers;
}

// Each message of a stream of events, as it comes.
async function* events(response) {
	const reader = response.body.pipeThrough(
		new TextDecoderStream()).getReader();
	let pieces = [];
	for (;;) {
		const { done, value } = await reader.read();
		if (done)
			return;
		if (!value.includes('\n\n') &&
		    !(value.startsWith('\n') && pieces.length)) {
			pieces.push(value);
			continue;
		}
		const parts = (pieces.join('') + value).split('\n\n');
		pieces = [parts.pop()];
		for (const part of parts) {
			const data = part.split('\n')
				.filter(line => line.startsWith('data:'))
				.map(line => line.slice(5).trimStart());
			if (data.length)
				yield JSON.parse(data.join('\n'));
		}
	}
}

// The answer to request id; everything before it goes to onNote.
async function answerOf(response, id, onNote) {
	const type = response.headers.get('Content-Type') ?? '';
	if (!type.startsWith('text/event-stream'))
		return response.json();
	for await (const message of events(response)) {
		if (message.id === id)
			return message;
		onNote?.(message);
	}
	throw new Refused(response.status, 'the answer was cut off');
}

// One request. how: token; signal, which gives it up; onNote(message), which
// asks for reports of progress; meta.
export async function request(method, params = {}, how = {}) {
	const id = next++;
	const meta = {
		[`${PREFIX}protocolVersion`]: REVISION,
		[`${PREFIX}clientCapabilities`]: {},
		[`${PREFIX}clientInfo`]: { name: 'breakroom-ui', version: '1' },
		...how.meta,
	};
	if (how.onNote)
		meta.progressToken = id;
	const response = await fetch('/mcp', {
		method: 'POST',
		headers: headersOf(method, params, how.token),
		body: JSON.stringify({ jsonrpc: '2.0', id, method,
			params: { ...params, _meta: meta } }),
		signal: how.signal,
		cache: 'no-store',
		credentials: 'omit',
		redirect: 'error',
	});
	let message;
	try {
		message = await answerOf(response, id, how.onNote);
	} catch (error) {
		if (response.ok || error.name === 'AbortError')
			throw error;
		message = {};
	}
	if (!response.ok || message.error)
		throw new Refused(response.status,
			message.error?.message ?? `status ${response.status}`,
			message.error?.code);
	return message.result;
}

export function bytesOf(base64) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64);
	const text = atob(base64);
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

// A resource as a list of pieces of bytes, however long it is: what does not
// fit one message says where it goes on. onPart(bytes so far, of all).
export async function readResource(uri, how = {}, onPart = () => {}) {
	const parts = [];
	let had = 0;
	for (let at = uri; at;) {
		const result = await request('resources/read', { uri: at }, how);
		const content = result.contents[0];
		const part = content.blob === undefined
			? new TextEncoder().encode(content.text)
			: bytesOf(content.blob);
		const range = content._meta?.[RANGE];
		parts.push(part);
		had += part.length;
		onPart(had, range?.size ?? had);
		if (range?.next && part.length === 0)
			throw new Refused(200, 'the server sent an empty part');
		at = range?.next;
	}
	return parts;
}
