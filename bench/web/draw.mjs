// Draws the timeline at many windows and prints how long frames took: draw.mjs CHROMIUM PLAYWRIGHT_DIR URL
import { createRequire } from 'node:module';

const [chromiumPath, modules, url] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)('playwright-core');
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 2232, height: 1500 } });
await page.goto(url);
await page.click('[data-testid=tab-timeline]');
await page.waitForSelector('canvas[data-testid=timeline]');

const figures = await page.evaluate(async () => {
	const { app, timeline } = window.sonde, canvas = document.querySelector('canvas[data-testid=timeline]');
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	const settled = async () => { for (let i = 0; i < 2000; i++) { await frame(); if (canvas.dataset.ready === 'true') return; } };
	let seed = 12345;
	const random = () => (seed = seed * 1103515245 + 12345 & 0x7fffffff) / 0x7fffffff;
	const still = [], moving = [], waits = [];
	for (let i = 0; i < 60; i++) {
		const width = 1000 * (app.duration / 1000) ** random(), from = random() * (app.duration - width);
		const before = performance.now();
		app.setWindow(from, from + width);
		await settled();
		waits.push(performance.now() - before);
		await frame();
		timeline.drawMs.length = 0;
		timeline.draw();
		const start = performance.now();
		timeline.draw();
		still.push(performance.now() - start);
		for (let k = 0; k < 6; k++) { // a drag: the image at hand is moved
			app.setWindow(from + width * 0.02 * k, from + width * (1 + 0.02 * k));
			const at = performance.now();
			timeline.draw();
			moving.push(performance.now() - at);
			await frame();
		}
	}
	const shown = timeline.visible().reduce((n, v) => n + v.row.lanes.length, 0);
	const at = (list, part) => [...list].sort((a, b) => a - b)[Math.floor(list.length * part)];
	const line = (list) => `p50 ${at(list, 0.5).toFixed(1)} ms   p95 ${at(list, 0.95).toFixed(1)} ms   max ${at(list, 0.999).toFixed(1)} ms`;
	return { lines: [`canvas of ${canvas.width} px, ${shown} lanes in view`, `  draw, at rest     ${line(still)}`, `  draw, in motion   ${line(moving)}`, `  until complete    ${line(waits)}   (ask, answer, decode, draw)`] };
});
console.log(figures.lines.join('\n'));
await browser.close();
