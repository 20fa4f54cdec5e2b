// A headless Chromium on the page, and an account of all that it asked for
// and complained of.
// SPDX-License-Identifier: Apache-2.0
import { createRequire } from 'node:module';

// What the task says: where the server is, which steps, where pictures go.
export const task = JSON.parse(process.argv[2]);

const packages = createRequire(`${task.packages}/package.json`);
const { chromium } = packages('playwright-core');

export const account = { elsewhere: [], complaints: [] };

function note(page) {
	const own = [task.url, task.guarded].filter(url => url)
		.map(url => new URL(url).origin);
	page.on('request', request => {
		const url = new URL(request.url());
		if (!['data:', 'blob:'].includes(url.protocol) &&
		    !own.includes(url.origin))
			account.elsewhere.push(request.url());
	});
	page.on('console', message => {
		if (['error', 'warning'].includes(message.type()))
			account.complaints.push(message.text());
	});
	page.on('pageerror', error =>
		account.complaints.push(String(error)));
	page.on('dialog', dialog => {
		account.complaints.push(`a dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
}

export async function launch() {
	return chromium.launch({
		executablePath: task.browser,
		// Root has no user namespace to put it in; what it shows is ours.
		args: ['--no-sandbox', '--disable-dev-shm-usage'],
	});
}

// A page of its own, loaded and connected.
export async function open(browser, options = {}, ready = true) {
	const context = await browser.newContext({
		viewport: { width: 1280, height: 800 }, ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(10000);
	note(page);
	await page.goto(options.url ?? task.url);
	if (ready)
		await page.locator('#server', { hasText: /version/ }).waitFor();
	return page;
}

export async function finished(page) {
	await page.locator('body:not(.running)').waitFor();
	return page.locator('#status').textContent();
}

// Puts a program into the editor and runs it; what the page shows then.
export async function run(page, code) {
	await page.locator('#code').fill(code);
	await page.locator('#run').click();
	await finished(page);
	return seen(page);
}

export async function seen(page) {
	return page.evaluate(() => {
		const text = name => document.querySelector(
			`#shown .${name} pre`)?.textContent;
		return {
			status: document.getElementById('status').textContent,
			stdout: text('stdout'),
			value: text('value'),
			stderr: text('stderr'),
			hints: [...document.querySelectorAll('.hints li')]
				.map(hint => hint.textContent),
			figures: [...document.querySelectorAll('.figures img')]
				.map(image => [image.naturalWidth,
					image.naturalHeight]),
			files: [...document.querySelectorAll('.files li bdi')]
				.map(name => name.textContent),
			usage: document.querySelector('.usage')?.textContent,
		};
	});
}
