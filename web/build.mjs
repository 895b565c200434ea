// Bundles the page into OUT_DIR: index.html, app.js, app.css, and page-stamp.h, which changes when they do.
//
//	node build.mjs OUT_DIR
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync, copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');

mkdirSync(out, { recursive: true });
await build({
	entryPoints: { app: join(here, 'src/main.tsx') },
	outdir: out,
	bundle: true,
	minify: true,
	format: 'iife',
	target: ['es2020'],
	jsx: 'automatic',
	jsxImportSource: 'preact',
	legalComments: 'inline',
	logLevel: 'warning',
	charset: 'utf8',
});
copyFileSync(join(here, 'src/index.html'), join(out, 'index.html'));
const hash = createHash('sha256');
for (const name of ['index.html', 'app.js', 'app.css'])
	hash.update(readFileSync(join(out, name)));
writeFileSync(join(out, 'page-stamp.h'), `#define PAGE_STAMP "${hash.digest('hex')}"\n`);
