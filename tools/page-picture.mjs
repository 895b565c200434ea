// Take a picture of the timeline of a run that `sonde view` serves, from the first span FROM to the COUNTth span TO.
//
//	page-picture.mjs CHROMIUM PLAYWRIGHT_DIR URL FROM TO COUNT OUTPUT.png
import { complaints, launch, open, settled, until } from '../tests/web/browser.mjs';

const [chromium, modules, url, from, to, count, output] = process.argv.slice(2);
const browser = await launch(chromium, modules);
const page = await open(browser, url, { viewport: { width: 1200, height: 700 }, colorScheme: 'light' });

/** The spans of a name, by start. */
async function find(name) {
	const hits = await page.evaluate(async (text) => {
		await window.sonde.app.find(text);
		return window.sonde.app.state.hits;
	}, name);
	return hits.filter((hit) => hit.name === name).sort((a, b) => a.start_ns - b.start_ns);
}

await page.click('[data-testid=tab-timeline]');
const first = (await find(from))[0], last = (await find(to))[count - 1], end = last.start_ns + last.duration_ns;
await page.evaluate(async ([start, end]) => {
	await window.sonde.app.find('');
	window.sonde.app.setWindow(start - (end - start) * 0.02, end);
}, [first.start_ns, end]);
await page.click('[data-testid=panel-stats]');
await until(page, () => document.querySelector('.panel-body table'));
await settled(page);
await page.screenshot({ path: output });
await browser.close();
if (complaints.length) {
	console.error(complaints.join('\n'));
	process.exit(1);
}
