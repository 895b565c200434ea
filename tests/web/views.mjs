// The views of the page in a real browser, against what `sonde events` says and with answers that the test makes up.
//
//	views.mjs CHROMIUM PLAYWRIGHT_DIR URL TRUTH.json
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { check, complaints, done, launch, open, PATIENCE, settled, title, until } from './browser.mjs';

const [chromiumPath, modules, url, truthPath] = process.argv.slice(2);
const truth = JSON.parse(readFileSync(truthPath, 'utf8'));
const HOSTILE = '<img src=x onerror=alert(1)>';
const DIAGNOSIS = [
	{ rule: 'tiny_reads', what: 'many reads are tiny', evidence: `1 000 reads of at most 16 bytes on ${HOSTILE}`, from_ns: 1000000, to_ns: 9000000, recoverable_ns: 1250000000, next: "sonde events --table io --path '/a b' run" },
	{ rule: 'cpu_bound', what: 'the run is bound by the CPU', evidence: 'it ran', from_ns: 0, to_ns: 5000000, recoverable_ns: null, next: 'sonde view run' },
];

const browser = await launch(chromiumPath, modules);
const made = async (page) => {
	await page.route('**/api/summary*', async (route) => {
		const answer = await route.fetch(), summary = await answer.json();
		await route.fulfill({ response: answer, json: { ...summary, diagnosis: DIAGNOSIS } });
	});
};
const page = await open(browser, url, { before: made, permissions: ['clipboard-read', 'clipboard-write'] });
const samples = (source) => page.evaluate((s) => window.sonde.app.source.flame({ from: 0, to: window.sonde.app.duration + 1 }, { source: s, calls: true }), source);
const flameNodes = (flame) => {
	const own = flame.nodes.map((n) => n[3]);
	for (const [parent, , , total] of flame.nodes) if (parent >= 0) own[parent] -= total;
	return own;
};

await check('a diagnosis says what, why, how much, and what to type', async () => {
	await page.waitForSelector('[data-testid=diagnosis]');
	const cards = await page.locator('[data-testid=diagnosis]').count(), text = await page.textContent('[data-rule=tiny_reads]');
	if (cards !== 2) return `${cards} cards`;
	for (const part of ['Many reads are tiny', HOSTILE, '1.25 s', DIAGNOSIS[0].next]) if (!text.includes(part)) return `no '${part}' in: ${text}`;
	if (await page.locator('img').count()) return 'evidence became markup';
	return (await page.textContent('[data-rule=cpu_bound]')).includes('to win back') ? 'an unknown gain is shown' : null;
});
await check('its command is copied to the letter', async () => {
	await page.click('[data-rule=tiny_reads] .copy');
	await page.waitForSelector('[role=status]');
	const copied = await page.evaluate(() => navigator.clipboard.readText());
	return copied === DIAGNOSIS[0].next ? null : copied;
});
await check('it jumps to its evidence', async () => {
	await page.click('[data-rule=tiny_reads] .acts button');
	await page.waitForSelector('canvas[data-testid=timeline]');
	const { brush, window: w } = await page.evaluate(() => ({ brush: window.sonde.app.state.brush, window: window.sonde.app.state.window }));
	if (brush.from !== 1000000 || brush.to !== 9000000) return JSON.stringify(brush);
	await page.evaluate(() => window.sonde.app.set({ brush: null }));
	return w.from <= 1000000 && w.to >= 9000000 ? null : JSON.stringify(w);
});
for (const [source, want] of [['cpu', truth.samples_ns], ['offcpu', truth.waits_ns]])
	await check(`the ${source} flame graph sums to the table`, async () => {
		if (want === null) return null; // this machine let nobody look
		await page.evaluate((s) => window.sonde.app.set({ tab: 'flame', flame: s }), source);
		await page.waitForSelector('[data-testid=flame-total]');
		await until(page, (w) => Math.abs(Number(document.querySelector('[data-testid=flame-total]').title) - w) <= 1, want);
		const flame = await samples(source), own = flameNodes(flame).reduce((a, b) => a + b, 0);
		if (own !== flame.nodes[0][3]) return `own times have ${own}, the whole ${flame.nodes[0][3]}`;
		await page.click('[data-testid=flame-turned]');
		await page.waitForSelector('[data-testid=flame-turned][aria-pressed=true]');
		const turned = await title(page, 'flame-total');
		await page.click('[aria-label=direction] button');
		return Math.abs(turned - want) <= want * 0.02 + 1 ? null : `bottom-up has ${turned}, not ${want}`; // the narrowest are left out
	});
