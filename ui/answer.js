// answer.js: the result of a call, as one object, whichever of its forms the
// server chose: structured content, or text with links and small fields.
// SPDX-License-Identifier: Apache-2.0
import { bytesOf } from './mcp.js';

const META = 'breakroom/result';
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

function isStream(link) {
	return /^breakroom:\/\/call\/[0-9a-f]+\/(stdout|stderr)$/.test(link.uri);
}

// A picture is one only if its bytes say so. Its size stands at its start.
export function asFigure(bytes) {
	if (bytes.length < 24 || PNG.some((byte, i) => bytes[i] !== byte))
		return null;
	const view = new DataView(bytes.buffer, bytes.byteOffset);
	return { bytes, width: view.getUint32(16), height: view.getUint32(20) };
}

export function readAnswer(result) {
	const content = result.content ?? [];
	const structured = result.structuredContent;
	const links = content.filter(block => block.type === 'resource_link');
	const text = content.filter(block => block.type === 'text')
		.map(block => block.text).join('\n');
	const answer = { stdout: '', stderr: '', hints: [], images: [],
		...result._meta?.[META], ...structured };
	// All of it is in the text then, of which nothing tells the parts.
	if (!structured && !text.startsWith('(no output)'))
		answer.stdout = text;
	answer.failed = Boolean(result.isError);
	// Images in their order; what had no place in the message is linked.
	const apart = new Set(answer.images.map(image => image.uri));
	answer.figures = content
		.filter(block => block.type === 'image' || apart.has(block.uri))
		.map(block => block.uri ? { uri: block.uri }
			: asFigure(bytesOf(block.data)))
		.filter(figure => figure);
	answer.files ??= links
		.filter(link => !isStream(link) && !apart.has(link.uri))
		.map(({ name, size, uri, mimeType: type }) =>
			({ name, size, uri, type }));
	return answer;
}
