// Below the timeline: the event selected, what the brushed stretch holds, what a search found.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { StatRow } from './api';
import { Arrows } from './arrows';
import { tableOf } from './flame';
import { fetchTree, FlameRows } from './flame-view';
import { bytes, count, duration, exact, percent, tick } from './format';
import { ioColumns } from './io-view';
import { OfThreads, ScopeNote } from './scope';
import type { App } from './state';
import { Chip, Table } from './table';
import { useAnswer, useApp } from './use';

const HIDDEN = new Set(['table', 'title', 'ts_ns', 'dur_ns', 'process', 'is_open', 'name', 'call']);
const SIZES = new Set(['size', 'bytes']);

function shown(key: string, value: unknown): string {
	if (typeof value === 'number') return SIZES.has(key) ? `${count(value)} (${bytes(value)})` : Math.abs(value) < 1e6 ? String(value) : count(value);
	return String(value);
}

function Event({ app }: { app: App }) {
	const { selection, details } = useApp(app);
	if (!selection) return <p class="quiet">Click an event to see what it is. Drag along the ruler to measure a stretch, or with Shift over threads to measure theirs.</p>;
	const start = details?.start_ns ?? selection.start, length = details ? details.duration_ns : selection.end - selection.start;
	const row = details?.row ?? {};
	const isSample = row.table === 'sample', name = isSample ? undefined : app.names.get(details?.name_id ?? selection.nameId);
	const title = isSample ? String((row.stack as string[] | undefined)?.[0] ?? 'sample') : String(row.title ?? row.name ?? name?.text ?? '');
	const facts = Object.entries(row).filter(([key, value]) => !HIDDEN.has(key) && !(key === 'errnum' && value === 0));
	return (
		<div class="event" data-testid="event">
			<div class="event-head">
				<Chip color={name?.css ?? 'gray'} text={row.index !== undefined ? `${title} ${row.index}` : title} note={[row.table, name?.category].filter(Boolean).join(' · ')} />
				<button onClick={() => app.show(start, start + length)}>Zoom to it</button>
				<button onClick={() => app.set({ brush: { from: start, to: start + Math.max(1, length) } })}>Measure it</button>
				<button onClick={() => app.find(title)}>Find all</button>
			</div>
			<dl>
				<dt>duration</dt><dd data-testid="event-duration" title={exact(length)}>{duration(length)}</dd>
				<dt>starts at</dt><dd data-testid="event-start" title={exact(start)}>{tick(start, Math.max(1, length / 100))}</dd>
				{facts.map(([key, value]) => <><dt>{key}</dt><dd data-key={key}>{Array.isArray(value) ? <ol class="stack">{value.map((f) => <li>{String(f)}</li>)}</ol> : shown(key, value)}</dd></>)}
			</dl>
			<Arrows app={app} start={start} end={start + length} />
		</div>
	);
}

export function NameTable({ app, rows, scopeNs, isShort }: { app: App; rows: StatRow[]; scopeNs: number; isShort?: boolean }) {
	const most = Math.max(1, ...rows.map((r) => r.total_ns));
	return (
		<Table label="by name" rows={rows} sort="total" limit={30} onRow={(r) => void app.find(r.name ?? '')} columns={[
			{ title: 'name', key: 'name', isText: true, value: (r) => r.name ?? '', show: (r) => {
				const name = app.names.get(r.name_id);
				return <Chip color={name?.css ?? 'gray'} text={r.name ?? '(unknown)'} note={name?.category} />;
			} },
			{ title: 'total', key: 'total', value: (r) => r.total_ns, show: (r) => duration(r.total_ns), bar: (r) => r.total_ns / most },
			{ title: 'of wall', key: 'share', value: (r) => r.total_ns, show: (r) => percent(r.total_ns / scopeNs) },
			{ title: 'count', key: 'count', value: (r) => r.count, show: (r) => count(r.count) },
			...(isShort ? [] : [{ title: 'mean', key: 'mean', value: (r: StatRow) => r.mean_ns ?? 0, show: (r: StatRow) => duration(r.mean_ns ?? NaN) },
			{ title: 'least', key: 'min', value: (r: StatRow) => r.min_ns ?? 0, show: (r: StatRow) => duration(r.min_ns ?? NaN) }]),
			{ title: 'longest', key: 'max', value: (r) => r.max_ns ?? 0, show: (r) => duration(r.max_ns ?? NaN) },
		]} />
	);
}

function Statistics({ app }: { app: App }) {
	const s = useApp(app), scope = app.scope;
	const { value, isBusy } = useAnswer(() => app.source.stats(scope, app.lanes), [app.scopeKey, s.run?.generation], (e) => app.fail(e));
	if (!value) return <p class="quiet">{isBusy ? 'Adding up…' : ''}</p>;
	return (
		<div data-testid="stats" class={isBusy ? 'busy' : ''}>
			<p class="quiet" data-testid="stats-head">
				{s.brush ? <>{duration(value.to_ns - value.from_ns)} from {tick(value.from_ns, 1e3)}<OfThreads app={app} /></> : 'The whole run'}: {value.is_least && 'at least '}<b data-testid="stats-events">{count(value.events)}</b> events, {count(value.names)} names
				{s.brush && <> · <button class="plain" onClick={() => app.set({ brush: null })}>whole run</button> · <button class="plain" onClick={() => app.set({ tab: 'flame' })}>flame graph of it</button></>}
			</p>
			<NameTable app={app} rows={value.rows} scopeNs={value.to_ns - value.from_ns} />
		</div>
	);
}

