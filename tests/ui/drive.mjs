// Goes through the steps of a task in a headless Chromium, one JSON line each.
// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { account, finished, launch, open, run, seen, task } from './browser.mjs';
import { hostileAnswer, MARK } from './hostile.mjs';

const FIGURE = `import matplotlib.pyplot as plt
plt.figure(figsize=(4, 3), dpi=100)
plt.plot([1, 4, 9])
plt.show()`;

async function fetched(page, name) {
	const [download] = await Promise.all([
		page.waitForEvent('download'),
		page.getByRole('button', { name: `Download ${name}` }).click(),
	]);
	const bytes = await readFile(await download.path());
	return { name: download.suggestedFilename(), bytes };
}

async function shot(page, name) {
	await page.screenshot({ path: `${task.shots}/${name}.png` });
}

// Whether anything but what the page has itself came into its document.
async function strangers(page) {
	return page.evaluate(() => ({
		mark: window.hacked ?? null,
		elements: [...document.querySelectorAll(
			'#shown script, #shown iframe, #shown svg, #shown form, ' +
			'#shown img:not([src^="blob:"]), #shown a:not([href^="blob:"])')]
			.map(element => element.outerHTML),
	}));
}

async function focused(page) {
	return page.evaluate(() => document.activeElement.id ||
		document.activeElement.tagName);
}

