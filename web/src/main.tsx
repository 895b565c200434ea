// Opens the run: from the server, or from what a report holds.
import { render } from 'preact';
import { HttpSource, type FlameSource, type RunInfo, type Source } from './api';
import { Page, setDark, setTheme } from './app';
import { embeddedSource } from './embedded';
import { LivePage } from './live-page';
import { App, type Tab } from './state';
import { foundLoop } from './steps';
import { fetchStudy, StudyPage } from './study-view';
import './style.css';

/** Names that SOFA's users know. */
const PATHS: Record<string, { tab: Tab; flame?: FlameSource; trackFilter?: string }> = {
	'/cpu-report.html': { tab: 'flame', flame: 'cpu' }, '/gpu-report.html': { tab: 'timeline', trackFilter: 'gpu' },
};

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

/** Iterations of a program that announces none; of a run that is still being recorded they are not looked for. */
async function findLoops(app: App) {
	const hasSteps = app.state.tracks!.processes.some((p) => p.threads.some((t) => t.lanes.some((l) => l.kind === 'steps')));
	if (!hasSteps && !app.state.run!.is_growing) app.set({ found: foundLoop(await app.source.summary()) });
}

/** A run that is being recorded grows: follow it while the whole of it is shown. */
function listen(app: App) {
	const stream = new EventSource('/api/stream');
	stream.addEventListener('run', async (e) => {
		const news = JSON.parse((e as MessageEvent).data);
		if (!news.is_growing) { stream.close(); app.state.run!.is_growing = false; void findLoops(app); }
		if (news.generation === app.state.run?.generation) return;
		const w = app.state.window, isWhole = w.to >= app.duration * 0.98 && w.from <= 0;
		try {
			await load(app);
			if (isWhole) app.showAll();
			else if (app.state.isFollowing) app.setWindow(app.duration - (w.to - w.from) * 0.95, app.duration + (w.to - w.from) * 0.05);
		} catch (error) {
			app.fail(error);
		}
	});
}

/** Of the command line, else what the run was recorded with. */
function groupsOf(run: RunInfo): string {
	const { cpu = [], gpu = [] } = run.run.filters ?? {};
	return run.groups ?? [...cpu, ...gpu].map((f) => `${f.keyword}:${f.colour}`).join(', ');
}

async function openOther(app: App) {
	const other = new App(new HttpSource('b'));
	other.isSecond = true;
	other.state.isDark = app.state.isDark;
	other.names.setDark(app.state.isDark);
	await load(other);
	other.showAll();
	app.other = other;
	app.set({});
}

/** The view that one of SOFA's pages was; a filter that would leave nothing is not set. */
function openNamed(app: App, p: typeof PATHS[string]) {
	const hasTracks = app.state.tracks!.processes.some((x) => x.threads.some((t) => (t.name ?? '').toLowerCase().includes(p.trackFilter ?? '')
		|| t.lanes.some((l) => l.kind === p.trackFilter || (l.name ?? '').toLowerCase().includes(p.trackFilter ?? ''))));
	app.set({ tab: p.tab, flame: p.flame ?? null, trackFilter: hasTracks ? p.trackFilter ?? '' : '' });
	if (p.trackFilter && !hasTracks) app.set({ notice: 'This run has no events of a GPU.' });
}

/** The page that `sonde live` serves; it has no run. */
function startLive() {
	setTheme(wantsDark(), false);
	document.title = 'live – sonde';
	render(<LivePage isDark={wantsDark()} setDark={(isDark) => setTheme(isDark)} />, document.getElementById('app')!);
}

/** The page of a study; it has no run. */
async function startStudy() {
	const study = await fetchStudy();
	setTheme(wantsDark(), false);
	document.title = `${study.study} – sonde`;
	render(<StudyPage first={study} />, document.getElementById('app')!);
}

async function start() {
	if (location.pathname === '/live') return startLive();
	if (location.pathname === '/study') return startStudy();
	const source: Source = embeddedSource() ?? new HttpSource();
	const app = new App(source);
	setDark(app, wantsDark(), false);
	render(<Page app={app} />, document.getElementById('app')!);
	(window as any).sonde = { app, timeline: null };
	try {
		await load(app);
		app.showAll();
		const groups = groupsOf(app.state.run!);
		if (groups) app.setGroups(groups);
		if (app.state.run!.other && source.isLive) await openOther(app);
		if (source.isLive && PATHS[location.pathname]) openNamed(app, PATHS[location.pathname]);
		app.readHash();
		document.title = `${app.state.run!.path.split('/').pop()} – sonde`;
		if (source.isLive && app.state.run!.is_growing) listen(app);
		void findLoops(app);
	} catch (error) {
		app.fail(error);
	}
	window.addEventListener('hashchange', () => app.readHash());
}

void start();
