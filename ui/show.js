// show.js: what came of a call. All of it was written by a program that may
// be hostile: it becomes text, never markup, and pictures are PNG or nothing.
// SPDX-License-Identifier: Apache-2.0
import { asFigure } from './answer.js';

// So much of a text is laid out at once, and more when it is asked for.
const SHOWN_AT_ONCE = 60000;
const LIVE_MAX = 20000;

// An element with attributes and children; strings become text.
export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes))
		if (name === 'onclick')
			element.addEventListener('click', value);
		else
			element.setAttribute(name, value);
	element.append(...children.filter(child => child !== null));
	return element;
}

function grouped(number) {
	return number.toLocaleString('en');
}

export function sizeText(bytes) {
	if (bytes < 1024)
		return `${bytes} B`;
	if (bytes < 1024 * 1024)
		return `${(bytes / 1024).toFixed(1)} KiB`;
	return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

export function timeText(ms) {
	return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(2)} s`;
}

function section(title, kind, ...children) {
	return make('section', { class: `part ${kind}` },
		make('h2', {}, title), ...children);
}

// ---- text ----

// Where to cut so that no character is torn.
function cutAt(text, at) {
	const unit = text.charCodeAt(at - 1);
	return at < text.length && unit >= 0xd800 && unit < 0xdc00 ? at - 1 : at;
}

function textBlock(text, label) {
	const pre = make('pre',
		{ tabindex: '0', role: 'group', 'aria-label': label });
	const box = make('div', {}, pre);
	let at = 0;
	const more = make('button', { type: 'button', class: 'small',
		onclick: step });
	function step() {
		const end = cutAt(text, Math.min(at + SHOWN_AT_ONCE, text.length));
		pre.append(document.createTextNode(text.slice(at, end)));
		at = end;
		more.textContent = `Show more: ${grouped(at)} of ` +
			`${grouped(text.length)} characters are shown`;
		if (at >= text.length)
			more.remove();
		else
			box.append(more);
	}
	step();
	return box;
}

// Output of a program that still runs: its end is kept in view.
export function liveView(into) {
	const node = document.createTextNode('');
	const pre = make('pre', {}, node);
	let text = '';
	return more => {
		if (!text)
			into.replaceChildren(
				section('Output so far', 'stdout', pre));
		text = (text + more).slice(-LIVE_MAX);
		node.data = text;
		pre.scrollTop = pre.scrollHeight;
	};
}

// ---- figures ----

let urls = [];

function objectUrl(blob) {
	const url = URL.createObjectURL(blob);
	urls.push(url);
	return url;
}

function figureOf(figure, number) {
	const name = `figure-${number}.png`;
	const url = objectUrl(new Blob([figure.bytes], { type: 'image/png' }));
	const size = `${figure.width} × ${figure.height}`;
	return make('figure', {},
		make('img', { src: url, width: figure.width,
			height: figure.height,
			alt: `Figure ${number}, ${size} pixels` }),
		make('figcaption', {}, `Figure ${number}, ${size} `,
			make('a', { href: url, download: name }, 'Save')));
}

async function showLinked(box, uri, number, tools) {
	try {
		const parts = await tools.read(uri);
		const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
		const figure = asFigure(bytes);
		box.replaceWith(figure ? figureOf(figure, number)
			: make('p', {}, `Figure ${number} is no PNG.`));
	} catch (error) {
		box.textContent = `Figure ${number}: ${error.message}`;
	}
}

function figures(answer, tools) {
	const shown = answer.figures.map((figure, i) => {
		if (figure.bytes)
			return figureOf(figure, i + 1);
		const box = make('p', { class: 'faint' }, 'fetching a figure');
		showLinked(box, figure.uri, i + 1, tools);
		return box;
	});
	return shown.length ? section('Figures', 'figures', ...shown) : null;
}

// ---- files ----

// What a file system, or a reader, would stumble over in a name.
const AWKWARD = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"*:<>?\\|]/gu;

function plainName(name) {
	return name.split('/').pop().replace(AWKWARD, '_') || 'file';
}

async function save(button, uri, name, tools) {
	const label = button.textContent;
	button.disabled = true;
	try {
		const parts = await tools.read(uri, (had, all) => {
			button.textContent =
				`${Math.floor(100 * had / (all || 1))} %`;
		});
		const url = URL.createObjectURL(new Blob(parts));
		make('a', { href: url, download: plainName(name) }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
		button.textContent = label;
	} catch (error) {
		button.textContent = `${label}: ${error.message}`;
	}
	button.disabled = false;
}

function saveButton(label, uri, name, tools) {
	const button = make('button', { type: 'button', class: 'small',
		'aria-label': `${label} ${name}`,
		onclick: () => save(button, uri, name, tools) }, label);
	return button;
}

function files(answer, tools) {
	const rows = answer.files.map(file => make('li', {},
		make('bdi', {}, file.name),
		make('span', { class: 'faint' },
			[sizeText(file.size ?? 0), file.type]
				.filter(part => part).join(', ')),
		file.uri ? saveButton('Download', file.uri, file.name, tools)
			: make('span', { class: 'faint' }, 'not kept')));
	return rows.length
		? section('Files', 'files', make('ul', {}, ...rows)) : null;
}

// ---- the whole ----

const OUTCOMES = {
	ok: 'done',
	raised: 'ended with an error',
	timeout: 'timed out',
	memory: 'stopped at the memory limit',
	killed: 'was ended',
	room_lost: 'the room was lost',
	refused: 'was refused',
};

export function outcomeOf(answer) {
	if (answer.timed_out)
		return 'timeout';
	return answer.outcome ?? (answer.failed ? 'raised' : 'ok');
}

export function statusText(answer) {
	const outcome = outcomeOf(answer);
	const words = OUTCOMES[outcome] ?? outcome;
	const time = answer.duration_ms === undefined ? ''
		: ` after ${timeText(answer.duration_ms)}`;
	return words[0].toUpperCase() + words.slice(1) + time;
}

function usage(answer) {
	const rows = [
		['Exit code', answer.exit_code],
		['Ran', answer.duration_ms, timeText],
		['Waited before', answer.queued_ms, timeText],
		['Memory at most', answer.memory_peak_bytes, sizeText],
		['Room', answer.room],
		['Session', answer.session],
	].filter(([, value]) => value !== undefined && value !== null);
	const list = rows.flatMap(([name, value, show = String]) =>
		[make('dt', {}, name), make('dd', {}, show(value))]);
	return rows.length
		? section('Usage', 'usage', make('dl', {}, ...list)) : null;
}

function stream(answer, name, title, tools) {
	const text = answer[name];
	const uri = answer[`${name}_uri`];
	if (!text)
		return null;
	return section(title, name, textBlock(text, title),
		answer.truncated && uri
			? saveButton('Download all of', uri, `${name}.txt`, tools)
			: null);
}

// Shows the answer in place of what was there. tools.read(uri, onPart) reads a
// resource.
export function showAnswer(into, answer, tools) {
	urls.forEach(url => URL.revokeObjectURL(url));
	urls = [];
	const hints = answer.hints.map(hint => make('li', {}, hint));
	const parts = [
		stream(answer, 'stdout', 'Output', tools),
		answer.value ? section('Value', 'value',
			textBlock(answer.value, 'Value')) : null,
		stream(answer, 'stderr', 'Errors and warnings', tools),
		hints.length ? section('Hints', 'hints',
			make('ul', {}, ...hints)) : null,
		figures(answer, tools),
		files(answer, tools),
	].filter(part => part);
	if (!parts.length)
		parts.push(make('p', { class: 'faint' }, 'It printed nothing.'));
	into.replaceChildren(...parts, usage(answer) ?? '');
}
