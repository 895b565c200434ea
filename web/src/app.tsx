// The page: header, tabs, keys, and the views.
import { useEffect, useRef, useState } from 'preact/hooks';
import { follow } from './arrows';
import { copyText } from './copy';
import { FlameView } from './flame-view';
import { CompareView } from './compare-view';
import { duration } from './format';
import { IoView } from './io-view';
import { Overview } from './overview';
import { savePng } from './png';
import { SqlView } from './sql-view';
import type { App, Tab } from './state';
import { StateLegend } from './states';
import { StepsView } from './steps-view';
import type { Timeline } from './timeline';
import { TimelineView } from './timeline-view';
import { useApp } from './use';

const TITLES: Record<Tab, string> = { overview: 'Overview', timeline: 'Timeline', flame: 'Flame graph', io: 'I/O', steps: 'Iterations', compare: 'Compare', sql: 'SQL' };

const KEYS: Array<[string, string]> = [
	['W S', 'zoom in and out at the pointer'], ['A D', 'move left and right'], ['0', 'show the whole run'], ['F', 'zoom to the selection'],
	['E', 'select the first event in view'], ['← →', 'the event before and after'], ['↑ ↓', 'the event around and inside'], ['M', 'measure the selected event'],
	['/', 'search'], ['Enter', 'next result, with Shift the one before'], ['Esc', 'clear'], ['1 – 7', 'the views, from the left'], ['P', 'pin the selected event’s track'], ['L', 'follow the end of a run that is being recorded'],
	['T', 'light or dark'], ['?', 'this list'], ['Ctrl + wheel', 'zoom, as pinching does'], ['Shift + wheel', 'move sideways'], ['Drag', 'move; on the ruler: measure a stretch'], ['Shift + drag', 'measure a stretch of the threads dragged over'], ['[ ]', 'to where an arrow to the selected event comes from, one from it goes to'],
];

