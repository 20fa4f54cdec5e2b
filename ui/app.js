// app.js: the page's controls: what is sent, and when.
// SPDX-License-Identifier: Apache-2.0
import { readAnswer } from './answer.js';
import { makeEditor } from './edit.js';
import { examples } from './examples.js';
import { readResource, Refused, request } from './mcp.js';
import { liveView, make, outcomeOf, showAnswer, sizeText, statusText, timeText }
	from './show.js';

const TOOL = 'run_python';
const TICK_MS = 200;
const LARGE = 1024 * 1024; // a server may hang up on more, without a word
// Asks for structured content, also where files would go without.
const STRUCTURED = { 'breakroom/structured': true };
// What a report of progress says when there is no output.
const SIGN_OF_LIFE = /^\d+ s so far$/;

const at = id => document.getElementById(id);
const editor = makeEditor(at('code'), at('gutter'));

const state = {
	token: '',      // in memory only
	properties: {}, // that the tool takes
	given: new Map(),
	session: null,  // the id of the one that goes on
	running: null,  // an AbortController
};

// ---- the status line ----

function say(kind, text) {
	at('status').className = kind;
	at('status').textContent = text;
}

function explain(error) {
	if (error instanceof Refused)
		return `The server refused: ${error.message}`;
	const bytes = [...state.given.values()]
		.reduce((sum, file) => sum + file.size, 0);
	return `The server does not answer: ${error.message}` +
		(bytes > LARGE ? '. Are the files that it was given too large?' : '');
}

// Shows what failed; a token that is missing is asked for.
function fail(error) {
	const asked = error instanceof Refused && error.status === 401;
	at('access').hidden = !asked && at('access').hidden;
	if (asked) {
		at('server').textContent = 'a token is needed';
		at('token').focus();
	}
	say('bad', explain(error));
}

// ---- what the server has ----

function showRooms(tool) {
	const rooms = tool.inputSchema.properties.room?.enum ??
		tool._meta?.['breakroom/rooms'] ?? [];
	at('room').replaceChildren(...rooms.map(room =>
		make('option', { value: room }, room)));
	at('room-label').hidden = rooms.length === 0;
}

function showTool(tool) {
	const { session, files, timeout_s: limit } = tool.inputSchema.properties;
	state.properties = tool.inputSchema.properties;
	showRooms(tool);
	at('session-label').hidden = !session;
	at('given-box').hidden = !files;
	if (limit?.maximum)
		at('timeout').max = limit.maximum;
	at('description').textContent = tool.description;
	at('about').hidden = false;
}

async function connect() {
	const how = { token: state.token };
	try {
		const found = await request('server/discover', {}, how);
		const info = found._meta?.['io.modelcontextprotocol/serverInfo'] ??
			found.serverInfo ?? {};
		const { tools } = await request('tools/list', {}, how);
		showTool(tools.find(tool => tool.name === TOOL));
		at('server').textContent = `version ${info.version ?? 'unknown'}`;
		at('access').hidden = true;
		return true;
	} catch (error) {
		fail(error);
		return false;
	}
}

at('access').addEventListener('submit', async event => {
	event.preventDefault();
	state.token = at('token').value.trim();
	at('token').value = '';
	if (await connect()) {
		say('', 'Ready.');
		at('code').focus();
	}
});

// ---- files that are given ----

function showGiven() {
	at('given-list').replaceChildren(...[...state.given].map(([name, file]) =>
		make('li', {}, make('bdi', {}, name),
			make('span', { class: 'faint' }, sizeText(file.size)),
			make('button', { type: 'button', class: 'small',
				'aria-label': `Remove ${name}`,
				onclick: () => {
					state.given.delete(name);
					showGiven();
					at('given').focus();
				} }, 'Remove'))));
}

at('given').addEventListener('change', () => {
	for (const file of at('given').files)
		state.given.set(file.name, file);
	at('given').value = '';
	showGiven();
});

