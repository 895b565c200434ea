// The page: header, tabs, keys, and the views.
import { useEffect, useRef, useState } from 'preact/hooks';
import { FlameView } from './flame-view';
import { duration } from './format';
import { IoView } from './io-view';
import { Overview } from './overview';
import { type App, type Tab, TABS } from './state';
import { StepsView } from './steps-view';
import type { Timeline } from './timeline';
import { TimelineView } from './timeline-view';
import { useApp } from './use';

const TITLES: Record<Tab, string> = { overview: 'Overview', timeline: 'Timeline', flame: 'Flame graph', io: 'I/O', steps: 'Iterations' };

const KEYS: Array<[string, string]> = [
	['W S', 'zoom in and out at the pointer'], ['A D', 'move left and right'], ['0', 'show the whole run'], ['F', 'zoom to the selection'],
	['E', 'select the first event in view'], ['← →', 'the event before and after'], ['↑ ↓', 'the event around and inside'], ['M', 'measure the selected event'],
	['/', 'search'], ['Enter', 'next result, with Shift the one before'], ['Esc', 'clear'], ['1 – 5', 'overview, timeline, flame graph, I/O, iterations'],
	['T', 'light or dark'], ['?', 'this list'], ['Ctrl + wheel', 'zoom, as pinching does'], ['Shift + wheel', 'move sideways'], ['Drag', 'move; on the ruler or with Shift: measure a stretch'],
];

function Help({ app }: { app: App }) {
	return (
		<div class="veil" onClick={() => app.set({ isHelpOpen: false })}>
			<div class="card help" role="dialog" aria-label="keys"><h2>Keys</h2><dl>{KEYS.map(([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl></div>
		</div>
	);
}

/** The canvas in view as a picture. */
function savePng(app: App) {
	const canvas = document.querySelector<HTMLCanvasElement>('canvas[data-testid=timeline], canvas[data-testid=flame]');
	if (!canvas) { app.set({ notice: 'Open the timeline or the flame graph to save it as a picture.' }); return; }
	canvas.toBlob((blob) => {
		if (!blob) return;
		const a = document.createElement('a');
		a.href = URL.createObjectURL(blob);
		a.download = `sonde-${app.state.tab}.png`;
		a.click();
		setTimeout(() => URL.revokeObjectURL(a.href), 1000);
	});
}

async function copy(app: App, text: string, said: string) {
	try {
		await navigator.clipboard.writeText(text);
		app.set({ notice: said });
	} catch {
		app.set({ notice: text });
	}
}

function Menu({ app }: { app: App }) {
	const [isOpen, setOpen] = useState(false);
	const item = (title: string, act: () => void) => <button role="menuitem" onClick={() => { setOpen(false); act(); }}>{title}</button>;
	return (
		<div class="menu">
			<button aria-haspopup="menu" aria-expanded={isOpen} aria-label="Menu" onClick={() => setOpen(!isOpen)}>⋯</button>
			{isOpen && <div role="menu" class="card">
				{item('Copy a link to this view', () => copy(app, location.origin + location.pathname + app.permalink(), 'The link is copied. It opens in browsers that have this page’s cookie.'))}
				{app.source.isLive && item('Link for another browser', async () => copy(app, await app.source.link(), 'A link that works once is copied.'))}
				{item('Save as PNG', () => savePng(app))}
				{item(app.state.isDark ? 'Light theme' : 'Dark theme', () => setDark(app, !app.state.isDark))}
				{item('Keys (?)', () => app.set({ isHelpOpen: true }))}
			</div>}
		</div>
	);
}

export function setDark(app: App, isDark: boolean, isKept = true) {
	document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
	app.names.setDark(isDark);
	app.set({ isDark });
	try { if (isKept) localStorage.setItem('sonde-theme', isDark ? 'dark' : 'light'); } catch { /* no storage: not kept */ }
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
				if (app.state.isHelpOpen) app.set({ isHelpOpen: false });
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
			else if (e.key >= '1' && e.key <= '5') app.set({ tab: TABS[Number(e.key) - 1] });
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
				<nav role="tablist" aria-label="views">{TABS.map((t) => <button role="tab" aria-selected={s.tab === t} data-testid={`tab-${t}`} onClick={() => app.set({ tab: t })}>{TITLES[t]}</button>)}</nav>
				<form class="search" role="search" onSubmit={(e) => e.preventDefault()}>
					<input ref={search} type="search" placeholder="Search events  /" aria-label="Search events" data-testid="search" value={s.search}
						onInput={(e) => void app.find(e.currentTarget.value)} onKeyDown={(e) => { if (e.key === 'Enter') app.goToHit(app.state.hit + (e.shiftKey ? -1 : 1)); }} />
					{s.hits && <span class="quiet">{s.hits.length ? `${s.hit + 1}/${s.isAllHits ? s.hits.length : `${s.hits.length}+`}` : 'none'}</span>}
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
			</main>
			{s.isHelpOpen && <Help app={app} />}
		</>
	);
}
