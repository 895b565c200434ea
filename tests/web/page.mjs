// The page in a real browser: what a user does, checked against what the API and `sonde events` say. Speaks TAP.
//
//	page.mjs CHROMIUM PLAYWRIGHT_DIR URL TRUTH.json
import { readFileSync } from 'node:fs';
import { check, complaints, done, launch, open, PATIENCE, settled, title, until } from './browser.mjs';

const [chromiumPath, modules, url, truthPath] = process.argv.slice(2);
const truth = JSON.parse(readFileSync(truthPath, 'utf8'));

/** In the page: the middle of what is drawn of an event, which is in the first lane of its thread. */
const spotOf = (t) => {
	const { app, timeline } = window.sonde, box = document.querySelector('canvas[data-testid=timeline]').getBoundingClientRect();
	const w = app.state.window, x = (t.start_ns + t.dur_ns / 2 - w.from) / (w.to - w.from) * box.width;
	for (const { row, y } of timeline.visible())
		if (row.kind === 'thread' && row.thread.tid === t.tid) return { x: box.left + x, y: box.top + y + row.top + 8 };
	return null;
};
const browser = await launch(chromiumPath, modules);
let page = await open(browser, url);

await check('opens with the facts of the run', async () => {
	await page.waitForSelector('.fact');
	const text = await page.textContent('.facts');
	return text.includes('exit 0') ? null : text;
});
await check('the address no longer holds the token', async () => page.url().includes('token') ? page.url() : null);
await check('search finds an event and shows its values', async () => {
	await page.click('[data-testid=tab-timeline]');
	await page.fill('[data-testid=search]', 'needle');
	await until(page, () => window.sonde.app.state.hits?.length === 1);
	await page.press('[data-testid=search]', 'Enter');
	await page.click('[data-testid=panel-event]');
	await page.waitForSelector('[data-testid=event] [data-key=tid]');
	const [length, start] = [await title(page, 'event-duration'), await title(page, 'event-start')];
	if (length !== truth.needle.dur_ns) return `duration ${length}, not ${truth.needle.dur_ns}`;
	if (Math.abs(start - truth.needle.start_ns) > 1000) return `start ${start}, not ${truth.needle.start_ns}`;
	return null;
});
await check('the event is in view, and a click where it is drawn selects it', async () => {
	await page.fill('[data-testid=search]', '');
	await page.keyboard.press('Escape');
	await page.evaluate(() => window.sonde.app.select(null));
	await page.evaluate(([a, b]) => window.sonde.app.show(a.start_ns, b.start_ns + b.dur_ns), [truth.needle, truth.after]);
	await settled(page);
	for (const one of [truth.needle, truth.after, truth.needle]) { // what follows at once, and back
		const spot = await page.evaluate(spotOf, one);
		if (!spot) return 'its thread is not in view';
		await page.mouse.click(spot.x, spot.y);
		await until(page, (t) => window.sonde.app.state.details?.duration_ns === t.dur_ns, one);
	}
	await page.waitForSelector('[data-testid=event] [data-key=tid]');
	return null;
});
await check('hovering names it', async () => {
	const box = await page.locator('canvas[data-testid=timeline]').boundingBox();
	await page.mouse.move(box.x + 5, box.y + 5);
	await page.evaluate(() => window.sonde.app.names.load([]));
	const spot = await page.evaluate(spotOf, truth.needle);
	await page.mouse.move(spot.x, spot.y);
	await until(page, () => document.querySelector('.tooltip')?.textContent.includes('needle'));
	return null;
});
await check('a brush on the ruler adds up what an independent sum says', async () => {
	await page.evaluate(() => window.sonde.app.showAll());
	await settled(page);
	const box = await page.locator('[data-testid=ruler]').boundingBox();
	await page.mouse.move(box.x + box.width * 0.3, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.6, box.y + 10, { steps: 5 });
	await page.mouse.up();
	const brush = await page.evaluate(() => window.sonde.app.state.brush);
	if (!brush) return 'nothing is brushed';
	const from = Math.round(brush.from), to = Math.round(brush.to);
	const want = new Map();
	let events = 0;
	for (const [name, start, end] of truth.boxes) {
		const inside = Math.min(end, to) - Math.max(start, from);
		if (start < to && start >= from) events++;
		if (inside > 0) want.set(name, (want.get(name) ?? 0) + inside);
	}
	await page.click('[data-testid=panel-stats]');
	await until(page, (w) => Math.abs(window.sonde.app.state.brush.from - w) < 1, brush.from);
	await until(page, () => document.querySelector('[data-testid=stats-head]')?.textContent.includes(' from '));
	const stats = await page.evaluate(([a, b]) => window.sonde.app.source.stats({ from: a, to: b }, null), [from, to]);
	await until(page, (n) => document.querySelector('[data-testid=stats-events]')?.textContent === n, stats.events.toLocaleString('en-US'));
	if (stats.events !== events) return `${stats.events} events, not ${events}`;
	for (const row of stats.rows) {
		const w = want.get(row.name) ?? 0;
		if (row.total_ns !== w) return `${row.name}: ${row.total_ns}, not ${w}`;
	}
	return null;
});
await check('names that would be markup are text', async () => {
	await page.evaluate(() => window.sonde.app.set({ brush: null }));
	await page.fill('[data-testid=search]', 'onerror');
	await until(page, () => window.sonde.app.state.hits?.length === 1);
	await page.press('[data-testid=search]', 'Enter');
	await page.click('[data-testid=panel-hits]');
	const text = await page.textContent('[data-testid=hits]');
	const images = await page.locator('img').count();
	return text.includes('<img src=x onerror=alert(1)>') && images === 0 ? null : `${images} images; ${text}`;
});
await check('the keyboard alone gets everywhere', async () => {
	await page.keyboard.press('Escape');
	await page.keyboard.press('Escape');
	await page.keyboard.press('1');
	await page.waitForSelector('.fact');
	await page.keyboard.press('2');
	await page.waitForSelector('canvas[data-testid=timeline]');
	await page.keyboard.press('0');
	await settled(page);
	const span = () => page.evaluate(() => { const w = window.sonde.app.state.window; return [w.from, w.to - w.from]; });
	const [from, before] = await span();
	await page.keyboard.press('w');
	await until(page, (b) => { const w = window.sonde.app.state.window; return w.to - w.from < b * 0.9; }, before);
	await settled(page);
	const [moved] = await span();
	await page.keyboard.press('d');
	await until(page, (f) => window.sonde.app.state.window.from > f, moved);
	await settled(page);
	await page.keyboard.press('e');
	await until(page, () => window.sonde.app.state.details);
	const first = await page.evaluate(() => window.sonde.app.state.selection.start);
	await page.keyboard.press('ArrowRight');
	await until(page, (s) => window.sonde.app.state.selection.start > s, first);
	await page.keyboard.press('m');
	await until(page, () => window.sonde.app.state.brush);
	await page.keyboard.press('3');
	await page.waitForSelector('canvas[data-testid=flame]');
	await page.keyboard.press('?');
	await page.waitForSelector('[role=dialog]');
	await page.keyboard.press('Escape');
	return from <= 0 ? null : `the whole run begins at ${from}`;
});
await check('the flame graph has the time of the spans', async () => {
	await page.evaluate(() => window.sonde.app.set({ brush: null, tab: 'flame' }));
	await page.waitForSelector('[data-testid=flame-total]');
	const flame = await page.evaluate(() => window.sonde.app.source.flame(window.sonde.app.scope, { source: 'spans', calls: true }));
	const roots = flame.nodes.filter((n) => n[0] === 0).reduce((sum, n) => sum + n[3], 0);
	if (roots !== flame.nodes[0][3]) return `roots have ${roots}, the whole ${flame.nodes[0][3]}`;
	const outer = truth.boxes.filter((b) => b[0] === 'outer').reduce((sum, b) => sum + b[2] - b[1], 0);
	const names = await page.evaluate((ids) => window.sonde.app.source.names(ids), [...new Set(flame.nodes.slice(1).map((n) => n[1]))]);
	const id = names.find((n) => n[1] === 'outer')[0];
	const shown = flame.nodes.filter((n) => n[1] === id).reduce((sum, n) => sum + n[3], 0);
	return Math.abs(shown - outer) < 50000 ? null : `outer has ${shown}, not ${outer}`;
});
await check('a permalink brings back the view', async () => {
	await page.evaluate((t) => { const { app } = window.sonde; app.set({ tab: 'timeline', search: '' }); app.setWindow(t.start_ns - 1e6, t.start_ns + 5e6); }, truth.needle);
	const hash = await page.evaluate(() => window.sonde.app.permalink());
	const other = await page.context().newPage();
	other.setDefaultTimeout(PATIENCE);
	await other.goto(new URL(hash, page.url()).href);
	await other.waitForSelector('canvas[data-testid=timeline]');
	await until(other, (f) => Math.abs(window.sonde.app.state.window.from - f) < 2, truth.needle.start_ns - 1e6);
	await other.close();
	return null;
});
await check('/cpu-report.html leads to the flame graph', async () => {
	const other = await page.context().newPage();
	other.setDefaultTimeout(PATIENCE);
	await other.goto(new URL('/cpu-report.html', page.url()).href);
	await other.waitForSelector('canvas[data-testid=flame]');
	await other.close();
	return null;
});
for (const [name, options] of [['dark', { colorScheme: 'dark' }], ['narrow', { viewport: { width: 400, height: 800 } }]])
	await check(`${name}: every view shows, none is wider than the window`, async () => {
		const link = await page.evaluate(() => window.sonde.app.source.link());
		const other = await open(browser, link, options);
		for (const tab of ['overview', 'timeline', 'flame', 'io', 'steps']) {
			await other.click(`[data-testid=tab-${tab}]`);
			await other.waitForSelector({ overview: '.fact', timeline: 'canvas[data-testid=timeline]', flame: 'canvas[data-testid=flame]', io: 'table', steps: '.uplot' }[tab]);
			const wide = await other.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
			if (wide) return `${tab} is wider than the window`;
		}
		if (name === 'dark' && await other.evaluate(() => getComputedStyle(document.body).backgroundColor) === 'rgb(255, 255, 255)') return 'it is white';
		await other.context().close();
		return null;
	});
await check('no error on any console', async () => complaints.length ? complaints.join('\n') : null);
await browser.close();
done();
