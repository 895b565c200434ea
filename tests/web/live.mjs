// The live page in a real browser: applications, metrics, rules, journal, checked against /metrics and the knob itself. TAP.
//
//	live.mjs CHROMIUM PLAYWRIGHT_DIR FACTS.json
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { check, complaints, done, launch, open, until } from './browser.mjs';

const [chromiumPath, modules, factsPath] = process.argv.slice(2);
const facts = JSON.parse(readFileSync(factsPath, 'utf8'));
const ready = () => window.sondeLive?.answer;
const level = (value) => { writeFileSync(`${facts.where}/app0/level.new`, String(value)); renameSync(`${facts.where}/app0/level.new`, `${facts.where}/app0/level`); };
const knob = () => readFileSync(`${facts.where}/app0/knob`, 'utf8');

/** A sample as the exporter has it now. */
async function scraped(name) {
	const text = await (await fetch(`${facts.address}/metrics`)).text();
	return Number(text.split('\n').find((line) => line.startsWith(name + ' '))?.split(' ').pop());
}
async function eventually(body) {
	const end = Date.now() + 60000;
	while (Date.now() < end) {
		if (body()) return true;
		await new Promise((again) => setTimeout(again, 50));
	}
	return false;
}

const browser = await launch(chromiumPath, modules);
const page = await open(browser, facts.url, { ready });

await check('sonde view --live opens the page, and the address loses its token', async () =>
	new URL(page.url()).pathname === '/live' && !page.url().includes('token') ? null : page.url());
await check('every application is in the table', async () => {
	await until(page, (names) => names.every((n) => [...document.querySelectorAll('[data-app]')].some((e) => e.dataset.app === n)), facts.names);
	return null;
});
await check('names that would be markup are text', async () => await page.locator('img').count() === 0 ? null : 'there is an image');
await check('a metric shows what the application says', async () => {
	await page.click('[data-app=detector]');
	await page.waitForSelector('[data-testid=metrics][data-of=detector] [data-metric=sonde_app_level]');
	const row = await page.locator('tr', { has: page.locator('[data-metric=sonde_app_level]') }).textContent();
	return /level.*1/.test(row) ? null : row;
});
await check('steps grow as /metrics says they do', async () => {
	const name = 'sonde_steps_total{app="detector",step="frame"}', before = await scraped(name);
	const look = await page.evaluate(() => window.sondeLive.look);
	await until(page, (n) => window.sondeLive.look > n + 1, look);
	const shown = await page.evaluate(() => window.sondeLive.find('sonde_steps_total', { app: 'detector', step: 'frame' }).now), after = await scraped(name);
	return shown >= before && shown <= after && after > before ? null : `${before} <= ${shown} <= ${after}`;
});
await check('and are drawn', async () => {
	await until(page, () => window.sondeLive.look > 5);
	await page.waitForSelector('svg[aria-label^="steps of detector"] path');
	const d = await page.getAttribute('svg[aria-label^="steps of detector"] path', 'd');
	return /^M[0-9.]+ [0-9.]+(L[0-9.]+ [0-9.]+){2,}/.test(d) ? null : d;
});
await check('a page that is opened later begins with what was before', async () => {
	const link = await page.evaluate(async () => (await (await fetch('/api/link', { method: 'POST' })).json()).url);
	const other = await open(browser, link, { ready });
	const [looks, values] = await other.evaluate(() => [window.sondeLive.look, window.sondeLive.find('sonde_steps_total', { app: 'detector', step: 'frame' }).values.length]);
	await other.context().close();
	return values > looks + 1 ? null : `${values} values after ${looks} looks`;
});
await check('a rule is idle, with why', async () => {
	await page.waitForSelector('[data-rule=high][data-state=idle]');
	const text = await page.textContent('[data-rule=high]');
	return text.includes('sonde_app_level{app="detector"} > 5') && text.includes('is false') ? null : text;
});
await check('a regulator says its measure and its efforts', async () => {
	const text = await page.textContent('[data-regulator=fps]');
	return text.includes('knob detector spare 1..2') && text.includes('wanted 1') ? null : text;
});
await check('it fires, says why, and the journal what was done', async () => {
	level(9);
	await page.waitForSelector('[data-rule=high][data-state=firing]');
	const why = await page.textContent('[data-rule=high] [data-testid=why]');
	if (!/= 9/.test(why)) return why;
	await until(page, () => [...document.querySelectorAll('[data-testid=journal] li')].some((e) => /high.*knob detector batch 16.*done/.test(e.textContent)));
	return await eventually(() => knob() === '16') ? null : `the knob is ${knob()}`;
});
await check('it can be switched off here, by two presses: everything is put back', async () => {
	await page.click('[data-testid=switch]');
	if (!(await page.textContent('[data-testid=switch]')).includes('?')) return 'it does not ask';
	await page.click('[data-testid=switch]');
	await until(page, () => document.querySelector('[data-testid=rules]').textContent.includes('switched off'));
	return await eventually(() => knob() === '4') ? null : `the knob is ${knob()}`;
});
for (const [name, options] of [['dark', { colorScheme: 'dark' }], ['narrow', { viewport: { width: 400, height: 800 } }]])
	await check(`${name}: it is no wider than the window`, async () => {
		const link = await page.evaluate(async () => (await (await fetch('/api/link', { method: 'POST' })).json()).url);
		const other = await open(browser, link, { ...options, ready });
		await other.waitForSelector('[data-app=detector]');
		const wide = await other.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
		const colour = await other.evaluate(() => getComputedStyle(document.body).backgroundColor);
		await other.context().close();
		return wide ? 'it is wider' : name === 'dark' && colour === 'rgb(255, 255, 255)' ? 'it is white' : null;
	});
await check('an application that has ended is gone', async () => {
	writeFileSync(`${facts.where}/app1/stop`, '');
	await until(page, (n) => ![...document.querySelectorAll('[data-app]')].some((e) => e.dataset.app === n), facts.names[1]);
	return null;
});
await check('no error on any console', async () => complaints.length ? complaints.join('\n') : null);
await check('when nobody answers any more, that is said and what is shown stays', async () => {
	process.kill(facts.live);
	await page.waitForSelector('[role=alert]');
	return await page.locator('[data-app=detector]').count() === 1 ? null : 'the table is gone';
});
await browser.close();
done();
