// The page of a study in a real browser, checked against what `sonde tune --json` said. Speaks TAP.
//
//	study.mjs CHROMIUM PLAYWRIGHT_DIR FACTS.json
import { readFileSync } from 'node:fs';
import { check, complaints, done, launch, number, open } from './browser.mjs';

const [chromiumPath, modules, factsPath] = process.argv.slice(2);
const { studies: [one, two], hostile } = JSON.parse(readFileSync(factsPath, 'utf8'));
const browser = await launch(chromiumPath, modules), shots = process.env.SHOTS;
const ready = () => document.querySelector('[data-testid=trials] tbody tr') !== null;
const show = (study, link, options = {}) => open(browser, study.urls[link], { ready, ...options });
const shoot = async (page, name) => { if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true }); };
const rowsOf = (page, id) => page.$$eval(`[data-testid=${id}] tbody tr`, (rows) => rows.map((r) => [...r.cells].map((c) => c.textContent)));

let page = await show(one, 0);
await shoot(page, 'one');
const { result } = one;
await check('the verdict is what the study says', async () => {
	const text = await page.textContent('[data-testid=verdict]');
	return text === result.verdict ? null : text;
});
await check('the address no longer holds the token', async () => page.url().includes('token') ? page.url() : null);
await check('every trial is in the table, with its state and values', async () => {
	const rows = new Map((await rowsOf(page, 'trials')).map((r) => [Number(r[0]), r]));
	if (rows.size !== result.trials.length) return `${rows.size} rows, not ${result.trials.length}`;
	for (const t of result.trials) {
		const row = rows.get(t.id), value = t.values?.loss;
		if (row[1] !== t.state) return `trial ${t.id} is ${row[1]}, not ${t.state}`;
		if (value !== undefined && Math.abs(number(row[2]) - value) > 0.01 * value) return `trial ${t.id}: ${row[2]}, not ${value}`;
	}
	return null;
});
await check('the table is sorted by what is clicked', async () => {
	const head = page.locator('[data-testid=trials] th button', { hasText: /^loss/ });
	await head.click();
	await head.click();
	const values = (await rowsOf(page, 'trials')).map((r) => r[2]).filter((v) => /\d/.test(v)).map(number);
	return values.every((v, i) => !i || values[i - 1] <= v) ? null : values.join(' ');
});
await check('the best trial is marked in it', async () => {
	const marked = await page.$$eval('[data-testid=trials] tr.best', (rows) => rows.map((r) => Number(r.cells[0].textContent)));
	return marked.length === 1 && marked[0] === result.best.id ? null : `${marked}, not ${result.best.id}`;
});
await check('convergence has a dot a trial with a value, and a line', async () => {
	const dots = await page.locator('[data-testid=convergence] circle').count(), lines = await page.locator('[data-testid=convergence] polyline').count();
	const want = result.trials.filter((t) => t.values).length;
	return dots === want && lines === 1 ? null : `${dots} dots, not ${want}; ${lines} lines`;
});
await check('best and default stand side by side', async () => {
	const rows = await rowsOf(page, 'best'), z = rows.find((r) => r[0] === 'z');
	return rows.length === 3 && z[1] === String(result.default.params.z) && z[2] === String(result.best.params.z) ? null : JSON.stringify(rows);
});
await check('the gain has its interval', async () => {
	const text = await page.textContent('[data-testid=gain]'), { estimate, lo, hi } = result.ratio;
	return [estimate, lo, hi].every((v) => text.includes(v.toFixed(3))) ? null : `${text}, not ${JSON.stringify(result.ratio)}`;
});
await check('importance is a share of each parameter', async () => {
	for (const row of await rowsOf(page, 'best'))
		if (Math.abs(number(row[3]) - 100 * result.importance[row[0]]) > 0.6) return `${row}, not ${result.importance[row[0]]}`;
	return null;
});
await check('partial dependence has a curve and a band a parameter, what matters most first', async () => {
	const names = await page.$$eval('[data-testid=dependence] figcaption', (all) => all.map((c) => c.firstChild.textContent.trim()));
	const want = Object.keys(result.dependence).sort((a, b) => result.importance[b] - result.importance[a]);
	const bands = await page.locator('[data-testid=dependence] polygon.band').count(), curves = await page.locator('[data-testid=dependence] polyline').count();
	return names.join() === want.join() && bands === 3 && curves === 3 ? null : `${names}; ${bands} bands, ${curves} curves`;
});
await check('there is a loss curve for each trial that reported steps', async () => {
	const curves = await page.locator('[data-testid=curves] polyline').count(), want = result.trials.filter((t) => t.rungs?.length).length;
	return curves === want && want > 5 ? null : `${curves}, not ${want}`;
});
await page.context().close();

page = await show(two, 0);
await shoot(page, 'two');
await check('two objectives have a front', async () => {
	const on = await page.locator('[data-testid=front] circle.front').count();
	return on === two.result.front.length && on > 1 ? null : `${on}, not ${two.result.front.length}`;
});
await check('names that would be markup are text', async () => {
	const images = await page.locator('img').count(), name = await page.textContent('.run-name'), table = await page.textContent('[data-testid=trials]');
	return images === 0 && name === hostile && table.includes(hostile) ? null : `${images} images, ${name}`;
});
await page.context().close();

for (const [link, name, options] of [[1, 'dark', { colorScheme: 'dark' }], [2, 'narrow', { viewport: { width: 400, height: 800 } }]])
	await check(`${name}: all of it shows, nothing is wider than the window`, async () => {
		for (const study of [one, two]) {
			const other = await show(study, link, options);
			await shoot(other, `${study === one ? 'one' : 'two'}-${name}`);
			if (await other.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1)) return 'it is wider than the window';
			if (name === 'dark' && await other.evaluate(() => getComputedStyle(document.body).backgroundColor) === 'rgb(255, 255, 255)') return 'it is white';
			await other.context().close();
		}
		return null;
	});
await check('no error on any console', async () => complaints.length ? complaints.join('\n') : null);
await browser.close();
done();