await check('searching in the flame graph says how much it is', async () => {
	await page.evaluate(() => window.sonde.app.set({ flame: 'spans', tab: 'flame' }));
	await page.fill('[data-testid=search]', 'outer');
	await page.waitForSelector('[data-testid=flame-matched]');
	await until(page, () => /[1-9].* %/.test(document.querySelector('[data-testid=flame-matched]')?.textContent ?? '')); // once the spans are there
	await page.fill('[data-testid=search]', '');
	return null;
});
await check('the flame graph is walked with the keyboard', async () => {
	await page.focus('canvas[data-testid=flame]');
	for (const key of ['ArrowDown', 'ArrowRight', 'ArrowLeft', 'Enter']) await page.keyboard.press(key);
	await page.waitForSelector('.reset');
	await page.keyboard.press('Backspace');
	await until(page, () => !document.querySelector('.reset'));
	return null;
});
await check('two runs lie on one axis and move together', async () => {
	await page.click('[data-testid=tab-compare]');
	await page.waitForSelector('[data-testid=pair] canvas[data-testid=timeline]');
	if (await page.locator('[data-testid=pair] canvas[data-testid=timeline]').count() !== 2) return 'there are not two timelines';
	await page.evaluate(() => window.sonde.app.setWindow(2e6, 8e6));
	await until(page, () => { const { app } = window.sonde; return Math.abs(app.other.state.window.from - app.state.window.from) < 1 && Math.abs(app.other.state.window.to - app.state.window.to) < 1; });
	await page.evaluate(() => window.sonde.app.other.setWindow(1e6, 4e6));
	await until(page, () => Math.abs(window.sonde.app.state.window.from - window.sonde.app.other.state.window.from) < 1);
	await page.waitForSelector('[data-testid=changes] table');
	return (await page.textContent('[data-testid=verdict]')).includes('than before') ? null : 'no verdict';
});
await check('they can be aligned at a step', async () => {
	await page.selectOption('[data-testid=align]', { index: 1 });
	await page.fill('[aria-label=step]', '3');
	await until(page, (at) => { const { app } = window.sonde, by = app.state.window.from - app.other.state.window.from; return Math.abs(by - at) < 2; }, truth.step_offset_ns);
	await page.selectOption('[data-testid=align]', { index: 0 });
	return null;
});
await check('a differential flame graph knows what it is compared with', async () => {
	await page.click('[data-testid=tab-flame]');
	await page.selectOption('[data-testid=flame-against]', 'other');
	await page.waitForSelector('.change-key');
	await page.waitForSelector('.flame-table .more-time, .flame-table .less-time');
	await page.selectOption('[data-testid=flame-against]', '');
	return null;
});
await check('SQL answers what the table holds', async () => {
	await page.click('[data-testid=tab-sql]');
	await page.fill('[data-testid=sql]', `SELECT count(*) AS n, '${HOSTILE}' AS hostile FROM io`);
	await page.click('[data-testid=sql-go]');
	await page.waitForSelector('[data-testid=sql-answer] td');
	const text = await page.textContent('[data-testid=sql-answer]');
	if (await page.locator('img').count()) return 'a value became markup';
	return text.includes(truth.calls.toLocaleString('en-US')) && text.includes(HOSTILE) ? null : text;
});
await check('SQL that would write is refused', async () => {
	const before = complaints.length;
	for (const bad of ['DELETE FROM io', "ATTACH '/etc/passwd' AS x", 'SELECT 1; SELECT 2', 'nonsense']) {
		await page.fill('[data-testid=sql]', bad);
		await page.click('[data-testid=sql-go]');
		await page.waitForSelector('[data-testid=sql-error]');
		await until(page, () => !document.querySelector('[data-testid=sql-go]').disabled);
	}
	complaints.splice(before); // the browser tells of the status 400 on its console
	return null;
});
await check('a brush is what SQL says of the same stretch', async () => {
	const w = { from: 2e6, to: 12e6 };
	await page.evaluate((b) => window.sonde.app.set({ tab: 'timeline', brush: b }), w);
	const stats = await page.evaluate((b) => window.sonde.app.source.stats(b, null, 10000), w);
	const start = truth.start_ns, [from, to] = [start + w.from, start + w.to];
	const sql = (table, name) => page.evaluate((text) => window.sonde.app.source.sql(text, 1000),
		`SELECT ${name}, count(*) FROM ${table} WHERE ts_ns >= ${from} AND ts_ns < ${to} GROUP BY 1`);
	const want = new Map([...(await sql('io', 'call')).rows, ...(await sql('span', 'name')).rows]);
	for (const row of stats.rows) {
		if (want.has(row.name) && want.get(row.name) !== row.count) return `${row.name}: ${row.count}, SQL says ${want.get(row.name)}`;
		want.delete(row.name);
	}
	await page.click('[data-testid=panel-files]');
	await page.waitForSelector('[data-testid=files]');
	await page.click('[data-testid=panel-stats]');
	await page.evaluate(() => window.sonde.app.set({ brush: null }));
	return want.size ? `not shown: ${[...want]}` : null;
});
await check('a stretch of some threads is theirs alone', async () => {
	await page.evaluate(() => { window.sonde.app.set({ tab: 'timeline', brush: null }); window.sonde.app.showAll(); });
	await settled(page);
	const box = await page.locator('canvas[data-testid=timeline]').boundingBox();
	const row = await page.evaluate(() => { const v = window.sonde.timeline.visible().find((r) => r.row.kind === 'thread' && r.row.lanes.length); return { y: v.y + v.row.top + 4, tid: v.row.thread.tid, process: v.row.process.process }; });
	await page.keyboard.down('Shift');
	await page.mouse.move(box.x + box.width * 0.2, box.y + row.y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.8, box.y + row.y + 4, { steps: 5 });
	await page.mouse.up();
	await page.keyboard.up('Shift');
	const { brush, threads } = await page.evaluate(() => ({ brush: window.sonde.app.state.brush, threads: window.sonde.app.state.brush?.threads?.join() }));
	if (threads !== `${row.process}:${row.tid}`) return `the threads ${threads}`;
	await page.click('[data-testid=panel-stats]');
	const stats = await page.evaluate(() => window.sonde.app.source.stats(window.sonde.app.scope, window.sonde.app.lanes, 10000));
	await until(page, (n) => document.querySelector('[data-testid=stats-head]')?.textContent.includes(' of 1 thread') && document.querySelector('[data-testid=stats-events]').textContent === n, stats.events.toLocaleString('en-US'));
	const [from, to] = [brush.from, brush.to].map((t) => truth.start_ns + Math.round(t));
	const sql = (table, name) => page.evaluate((text) => window.sonde.app.source.sql(text, 1000),
		`SELECT ${name}, count(*) FROM ${table} WHERE tid = ${row.tid} AND process = ${row.process} AND ts_ns >= ${from} AND ts_ns < ${to} GROUP BY 1`);
	const want = new Map([...(await sql('io', 'call')).rows, ...(await sql('span', 'name')).rows]);
	for (const one of stats.rows) if (want.has(one.name) && want.get(one.name) !== one.count) return `${one.name}: ${one.count}, SQL says ${want.get(one.name)}`;
	if (!(await page.evaluate(() => window.sonde.app.permalink())).includes('bt=')) return 'a link forgets the threads';
	await page.click('[data-testid=all-threads]');
	await until(page, () => window.sonde.app.state.brush && !window.sonde.app.state.brush.threads);
	await page.evaluate(() => window.sonde.app.set({ brush: null }));
	return null;
});
await check('arrows of an event are listed and followed, there and back', async () => {
	const ends = await page.evaluate(async () => { // an event of each of two threads
		const { app } = window.sonde, out = [];
		for (const p of app.state.tracks.processes) for (const t of p.threads) {
			const lane = t.lanes.find((l) => l.kind === 'slices' && l.depth === 0);
			const [items] = lane && p.process !== undefined ? await app.source.slices({ from: 0, to: app.duration }, Math.ceil(app.duration / 8000 / 8) * 8, [lane.lane]) : [];
			for (let i = 0; items && i < items.count; i++)
				if (!items.isCell[i]) { out.push({ lane: items.lane, process: p.process, tid: t.tid, at: Math.round((items.start[i] + items.end[i]) / 2) }); break; }
		}
		return out.slice(0, 2);
	});
	if (ends.length < 2) return 'the fixture has one thread';
	const [a, b] = ends;
	await page.route('**/api/flows*', (route) => route.fulfill({ json: { flows: [['wake', a.at, a.process, a.tid, b.at, b.process, b.tid]], is_all: true } }));
	await page.evaluate((e) => window.sonde.app.select({ lane: e.lane, start: e.at, end: e.at, nameId: 0 }, e.at, 1), b);
	await page.click('[data-testid=panel-event]');
	await page.waitForSelector('[data-testid=arrows]');
	const text = await page.textContent('[data-testid=arrows]');
	const at = (e) => until(page, (x) => { const s = window.sonde.app.state.selection; return s?.start <= x.at && s.end >= x.at && window.sonde.app.state.details && window.sonde.timeline.rowOf(s.lane)?.thread?.tid === x.tid; }, e);
	await page.evaluate(() => { document.activeElement.blur(); });
	await page.keyboard.press('[');
	await at(a);
	await page.keyboard.press(']');
	await at(b);
	await page.unroute('**/api/flows*');
	await page.evaluate(() => window.sonde.app.select(null));
	return text.includes('woken by') ? null : text;
});
await check('tracks are filtered, pinned and coloured', async () => {
	const rows = () => page.evaluate(() => window.sonde.timeline.layout.rows.length);
	const all = await rows();
	await page.fill('[aria-label="Filter tracks"]', 'no such track');
	await until(page, () => window.sonde.timeline.layout.rows.length === 0);
	await page.fill('[aria-label="Filter tracks"]', '');
	await until(page, (n) => window.sonde.timeline.layout.rows.length === n, all);
	await page.evaluate(() => { document.activeElement.blur(); });
	await page.keyboard.press('e');
	await until(page, () => window.sonde.app.state.details);
	await page.keyboard.press('p');
	await until(page, () => window.sonde.timeline.layout.pinned.length === 1);
	await page.keyboard.press('p');
	await until(page, () => window.sonde.timeline.layout.pinned.length === 0);
	await page.evaluate(() => window.sonde.app.set({ isGroupsOpen: true }));
	await page.fill('[data-testid=groups]', 'outer:rgb(1,2,3), bad:nocolour');
	await page.keyboard.press('Enter');
	const color = await page.evaluate(() => window.sonde.app.names.colorOfText('the outer one'));
	const hash = await page.evaluate(() => window.sonde.app.permalink());
	await page.evaluate(() => window.sonde.app.setGroups(''));
	return color === 'rgb(1,2,3)' && hash.includes('outer') ? null : `${color} ${hash}`;
});
await check('iterations that nobody announced are charted and on the timeline', async () => {
	const { each, count, tid } = truth.iterations, loop = await open(browser, truth.loop_url);
	await loop.click('[data-testid=tab-steps]');
	await loop.waitForSelector('.chart canvas');
	const text = await loop.textContent('.toolbar');
	if (!text.includes(`${count} iterations`) || !text.includes(`thread ${tid}`)) return text;
	await loop.click('[data-testid=tab-timeline]');
	await settled(loop);
	const row = await loop.evaluate(() => { const t = window.sonde.timeline, v = t.visible().find((r) => r.row.label.startsWith('loop at')); return v && { y: v.y, note: v.row.note }; });
	if (row?.note !== `${count} found`) return JSON.stringify(row);
	await loop.evaluate((e) => window.sonde.app.setWindow(e.from_ns, e.from_ns + e.dur_ns), each[7]);
	await settled(loop);
	const box = await loop.locator('canvas[data-testid=timeline]').boundingBox();
	await loop.mouse.click(box.x + box.width / 2, box.y + row.y + 12);
	await until(loop, (e) => Math.abs(window.sonde.app.state.brush?.from - e.from_ns) <= 1 && Math.abs(window.sonde.app.state.brush.to - e.from_ns - e.dur_ns) <= 1, each[7]);
	// However deep, plots know what was read before and after, and a thread that does not wait is on a CPU.
	const deep = await loop.evaluate(async () => {
		const t = window.sonde.timeline, plots = t.layout.rows.filter((r) => r.kind === 'plot' && (r.label === 'Memory' || r.label === 'CPU'));
		return plots.map((r) => [r.label, r.lanes.filter((l) => l.start_ns < window.sonde.app.state.window.from).every((l) => t.data.counters.get(l.lane)?.length >= 1)]);
	});
	await loop.close();
	return deep.every(([, isKnown]) => isKnown) ? null : JSON.stringify(deep);
});
await check('the picture that is saved is one', async () => {
	await settled(page);
	await page.click('[aria-label=Menu]');
	const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Save as PNG')]);
	const bytes = readFileSync(await download.path());
	const width = bytes.readUInt32BE(16), height = bytes.readUInt32BE(20);
	return bytes.subarray(1, 4).toString() === 'PNG' && width > 1000 && height > 200 ? null : `${width} x ${height}`;
});
await check('a run that is being recorded grows on the page, with arrows to what it starts', async () => {
	const live = await open(browser, truth.live_url);
	await live.click('[data-testid=tab-timeline]');
	await live.waitForSelector('.live');
	const before = await live.evaluate(() => window.sonde.app.duration);
	await until(live, (d) => window.sonde.app.duration > d, before);
	await live.keyboard.press('l');
	await until(live, () => window.sonde.app.state.isFollowing);
	await until(live, () => window.sonde.timeline.arrows > 0);
	writeFileSync(truth.stop, '');
	await until(live, () => !window.sonde.app.state.run.is_growing);
	await live.context().close();
	return null;
});
/** The status of a request with headers that no browser would send. */
const status = (path, headers = {}) => new Promise((ok, no) => {
	const at = new URL(url);
	request({ host: at.hostname, port: at.port, path, headers }, (r) => { r.resume(); ok(r.statusCode); }).on('error', no).end();
});
await check('wrong token, foreign Host and Origin, .. and huge ranges are refused', async () => {
	const at = new URL(page.url()), cookie = (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
	const rows = [
		['/', {}, 403], [`/?token=${'0'.repeat(32)}`, {}, 403], ['/api/run', {}, 403], ['/api/run', { Cookie: 'sonde=1' }, 403],
		['/api/run', { Cookie: cookie }, 200], ['/api/run', { Cookie: cookie, Host: 'evil.example' }, 403], ['/api/run', { Cookie: cookie, Origin: 'http://evil.example' }, 403],
		['/../etc/passwd', { Cookie: cookie }, 400], ['/api/%2e%2e/run', { Cookie: cookie }, 400], ['/api/slices?from=0&to=9000000000000000000&bin=8&lanes=0', { Cookie: cookie }, 400],
		['/api/flows?limit=100000000', { Cookie: cookie }, 400], ['/api/run?run=c', { Cookie: cookie }, 404],
	];
	const wrong = [];
	for (const [path, headers, want] of rows) {
		const got = await status(path, { Host: at.host, ...headers });
		if (got !== want && !(want === 403 && got === 401)) wrong.push(`${path} ${JSON.stringify(headers)}: ${got}, not ${want}`);
	}
	return wrong.length ? wrong.join('\n') : null;
});
await check('/gpu-report.html leads to the timeline', async () => {
	const other = await page.context().newPage();
	other.setDefaultTimeout(PATIENCE);
	await other.goto(new URL('/gpu-report.html', page.url()).href);
	await other.waitForSelector('canvas[data-testid=timeline]');
	await other.close();
	return null;
});
await check('the page is small', async () => truth.page_bytes < 300000 ? (console.log(`# ${truth.page_bytes} bytes gzipped`), null) : `${truth.page_bytes} bytes gzipped`);
await check('no error on any console', async () => complaints.length ? complaints.join('\n') : null);
await browser.close();
done();
