// A report in a real browser, from a file and without a network: every view and panel, light, dark and narrow; and the
// communication matrix, in it and on the page of a server. Speaks TAP.
//
//	report.mjs CHROMIUM PLAYWRIGHT_DIR URL TRUTH.json
import { readFileSync } from 'node:fs';
import { check, complaints, done, launch, open, PATIENCE, settled, until } from './browser.mjs';

const [chromiumPath, modules, url, truthPath] = process.argv.slice(2);
const truth = JSON.parse(readFileSync(truthPath, 'utf8'));
const browser = await launch(chromiumPath, modules);
const asked = [];
const alone = async (page) => {
	await page.context().setOffline(true);
	page.on('request', (r) => { if (!/^(file|data|blob):/.test(r.url())) asked.push(r.url()); });
};
const VIEWS = { overview: '.fact', timeline: 'canvas[data-testid=timeline]', flame: 'canvas[data-testid=flame]', io: 'table', steps: '.uplot' };
const PANELS = { stats: '[data-testid=stats] td', functions: '.panel-body table, .panel-body .quiet', files: '[data-testid=files] td', event: '.panel-body .quiet', hits: '.panel-body .quiet' };

/** What the matrix says: exact bytes, by sender and receiver. */
const matrix = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.matrix td[title]')].map((td) => {
	const [, bytes, from, to] = /^([\d,]+) bytes from (.*) to (.*)$/.exec(td.title);
	return [`${from} > ${to}`, Number(bytes.replace(/,/g, ''))];
})));
async function checkMatrix(page) {
	await page.click('[data-testid=tab-io]');
	if (!truth.pairs) { // this machine let nobody look at packets
		await page.waitForSelector('text=Packets were not recorded');
		console.log(`# the matrix was not checked: ${truth.reason}`);
		return null;
	}
	await page.waitForSelector('.matrix td[title]');
	const shown = await matrix(page), wrong = Object.entries(truth.pairs).filter(([pair, bytes]) => shown[pair] !== bytes);
	if (wrong.length) return `${JSON.stringify(shown)}\nnot ${JSON.stringify(truth.pairs)}`;
	const rows = await page.locator('[data-testid=network] table[aria-label=pairs] tbody tr').count();
	return rows ? null : 'no pair is listed';
}

await check('who talked to whom is what the table of flows says', async () => {
	const page = await open(browser, url), said = await checkMatrix(page);
	await page.context().close();
	return said;
});
for (const [name, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['narrow', { viewport: { width: 400, height: 800 } }]]) {
	const page = await open(browser, `file://${truth.report}`, { before: alone, ...options });
	await check(`${name}: the report has every view, and none is wider than the window`, async () => {
		for (const [tab, inside] of Object.entries(VIEWS)) {
			await page.click(`[data-testid=tab-${tab}]`);
			await page.waitForSelector(inside);
			if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1)) return `${tab} is wider than the window`;
		}
		const others = await page.locator('[data-testid=tab-sql], [data-testid=tab-compare]').count();
		const isDark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)');
		return others ? 'it has views that need a server' : isDark === (name === 'dark') ? null : 'it has the other colours';
	});
	await check(`${name}: and every panel below the timeline`, async () => {
		await page.click('[data-testid=tab-timeline]');
		await settled(page);
		for (const [panel, inside] of Object.entries(PANELS)) {
			await page.click(`[data-testid=panel-${panel}]`);
			await page.waitForSelector(inside);
		}
		return null;
	});
	await check(`${name}: the matrix`, () => checkMatrix(page));
	if (name === 'light') {
		await check('an event of the report is found and selected, with what the report knows of it', async () => {
			await page.click('[data-testid=tab-timeline]');
			await page.fill('[data-testid=search]', 'needle');
			await until(page, () => window.sonde.app.state.hits?.length === 1);
			await page.press('[data-testid=search]', 'Enter');
			await page.click('[data-testid=panel-event]');
			await page.waitForSelector('[data-testid=event]');
			const shown = await page.evaluate(() => window.sonde.app.state.details?.duration_ns);
			return Math.abs(shown - truth.needle_ns) <= truth.needle_ns * 0.02 ? null : `it lasts ${shown}, not ${truth.needle_ns}`;
		});
		await check('a stretch is added up as far as a report can', async () => {
			await page.evaluate(() => window.sonde.app.set({ search: '', brush: { from: 0, to: window.sonde.app.duration / 2 } }));
			await page.click('[data-testid=panel-stats]');
			await until(page, () => document.querySelector('[data-testid=stats-head]')?.textContent.includes(' from '));
			await page.click('[data-testid=panel-files]');
			await page.waitForSelector('text=a report has no sums of stretches');
			await page.evaluate(() => window.sonde.app.set({ brush: null }));
			return null;
		});
		await check('every flame graph that the run has, both ways', async () => {
			await page.click('[data-testid=tab-flame]');
			for (const button of await page.locator('[aria-label=source] button').all()) {
				await button.click();
				for (const way of await page.locator('[aria-label=direction] button').all()) {
					await way.click();
					await until(page, () => Number(document.querySelector('[data-testid=flame-total]')?.title) > 0);
				}
			}
			return null;
		});
		await check('a picture of it is saved', async () => {
			await page.click('[data-testid=tab-timeline]');
			await settled(page);
			await page.click('[aria-label=Menu]');
			const [download] = await Promise.all([page.waitForEvent('download', { timeout: PATIENCE }), page.click('text=Save as PNG')]);
			return readFileSync(await download.path()).subarray(1, 4).toString() === 'PNG' ? null : 'it is no PNG';
		});
	}
	await page.context().close();
}
await check('nothing was asked for anywhere', async () => asked.length ? asked.join(' ') : null);
await check('no error on any console', async () => complaints.length ? complaints.join('\n') : null);
await browser.close();
done();
