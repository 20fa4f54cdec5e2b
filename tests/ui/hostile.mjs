// An answer in which every field tries to be more than text.
// SPDX-License-Identifier: Apache-2.0

export const MARK = '<img src=x onerror="window.hacked=1">' +
	'<script>window.hacked=2</script><svg onload="window.hacked=3">' +
	'</pre><iframe srcdoc="<script>top.hacked=4</script>"></iframe>' +
	'<a href="javascript:window.hacked=5">a</a>\u202e\u0000';

const FIELDS = {
	stdout: MARK, stderr: MARK, value: MARK, hints: [MARK, MARK],
	room: MARK, session: MARK, exit_code: MARK, outcome: MARK,
	stdout_uri: 'javascript:window.hacked=6', truncated: true,
	duration_ms: 1, queued_ms: 0, memory_peak_bytes: 1, timed_out: false,
	files: [
		{ name: MARK, size: 1, type: MARK,
			uri: 'javascript:window.hacked=7' },
		{ name: '../../etc/passwd', size: 1, uri: 'http://127.0.0.1:9/' },
	],
};

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=8"/>';

export const hostileAnswer = {
	resultType: 'complete',
	isError: false,
	structuredContent: FIELDS,
	content: [
		{ type: 'text', text: MARK },
		{ type: 'image', mimeType: 'image/svg+xml',
			data: Buffer.from(SVG).toString('base64') },
		{ type: 'image', mimeType: 'text/html',
			data: Buffer.from(MARK).toString('base64') },
		{ type: 'resource_link', name: MARK,
			uri: 'javascript:window.hacked=9' },
	],
};
