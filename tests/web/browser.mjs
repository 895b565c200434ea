// What tests of the page share: TAP, a browser that complains, and waiting that asks again and again.
import { createRequire } from 'node:module';

export const PATIENCE = 60000;
export const complaints = [];
let count = 0, failed = 0;

export async function check(name, body) {
	let problem = null;
	try {
		problem = await body();
	} catch (error) {
		problem = String(error?.stack ?? error);
	}
	count++;
	if (problem) failed++;
	console.log(`${problem ? 'not ok' : 'ok'} ${count} - ${name}`);
	if (problem) for (const line of String(problem).split('\n').slice(0, 12)) console.log(`# ${line}`);
}

export function done() {
	console.log(`1..${count}`);
	process.exit(failed ? 1 : 0);
}

export async function launch(executablePath, modules) {
	const { chromium } = createRequire(`${modules}/`)('playwright-core');
	return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-sync'] });
}

export async function open(browser, address, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE);
	page.on('console', (m) => { if (m.type() === 'error') complaints.push(m.text()); });
	page.on('pageerror', (e) => complaints.push(e.message));
	page.on('dialog', (d) => { complaints.push(`dialog: ${d.message()}`); void d.dismiss(); });
	if (options.before) await options.before(page);
	await page.goto(address);
	await until(page, options.ready ?? (() => window.sonde?.app.state.run && window.sonde.app.state.tracks));
	return page;
}

/** Asked again and again until it is so. (waitForFunction evaluates text, which the page's policy forbids.) */
export async function until(page, body, arg) {
	const end = Date.now() + PATIENCE;
	for (;;) {
		if (await page.evaluate(body, arg)) return;
		if (Date.now() > end) throw new Error(`it did not become so: ${body}`);
		await new Promise((again) => setTimeout(again, 50));
	}
}

/** The timeline has drawn what it asked for. */
export async function settled(page) {
	await until(page, () => document.querySelector('canvas[data-testid=timeline]')?.dataset.ready === 'true');
}

export const number = (text) => Number(text.replace(/[^0-9.-]/g, ''));
export const title = async (page, id) => number(await page.getAttribute(`[data-testid=${id}]`, 'title'));
