// embedded.mjs SOURCE_DIR MODULES_DIR <LANES: what a report adds up of windows, as JSON, without a browser.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [source, modules] = process.argv.slice(2);
const { buildSync } = createRequire(join(modules, 'x.js'))('esbuild');
const bundle = buildSync({ entryPoints: [join(source, 'embedded.ts')], bundle: true, format: 'esm', write: false });
const { addUp } = await import('data:text/javascript,' + encodeURIComponent(bundle.outputFiles[0].text));
const { names, lanes, windows } = JSON.parse(readFileSync(0, 'utf8'));
const texts = new Map(names.map((name, id) => [id, [id, name, 'span']]));
const columns = (rows) => ({ count: rows.length, start: rows.map((r) => r[1]), end: rows.map((r) => r[2]), name: rows.map((r) => r[0]),
	busy: rows.map(() => 255), isCell: rows.map(() => 0) });

console.log(JSON.stringify(windows.map(([from, to]) => {
	const rows = new Map();
	for (const lane of lanes) addUp(columns(lane), { from, to }, texts, rows);
	return [...rows.values()];
})));