const steps = {
	async run(browser) {
		const page = await open(browser);
		const shown = await run(page, 'x = 20\nprint("hi")\nx * 2 + 2');
		const empty = await run(page, 'x = 1');
		return { ...shown, empty: empty.status, room:
			await page.locator('#room option').allTextContents() };
	},

	async error(browser) {
		const page = await open(browser);
		return run(page, 'print("before")\n1 / 0');
	},

	async figure(browser) {
		const page = await open(browser);
		return run(page, FIGURE);
	},

	// Pictures of noise do not fit one message: they are fetched apart.
	async figures(browser) {
		const page = await open(browser);
		await run(page, `import numpy as np, matplotlib.pyplot as plt
for n in range(1, 5):
    plt.figure(figsize=(5, 2 + n), dpi=100)
    plt.imshow(np.random.default_rng(n).random((400, 500)), aspect="auto")`);
		await page.locator('.figures img').nth(3).waitFor();
		await page.waitForTimeout(200);
		return { ...await seen(page), next:
			(await run(page, 'print()')).figures };
	},

	async files(browser) {
		const page = await open(browser);
		await page.locator('#given').setInputFiles([
			{ name: 'numbers.txt', mimeType: 'text/plain',
				buffer: Buffer.from('3\n5\n') },
			{ name: 'raw ü.bin', mimeType: '',
				buffer: Buffer.from([0, 255, 1, 254]) },
		]);
		const shown = await run(page, `import pathlib
total = sum(map(int, open("numbers.txt")))
raw = pathlib.Path("raw ü.bin").read_bytes()
print(total, list(raw))
pathlib.Path("sum.csv").write_text(f"total,{total}\\n")`);
		const { name, bytes } = await fetched(page, 'sum.csv');
		await page.getByRole('button', { name: 'Remove numbers.txt' }).click();
		const after = await run(page,
			'import os; print(sorted(os.listdir(".")))');
		return { ...shown, fetched: [name, bytes.toString()],
			after: after.stdout };
	},

	// More than one message holds: it comes in parts.
	async big(browser) {
		const page = await open(browser);
		const shown = await run(page, `import hashlib, random
data = random.Random(1).randbytes(3_000_000)
open("big.bin", "wb").write(data)
print(hashlib.sha256(data).hexdigest())`);
		const { bytes } = await fetched(page, 'big.bin');
		const digest = createHash('sha256').update(bytes).digest('hex');
		return { n: bytes.length, same: shown.stdout === `${digest}\n` };
	},

	async limit(browser) {
		const page = await open(browser);
		await page.locator('#timeout').fill('0.5');
		const shown = await run(page,
			'print("begun", flush=True)\nwhile True: pass');
		await page.locator('#timeout').fill('');
		const after = await run(page, 'print("on")');
		return { ...shown, after: after.stdout };
	},

	async cancel(browser) {
		const page = await open(browser);
		await page.locator('#code').fill('import time\ntime.sleep(60)');
		await page.locator('#run').click();
		await page.waitForTimeout(300);
		const running = await page.locator('#status').textContent();
		await page.locator('#cancel').click();
		const status = await finished(page);
		const after = await run(page, 'print("on")');
		return { running, status, after: after.stdout };
	},

	async stdin(browser) {
		const page = await open(browser);
		await page.locator('#stdin-box summary').click();
		await page.locator('#stdin').fill('one\ntwo\n');
		return run(page, 'print(input(), input())');
	},

	// Output that is shown while the program still runs.
	async stream(browser) {
		const page = await open(browser);
		await page.locator('#code').fill('import time\n' +
			'print("early", flush=True)\ntime.sleep(8)\nprint("late")');
		await page.locator('#run').click();
		const live = page.locator('.stdout pre');
		await live.filter({ hasText: 'early' }).waitFor();
		const early = await live.textContent();
		const running = !await page.locator('#cancel').isDisabled();
		await page.locator('#cancel').click();
		return { early, running };
	},

	async session(browser) {
		const page = await open(browser);
		if (await page.locator('#session-label').isHidden())
			return { offered: false };
		await page.locator('#session').check();
		await run(page, 'x = 41');
		const second = await run(page, 'print(x + 1)');
		await page.locator('#anew').click();
		const third = await run(page, 'print("x" in globals())');
		await page.locator('#session').uncheck();
		const fourth = await run(page, 'print("x" in globals())');
		return { offered: true, second: second.stdout,
			third: third.stdout, fourth: fourth.stdout };
	},

	async hint(browser) {
		const page = await open(browser);
		return run(page, 'import cv2');
	},

	// Long and wide output is shown in part, and the page still answers.
	async large(browser) {
		const page = await open(browser);
		await run(page, 'print("é" * 700_000)\nprint("\\n" * 200_000)');
		const more = page.locator('.stdout button', { hasText: 'more' });
		const before = await page.locator('.stdout pre')
			.evaluate(pre => pre.textContent.length);
		const began = Date.now();
		await more.click();
		const after = await page.locator('.stdout pre')
			.evaluate(pre => pre.textContent.length);
		return { before, after, ms: Date.now() - began };
	},

	// A program that would be markup, and a server that would be worse.
	async hostile(browser) {
		const page = await open(browser);
		const shown = await run(page, `import sys, os
mark = ${JSON.stringify(MARK)}
print(mark)
print(mark, file=sys.stderr)
for name in ("<img src=x onerror=hacked=1>.txt", "\\u202egnp.exe", "a&b;\\"'.csv"):
    open(name.replace("/", "_"), "w").write(mark)
mark`);
		const first = await strangers(page);
		await page.route('**/mcp', async route => {
			const asked = route.request().postDataJSON();
			if (asked.method !== 'tools/call')
				return route.continue();
			return route.fulfill({ json: { jsonrpc: '2.0', id: asked.id,
				result: hostileAnswer } });
		});
		const faked = await run(page, '1');
		await page.waitForTimeout(200);
		return { ...shown, first, faked, second: await strangers(page) };
	},

	// From the address bar to a result without a pointer.
	async keyboard(browser) {
		const page = await open(browser);
		const order = [];
		await page.locator('#code').focus();
		await page.keyboard.press('Control+a');
		await page.keyboard.type('for i in range(3):\nprint(i)');
		await page.keyboard.press('Tab');
		order.push(await focused(page));
		const indented = await page.locator('#code').inputValue();
		await page.keyboard.press('Control+Enter');
		await finished(page);
		const shown = await seen(page);
		await page.keyboard.press('Escape');
		for (let i = 0; i < 4; i++) {
			await page.keyboard.press('Tab');
			order.push(await focused(page));
		}
		while (await focused(page) !== 'run')
			await page.keyboard.press('Shift+Tab');
		const outline = await page.evaluate(() =>
			getComputedStyle(document.activeElement).outlineStyle);
		await page.keyboard.press('Enter');
		await finished(page);
		const again = await seen(page);
		return { order, indented, outline, stdout: shown.stdout,
			again: again.stdout };
	},

	// Every control has a name that is read out, and every input a label.
	async names(browser) {
		const page = await open(browser);
		await run(page, FIGURE + '\nopen("a.txt", "w").write("a")');
		return page.evaluate(() => {
			const nameless = element => !(element.ariaLabel ||
				element.labels?.length ||
				element.textContent.trim() || element.alt);
			return { nameless: [...document.querySelectorAll(
				'button, input, select, textarea, a, img, summary')]
				.filter(nameless).map(element => element.outerHTML),
			live: document.getElementById('status').ariaLive };
		});
	},

	async phone(browser) {
		const page = await open(browser, { viewport:
			{ width: 390, height: 844 }, isMobile: true,
			hasTouch: true, deviceScaleFactor: 2 });
		await page.locator('#code').fill('print("wide " * 60)\n' + FIGURE);
		await page.locator('#run').tap();
		await finished(page);
		const shown = await seen(page);
		await page.waitForTimeout(500);
		return { ...shown, ...await page.evaluate(() => ({
			overflow: document.documentElement.scrollWidth -
				innerWidth,
			top: document.getElementById('results')
				.getBoundingClientRect().top,
			below: document.getElementById('results').offsetTop >=
				document.querySelector('main').offsetTop +
				document.querySelector('main').offsetHeight,
		})) };
	},

	async token(browser) {
		const page = await open(browser, { url: task.guarded }, false);
		await page.locator('#access').waitFor();
		const focus = await focused(page);
		await page.keyboard.type('of-another-server-entirely');
		await page.keyboard.press('Enter');
		await page.locator('#status.bad').waitFor();
		await page.locator('#token').fill(task.token);
		await page.keyboard.press('Enter');
		await page.locator('#access').waitFor({ state: 'hidden' });
		const shown = await run(page, 'print("in")');
		const kept = await page.evaluate(() => localStorage.length +
			sessionStorage.length + document.cookie.length);
		return { focus, stdout: shown.stdout, kept };
	},

	// Pictures for people.
	async shots(browser) {
		const code = `import matplotlib.pyplot as plt, numpy as np, pandas as pd
t = np.linspace(0, 12, 400)
for damping in (0.1, 0.25, 0.5):
    plt.plot(t, np.exp(-damping * t) * np.cos(3 * t), label=f"{damping}")
plt.legend(title="damping")
plt.show()
print("three pendulums")
open("notes.txt", "w").write("they come to rest")
pd.DataFrame({"damping": [0.1, 0.25, 0.5], "half life": [6.93, 2.77, 1.39]})
`;
		for (const colorScheme of ['light', 'dark']) {
			const wide = await open(browser, { colorScheme });
			await run(wide, code);
			await wide.waitForTimeout(200);
			await shot(wide, `desktop-${colorScheme}`);
			const narrow = await open(browser, { colorScheme,
				viewport: { width: 390, height: 844 },
				isMobile: true, hasTouch: true,
				deviceScaleFactor: 2 });
			await shot(narrow, `phone-${colorScheme}-program`);
			await run(narrow, code);
			await narrow.waitForTimeout(800);
			await shot(narrow, `phone-${colorScheme}`);
		}
		return {};
	},
};

const browser = await launch();
for (const step of task.steps) {
	const before = account.complaints.length;
	const began = Date.now();
	let what;
	try {
		what = await steps[step](browser);
	} catch (error) {
		what = { failure: String(error.stack) };
	}
	process.stdout.write(JSON.stringify({ step, took: Date.now() - began,
		...what,
		complaints: account.complaints.slice(before),
		elsewhere: account.elsewhere }) + '\n');
	for (const context of browser.contexts())
		await context.close();
}
await browser.close();