function base64Of(file) {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(reader.result.split(',')[1] ?? '');
		reader.onerror = () => reject(reader.error);
		reader.readAsDataURL(file);
	});
}

// ---- a call ----

async function argumentsOf() {
	const args = { code: at('code').value };
	const limit = at('timeout').valueAsNumber;
	if (limit > 0)
		args.timeout_s = limit;
	if (at('stdin').value)
		args.stdin = at('stdin').value;
	if (state.properties.room && at('room').value)
		args.room = at('room').value;
	if (state.properties.session && at('session').checked)
		args.session = state.session ?? 'new';
	if (state.given.size) {
		args.files = {};
		for (const [name, file] of state.given)
			args.files[name] = { base64: await base64Of(file) };
	}
	return args;
}

function setRunning(running) {
	state.running = running;
	// Not "disabled": whoever stands on one keeps their place.
	at('run').ariaDisabled = running !== null;
	at('cancel').ariaDisabled = running === null;
	document.body.classList.toggle('running', running !== null);
}

// Says how long it has run, until it is told to stop.
function clock() {
	const began = performance.now();
	const tick = () => say('running', 'Running for ' +
		`${((performance.now() - began) / 1000).toFixed(1)} s`);
	say('running', 'Running');
	const timer = setInterval(tick, TICK_MS);
	return () => {
		clearInterval(timer);
		return Math.round(performance.now() - began);
	};
}

function keepSession(args, answer) {
	if (!args.session)
		return;
	state.session = answer.session ?? null;
	at('anew').hidden = !state.session;
}

const reading = {
	read: (uri, onPart) => readResource(uri, { token: state.token }, onPart),
};

async function call(signal) {
	const args = await argumentsOf();
	const live = liveView(at('shown'));
	const how = { token: state.token, signal, meta: STRUCTURED,
		onNote: note => {
			const text = note.params?.message;
			if (typeof text === 'string' && !SIGN_OF_LIFE.test(text))
				live(text);
		} };
	at('shown').replaceChildren();
	const result = await request('tools/call',
		{ name: TOOL, arguments: args }, how);
	const answer = readAnswer(result);
	keepSession(args, answer);
	showAnswer(at('shown'), answer, reading);
	return answer;
}

function reveal() {
	if (matchMedia('(max-width: 52rem)').matches)
		at('results').scrollIntoView({ behavior:
			matchMedia('(prefers-reduced-motion: reduce)').matches
				? 'auto' : 'smooth' });
}

async function run() {
	if (state.running)
		return;
	const giveUp = new AbortController();
	const stop = clock();
	setRunning(giveUp);
	reveal();
	try {
		const answer = await call(giveUp.signal);
		stop();
		reveal();
		say(answer.failed ? 'bad' : 'good', statusText(answer));
		at('status').dataset.outcome = outcomeOf(answer);
	} catch (error) {
		const ms = stop();
		if (error.name === 'AbortError')
			say('', `Cancelled after ${timeText(ms)}`);
		else
			fail(error);
	}
	setRunning(null);
}

// ---- controls ----

at('run').addEventListener('click', run);
at('cancel').addEventListener('click', () => {
	if (!state.running)
		return;
	state.running.abort();
	at('run').focus();
});
at('anew').addEventListener('click', () => {
	state.session = null;
	at('anew').hidden = true;
	at('code').focus();
});
at('session').addEventListener('change', () => {
	state.session = null;
	at('anew').hidden = true;
});
document.addEventListener('keydown', event => {
	if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) &&
	    !event.isComposing) {
		event.preventDefault();
		run();
	}
});

function choose(example) {
	editor.set(example.code);
	at('stdin').value = example.stdin ?? '';
	at('stdin-box').open = Boolean(example.stdin);
	at('timeout').value = example.timeout ?? '';
}

at('example').append(...examples.map((example, i) =>
	make('option', { value: i }, example.name)));
at('example').addEventListener('change', () => {
	const example = examples[at('example').value];
	if (example)
		choose(example);
});
choose(examples[0]);
connect();