function Found({ app }: { app: App }) {
	const { hits, search, hit, isAllHits } = useApp(app);
	if (!search) return <p class="quiet">Type in the search field above ( / ) to find events by name.</p>;
	if (!hits) return <p class="quiet">Searching…</p>;
	return (
		<div data-testid="hits">
			<p class="quiet">{isAllHits ? count(hits.length) : `the first ${count(hits.length)}`} events with “{search}” · Enter and Shift-Enter go through them</p>
			<div class="hits">
				{hits.slice(0, 300).map((h, i) => (
					<button class={i === hit ? 'on' : ''} onClick={() => app.goToHit(i)}>
						<Chip color={app.names.get(h.name_id)?.css ?? 'gray'} text={h.name ?? ''} />
						<span>{tick(h.start_ns, 1e3)}</span><span>{duration(h.duration_ns)}</span>
					</button>
				))}
			</div>
		</div>
	);
}

/** Functions of samples in the brushed stretch. */
function Functions({ app }: { app: App }) {
	const s = useApp(app), scope = app.scope;
	const { value, isBusy } = useAnswer(() => fetchTree(app.source, scope, { source: 'cpu', calls: true }, app.threads), [app.scopeKey, s.run?.generation], (e) => app.fail(e));
	if (!value) return <p class="quiet">{isBusy ? 'Adding up…' : ''}</p>;
	if (!value.total) return <p class="quiet">No CPU samples {s.brush ? 'in this stretch' : 'in this run'}.</p>;
	return <div data-testid="functions" class={isBusy ? 'busy' : ''}><Scope app={app}><b>{duration(value.total)}</b> on the CPUs</Scope>
		<FlameRows rows={tableOf(value)} root={value} isCompared={false} onRow={(r) => { app.set({ tab: 'flame', flame: 'cpu' }); void app.find(r.text); }} /></div>;
}

/** Files that calls of the brushed stretch touched. */
function Files({ app }: { app: App }) {
	const s = useApp(app), scope = app.scope;
	const { value, isBusy } = useAnswer(() => app.source.io(scope), [scope.from, scope.to, s.run?.generation], (e) => app.fail(e));
	if (!value) return <p class="quiet">{isBusy ? 'Adding up…' : ''}</p>;
	return <div data-testid="files" class={isBusy ? 'busy' : ''}><Scope app={app}><b>{count(value.file_count)}</b> files{s.brush?.threads && ', of all threads'}</Scope>
		<Table label="files" rows={value.files} sort="time" limit={30} columns={ioColumns('file', value.files)} empty="No call touched a file." /></div>;
}

/** What the numbers are of, and the numbers' sum. */
function Scope({ app, children }: { app: App; children: ComponentChildren }) {
	return <p class="quiet"><ScopeNote app={app} whole="The whole run" />: {children}
		{app.state.brush && <> · <button class="plain" onClick={() => app.set({ tab: 'flame' })}>flame graph of it</button></>}</p>;
}

const FOLDED = 34; // pixels: its tabs alone
const PANELS = { event: 'Event', stats: 'Statistics', functions: 'Functions', files: 'Files', hits: 'Search' } as const;

export function Panel({ app }: { app: App }) {
	const s = useApp(app);
	const [chosen, choose] = useState<keyof typeof PANELS>('stats');
	const [height, setHeight] = useState<number | null>(null); // null: as the page's style says
	const [last, setLast] = useState({ selection: s.selection, search: s.search, brush: s.brush });
	// What the user did last is what is shown.
	if (last.selection !== s.selection || last.search !== s.search || last.brush !== s.brush) {
		const isNewEvent = s.selection && last.selection?.start !== s.selection.start;
		if (s.search !== last.search && s.search) choose('hits');
		else if (s.brush !== last.brush && s.brush && (chosen === 'event' || chosen === 'hits')) choose('stats');
		else if (isNewEvent && chosen !== 'hits') choose('event');
		setLast({ selection: s.selection, search: s.search, brush: s.brush });
	}
	const drag = (e: PointerEvent) => {
		const el = e.currentTarget as HTMLElement, panel = el.parentElement!, start = e.clientY, before = panel.clientHeight;
		const move = (m: PointerEvent) => setHeight(Math.min(window.innerHeight * 0.8, Math.max(FOLDED, before + start - m.clientY)));
		el.setPointerCapture(e.pointerId);
		el.addEventListener('pointermove', move);
		el.addEventListener('pointerup', () => el.removeEventListener('pointermove', move), { once: true });
	};
	return (
		<section class="panel" aria-label="details" style={height === null ? undefined : { height: `${height}px` }}>
			<div class="grip" role="separator" aria-orientation="horizontal" aria-label="Height of the panel" title="Drag to resize; double-click to fold" onPointerDown={drag} onDblClick={() => setHeight(height === FOLDED ? null : FOLDED)} />
			<nav role="tablist">
				{(Object.keys(PANELS) as Array<keyof typeof PANELS>).map((key) => (
					<button role="tab" aria-selected={key === chosen} data-testid={`panel-${key}`} onClick={() => choose(key)}>{PANELS[key]}
						{key === 'hits' && s.hits && <small>{s.isAllHits ? s.hits.length : `${s.hits.length}+`}</small>}</button>
				))}
			</nav>
			<div class="panel-body">
				{chosen === 'event' && <Event app={app} />}
				{chosen === 'stats' && <Statistics app={app} />}
				{chosen === 'functions' && <Functions app={app} />}
				{chosen === 'files' && <Files app={app} />}
				{chosen === 'hits' && <Found app={app} />}
			</div>
		</section>
	);
}
