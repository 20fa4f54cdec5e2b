// edit.js: a textarea for Python: lines have numbers, Tab indents, Enter keeps
// the indentation. After Escape, Tab goes on to the next control as everywhere.
// SPDX-License-Identifier: Apache-2.0

const INDENT = '    ';

// Replaces the selection in a way that the browser can undo.
function insert(area, text) {
	const done = text
		? document.execCommand('insertText', false, text)
		: document.execCommand('delete');
	if (!done) {
		area.setRangeText(text, area.selectionStart,
			area.selectionEnd, 'end');
		area.dispatchEvent(new Event('input', { bubbles: true }));
	}
}

function lineStart(text, at) {
	return text.lastIndexOf('\n', at - 1) + 1;
}

// Moves all selected lines in or out.
function shiftLines(area, out) {
	const from = lineStart(area.value, area.selectionStart);
	const old = area.value.slice(from, area.selectionEnd);
	const shifted = out ? old.replace(/^ {1,4}/gm, '')
		: old.replace(/^(?=.)/gm, INDENT);
	if (shifted === old)
		return;
	area.setSelectionRange(from, area.selectionEnd);
	insert(area, shifted);
	area.setSelectionRange(from, from + shifted.length);
}

function indent(area, out) {
	const chosen = area.value.slice(area.selectionStart, area.selectionEnd);
	if (out || chosen.includes('\n')) {
		shiftLines(area, out);
		return;
	}
	const column = area.selectionStart -
		lineStart(area.value, area.selectionStart);
	insert(area, INDENT.slice(column % INDENT.length));
}

function newLine(area) {
	const at = area.selectionStart;
	const line = area.value.slice(lineStart(area.value, at), at);
	const lead = /^[ \t]*/.exec(line)[0];
	insert(area, `\n${lead}${/:\s*$/.test(line) ? INDENT : ''}`);
}

function showNumbers(area, gutter) {
	const lines = area.value.split('\n').length;
	if (Number(gutter.dataset.lines) === lines)
		return;
	gutter.dataset.lines = lines;
	gutter.textContent =
		Array.from({ length: lines }, (_, i) => i + 1).join('\n');
}

// Makes an editor of area; gutter takes the numbers of its lines.
export function makeEditor(area, gutter) {
	let leaves = false; // the next Tab leaves
	area.addEventListener('keydown', event => {
		const plain = !event.ctrlKey && !event.metaKey &&
			!event.altKey && !event.isComposing;
		if (event.key === 'Escape') {
			leaves = true;
		} else if (event.key === 'Tab' && plain && !leaves) {
			event.preventDefault();
			indent(area, event.shiftKey);
		} else if (event.key === 'Enter' && plain && !event.shiftKey) {
			event.preventDefault();
			newLine(area);
		} else if (event.key !== 'Tab' && event.key !== 'Shift') {
			leaves = false;
		}
	});
	area.addEventListener('blur', () => { leaves = false; });
	area.addEventListener('input', () => showNumbers(area, gutter));
	area.addEventListener('scroll', () => {
		gutter.scrollTop = area.scrollTop;
	});
	return {
		set(text) {
			area.value = text;
			area.scrollTop = 0;
			area.setSelectionRange(0, 0);
			showNumbers(area, gutter);
		},
	};
}