function Help({ app }: { app: App }) {
	return (
		<div class="veil" onClick={() => app.set({ isHelpOpen: false })}>
			<div class="card help" role="dialog" aria-label="keys"><h2>Keys</h2><dl>{KEYS.map(([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl><h2>The lines above a thread</h2><StateLegend /></div>
		</div>
	);
}

/** Words and colours, as SOFA's --cpu_filters has them. */
function Groups({ app }: { app: App }) {
	const close = () => app.set({ isGroupsOpen: false });
	return (
		<div class="veil" onClick={(e) => { if (e.target === e.currentTarget) close(); }}>
			<form class="card help" role="dialog" aria-label="colour groups" onSubmit={(e) => { e.preventDefault(); close(); }}>
				<h2>Colour groups</h2>
				<p class="quiet">Events and functions that have a word in their name get its colour, here and in links.</p>
				<input autofocus data-testid="groups" placeholder="read:orange, dgemm:#3a7" value={app.state.groups} onInput={(e) => app.setGroups(e.currentTarget.value)} size={44} />
				<p class="acts"><button type="button" onClick={() => { app.setGroups(''); close(); }}>Clear</button><button type="submit">Done</button></p>
			</form>
		</div>
	);
}

function Menu({ app }: { app: App }) {
	const [isOpen, setOpen] = useState(false);
	const item = (title: string, act: () => void) => <button role="menuitem" onClick={() => { setOpen(false); act(); }}>{title}</button>;
	return (
		<div class="menu">
			<button aria-haspopup="menu" aria-expanded={isOpen} aria-label="Menu" onClick={() => setOpen(!isOpen)}>⋯</button>
			{isOpen && <div role="menu" class="card">
				{item('Copy a link to this view', () => copyText(app, location.origin + location.pathname + app.permalink(), 'The link is copied. It opens in browsers that have this page’s cookie.'))}
				{app.source.isLive && item('Link for another browser', async () => copyText(app, await app.source.link(), 'A link that works once is copied.'))}
				{item('Save as PNG', () => savePng(app))}
				{item(app.state.isDark ? 'Light theme' : 'Dark theme', () => setDark(app, !app.state.isDark))}
				{item(app.state.hasArrows ? 'Hide arrows' : 'Show arrows', () => app.set({ hasArrows: !app.state.hasArrows }))}
				{item('Colour groups…', () => app.set({ isGroupsOpen: true }))}
				{item('Keys (?)', () => app.set({ isHelpOpen: true }))}
			</div>}
		</div>
	);
}

export function setTheme(isDark: boolean, isKept = true) {
	document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
	try { if (isKept) localStorage.setItem('sonde-theme', isDark ? 'dark' : 'light'); } catch { /* no storage: not kept */ }
}

export function setDark(app: App, isDark: boolean, isKept = true) {
	setTheme(isDark, isKept);
	app.names.setDark(isDark);
	app.other?.names.setDark(isDark);
	app.other?.set({ isDark });
	app.set({ isDark });
}

/** Keys of the timeline; false: not one of them. */
function timelineKey(app: App, t: Timeline, key: string, at: number | null): boolean {
	const s = app.state.selection;
	const acts: Record<string, () => void> = {
		w: () => t.zoom(0.6, at), s: () => t.zoom(1 / 0.6, at), '+': () => t.zoom(0.6, at), '=': () => t.zoom(0.6, at), '-': () => t.zoom(1 / 0.6, at),
		a: () => t.pan(-0.25), d: () => t.pan(0.25), '0': () => t.glide(-app.duration * 0.01, app.duration * 1.01), Home: () => t.glide(-app.duration * 0.01, app.duration * 1.01),
		f: () => { const b = s ? { from: s.start, to: s.end } : app.state.brush; if (b) t.glide(b.from - (b.to - b.from) * 0.2 - 20, b.to + (b.to - b.from) * 0.2 + 20); },
		m: () => { if (s) app.set({ brush: { from: s.start, to: Math.max(s.end, s.start + 1) } }); },
		e: () => t.selectFirst(),
		p: () => { const row = s && t.rowOf(s.lane); if (row) app.toggle('pins', row.key); },
		'[': () => void follow(app, 'from'), ']': () => void follow(app, 'to'),
		ArrowLeft: () => s ? void t.step(-1) : t.pan(-0.1), ArrowRight: () => s ? void t.step(1) : t.pan(0.1),
		ArrowUp: () => s && void t.climb(-1), ArrowDown: () => s && void t.climb(1),
	};
	const act = acts[key.length === 1 ? key.toLowerCase() : key];
	act?.();
	return !!act;
}

export function Page({ app }: { app: App }) {
	const s = useApp(app);
	const timeline = useRef<Timeline | null>(null), search = useRef<HTMLInputElement>(null), pointer = useRef<number | null>(null);
	useEffect(() => {
		const onMove = (e: PointerEvent) => {
			const box = document.querySelector('canvas[data-testid=timeline]')?.getBoundingClientRect();
			pointer.current = box && e.clientX >= box.left && e.clientX <= box.right ? e.clientX - box.left : null;
		};
		const onKey = (e: KeyboardEvent) => {
			const target = e.target as HTMLElement, isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
			if (e.key === 'Escape') {
				if (app.state.isHelpOpen || app.state.isGroupsOpen) app.set({ isHelpOpen: false, isGroupsOpen: false });
				else if (app.state.search) void app.find('');
				else if (app.state.brush) app.set({ brush: null });
				else void app.select(null);
				(target as HTMLElement).blur?.();
				return;
			}
			if (isTyping || e.ctrlKey || e.metaKey || e.altKey) return;
			if (e.key === '/') { e.preventDefault(); search.current?.focus(); search.current?.select(); }
			else if (e.key === '?') app.set({ isHelpOpen: !app.state.isHelpOpen });
			else if (e.key === 't' || e.key === 'T') setDark(app, !app.state.isDark);
			else if (e.key >= '1' && e.key <= '7') { const tab = app.tabs[Number(e.key) - 1]; if (tab) app.set({ tab }); }
			else if (e.key === 'l' || e.key === 'L') app.set({ isFollowing: !app.state.isFollowing });
			else if (e.key === 'Enter' && target.tagName !== 'BUTTON' && target.tagName !== 'TR' && app.state.hits) app.goToHit(app.state.hit + (e.shiftKey ? -1 : 1));
			else if (app.state.tab === 'timeline' && timeline.current && timelineKey(app, timeline.current, e.key, pointer.current)) e.preventDefault();
		};
		window.addEventListener('keydown', onKey);
		window.addEventListener('pointermove', onMove);
		return () => { window.removeEventListener('keydown', onKey); window.removeEventListener('pointermove', onMove); };
	}, [app]);
	useEffect(() => {
		if (!s.notice) return;
		const timer = setTimeout(() => app.set({ notice: null }), 5000);
		return () => clearTimeout(timer);
	}, [s.notice]);
	const name = s.run?.path.split('/').pop() ?? '';
	return (
		<>
			<header>
				<b class="logo">sonde</b>
				<span class="run-name" title={s.run?.path}>{name}</span>
				{s.run?.is_growing && <span class="live">recording · {duration(app.duration)}</span>}
				{s.run?.is_growing && <button class="follow" aria-pressed={s.isFollowing} title="The timeline moves with the end of the run (L)" onClick={() => app.set({ isFollowing: !s.isFollowing })}>Follow</button>}
				<nav role="tablist" aria-label="views">{app.tabs.map((t) => <button role="tab" aria-selected={s.tab === t} data-testid={`tab-${t}`} onClick={() => app.set({ tab: t })}>{TITLES[t]}</button>)}</nav>
				<form class="search" role="search" onSubmit={(e) => e.preventDefault()}>
					<input ref={search} type="search" placeholder="Search events and functions  /" aria-label="Search events and functions" data-testid="search" value={s.search}
						onInput={(e) => void app.find(e.currentTarget.value)} onKeyDown={(e) => { if (e.key === 'Enter') app.goToHit(app.state.hit + (e.shiftKey ? -1 : 1)); }} />
					{s.hits && s.tab !== 'flame' && <span class="quiet">{s.hits.length ? `${s.hit + 1}/${s.isAllHits ? s.hits.length : `${s.hits.length}+`}` : 'none'}</span>}
				</form>
				<button class="theme" aria-label={s.isDark ? 'Light theme' : 'Dark theme'} title="Light or dark (T)" onClick={() => setDark(app, !s.isDark)}>{s.isDark ? '☀' : '☾'}</button>
				<Menu app={app} />
			</header>
			{s.error && <div class="error" role="alert"><span>{s.error}</span><button onClick={() => app.set({ error: null })} aria-label="Close">×</button></div>}
			{s.notice && <div class="notice" role="status">{s.notice}</div>}
			<main>
				{!s.run && !s.error && <p class="quiet centre">Opening the run…</p>}
				{s.run && s.tab === 'overview' && <Overview app={app} />}
				{s.run && s.tab === 'timeline' && <TimelineView app={app} onReady={(t) => { timeline.current = t; (window as any).sonde = { app, timeline: t }; }} />}
				{s.run && s.tab === 'flame' && <FlameView app={app} />}
				{s.run && s.tab === 'io' && <IoView app={app} />}
				{s.run && s.tab === 'steps' && <StepsView app={app} />}
				{s.run && s.tab === 'compare' && app.other && <CompareView app={app} other={app.other} />}
				{s.run && s.tab === 'sql' && <SqlView app={app} />}
			</main>
			{s.isGroupsOpen && <Groups app={app} />}
			{s.isHelpOpen && <Help app={app} />}
		</>
	);
}
