// Opens the run: from the server, or from what a report holds.
import { render } from 'preact';
import { HttpSource, type Source } from './api';
import { Page, setDark } from './app';
import { embeddedSource } from './embedded';
import { App, type Tab } from './state';
import './style.css';

const PATHS: Record<string, Tab> = { '/cpu-report.html': 'flame', '/gpu-report.html': 'timeline' };

function wantsDark(): boolean {
	try {
		const kept = localStorage.getItem('sonde-theme');
		if (kept) return kept === 'dark';
	} catch { /* no storage */ }
	return matchMedia('(prefers-color-scheme: dark)').matches;
}

async function load(app: App) {
	const [run, tracks] = await Promise.all([app.source.run(), app.source.tracks()]);
	app.set({ run, tracks });
}

/** A run that is being recorded grows: follow it while the whole of it is shown. */
function listen(app: App) {
	const stream = new EventSource('/api/stream');
	stream.addEventListener('run', async (e) => {
		const news = JSON.parse((e as MessageEvent).data);
		if (!news.is_growing) stream.close();
		if (news.generation === app.state.run?.generation) return;
		const isWhole = app.state.window.to >= app.duration * 0.98;
		try {
			await load(app);
			if (isWhole && app.state.window.from <= 0) app.showAll();
		} catch (error) {
			app.fail(error);
		}
	});
}

async function start() {
	const source: Source = embeddedSource() ?? new HttpSource();
	const app = new App(source);
	setDark(app, wantsDark(), false);
	render(<Page app={app} />, document.getElementById('app')!);
	(window as any).sonde = { app, timeline: null };
	try {
		await load(app);
		app.showAll();
		if (PATHS[location.pathname]) app.set({ tab: PATHS[location.pathname] });
		app.readHash();
		document.title = `${app.state.run!.path.split('/').pop()} – sonde`;
		if (source.isLive && app.state.run!.is_growing) listen(app);
	} catch (error) {
		app.fail(error);
	}
	window.addEventListener('hashchange', () => app.readHash());
}

void start();
