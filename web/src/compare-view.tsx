// Two runs side by side on one time axis, and what changed from the first to the second.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Summary } from './api';
import { bytes, count, duration } from './format';
import type { App } from './state';
import { StateBar, statesOf } from './states';
import { useLoops } from './steps-view';
import type { Loop } from './steps';
import { Table } from './table';
import { TrackArea } from './timeline-view';
import { useAnswer, useApp } from './use';

export interface Change { what: string; name: string; before: number; after: number; unit: 'ns' | 'bytes' | 'count' }

const show = (v: number, unit: Change['unit']) => unit === 'ns' ? duration(v) : unit === 'bytes' ? bytes(v) : count(v);

function addList(out: Change[], what: string, unit: Change['unit'], a: Array<Record<string, unknown>> | undefined, b: Array<Record<string, unknown>> | undefined, name: string, key: string) {
	const rows = new Map<string, Change>();
	const put = (list: Array<Record<string, unknown>> | undefined, side: 'before' | 'after') => list?.forEach((r) => {
		const text = String(r[name] ?? ''), row = rows.get(text) ?? { what, name: text, before: 0, after: 0, unit };
		row[side] += Number(r[key] ?? 0);
		rows.set(text, row);
	});
	put(a, 'before');
	put(b, 'after');
	out.push(...[...rows.values()].filter((r) => r.before || r.after));
}

/** Quantities that both summaries have; of lists, every row that one of them has. */
export function changesOf(a: Summary, b: Summary): Change[] {
	const out: Change[] = [{ what: 'run', name: 'wall time', before: a.wall_ns, after: b.wall_ns, unit: 'ns' }];
	if (a.cpu && b.cpu) out.push({ what: 'run', name: 'CPU time', before: a.cpu.cpu_ns, after: b.cpu.cpu_ns, unit: 'ns' });
	const sa = statesOf(a), sb = statesOf(b);
	for (const one of new Set([...(sa ?? []), ...(sb ?? [])].map((s) => s.label)))
		out.push({ what: 'state', name: one, before: sa?.find((s) => s.label === one)?.ns ?? 0, after: sb?.find((s) => s.label === one)?.ns ?? 0, unit: 'ns' });
	addList(out, 'function', 'ns', a.cpu?.by_function as never, b.cpu?.by_function as never, 'function', 'self_ns');
	addList(out, 'call', 'ns', a.io?.by_call, b.io?.by_call, 'call', 'total_ns');
	addList(out, 'file', 'ns', a.io?.by_file, b.io?.by_file, 'path', 'total_ns');
	return out;
}

function Changes({ app, changes }: { app: App; changes: Change[] }) {
	const [kind, setKind] = useState('');
	const rows = kind ? changes.filter((c) => c.what === kind) : changes.filter((c) => c.what !== 'run');
	const most = Math.max(1, ...rows.map((c) => Math.abs(c.after - c.before)));
	return (
		<div class="card" data-testid="changes">
			<h2>What changed<span class="switch" role="group" aria-label="kind">{['', ...new Set(changes.map((c) => c.what))].filter((k) => k !== 'run').map((k) => <button aria-pressed={kind === k} onClick={() => setKind(k)}>{k || 'all'}</button>)}</span></h2>
			<p class="quiet">One run each: no interval. <code>sonde diff</code> of several runs of each has one.</p>
			<Table label="changes" rows={rows} sort="change" limit={20} onRow={(c) => { app.set({ tab: c.what === 'function' ? 'flame' : 'timeline' }); void app.find(c.name); }} columns={[
				{ title: 'what', key: 'what', isText: true, value: (c) => c.name, show: (c) => <span class="path" title={c.name}>{c.name}<small>{c.what}</small></span> },
				{ title: 'before', key: 'before', value: (c) => c.before, show: (c) => c.before ? show(c.before, c.unit) : '–' },
				{ title: 'after', key: 'after', value: (c) => c.after, show: (c) => c.after ? show(c.after, c.unit) : '–' },
				{ title: 'change', key: 'change', value: (c) => Math.abs(c.after - c.before), bar: (c) => Math.abs(c.after - c.before) / most,
					show: (c) => <b class={c.after > c.before ? 'more-time' : 'less-time'}>{c.after > c.before ? '+' : '−'}{show(Math.abs(c.after - c.before), c.unit)}</b> },
				{ title: 'ratio', key: 'ratio', value: (c) => c.before ? c.after / c.before : Infinity, show: (c) => c.before && c.after ? `${(c.after / c.before).toFixed(2)}×` : c.before ? 'gone' : 'new' },
			]} />
		</div>
	);
}

/** The other run's times are shown `offset` later, so that the chosen instants lie beneath each other. */
function useSync(app: App, other: App, offset: number) {
	useEffect(() => {
		let isSyncing = false;
		app.extent = other.duration + offset;
		other.extent = app.duration - offset;
		const push = (from: App, to: App, by: number) => () => {
			const w = from.state.window, v = to.state.window;
			if (isSyncing || (Math.abs(v.from - w.from - by) < 1 && Math.abs(v.to - w.to - by) < 1)) return;
			isSyncing = true;
			to.set({ window: { from: w.from + by, to: w.to + by } });
			isSyncing = false;
		};
		const toOther = push(app, other, -offset), stops = [app.subscribe(toOther), other.subscribe(push(other, app, offset))];
		const end = Math.max(app.duration, other.duration + offset), start = Math.min(0, offset);
		app.set({ window: { from: start - (end - start) * 0.01, to: end + (end - start) * 0.01 } });
		return () => { stops.forEach((stop) => stop()); app.extent = other.extent = 0; };
	}, [app, other, offset]);
}

function useAlignment(app: App, other: App): { offset: number; control: preact.JSX.Element } {
	const mine = useLoops(app), theirs = useLoops(other);
	const [loop, setLoop] = useState(''), [index, setIndex] = useState(1);
	const common = useMemo(() => (mine ?? []).filter((l) => theirs?.some((t) => t.name === l.name)), [mine, theirs]);
	const at = (loops: Loop[] | null) => loops?.find((l) => l.name === loop)?.iterations.find((i) => i.index === index)?.start;
	const a = at(mine), b = at(theirs), offset = loop && a !== undefined && b !== undefined ? a - b : 0;
	const control = (
		<label>aligned at <select data-testid="align" value={loop} onChange={(e) => setLoop(e.currentTarget.value)}>
			<option value="">the start</option>
			{common.map((l) => <option value={l.name}>a step of {l.name}</option>)}
		</select>{loop && <input type="number" min={0} value={index} aria-label="step" onInput={(e) => setIndex(Number(e.currentTarget.value))} />}
		{loop && (a === undefined || b === undefined) && <span class="warn"> not in both runs</span>}</label>
	);
	return { offset, control };
}

export function CompareView({ app, other }: { app: App; other: App }) {
	const s = useApp(app);
	useApp(other);
	const { offset, control } = useAlignment(app, other);
	useSync(app, other, offset);
	const { value } = useAnswer(() => Promise.all([other.source.summary(), app.source.summary()]), [s.run?.generation], (e) => app.fail(e));
	const changes = useMemo(() => value?.[0] && value[1] ? changesOf(value[0], value[1]) : null, [value]);
	const ratio = app.duration / other.duration;
	const states = value?.map(statesOf);
	return (
		<div class="page compare">
			<div class="card">
				<div class="toolbar"><b data-testid="verdict">{ratio > 1.005 ? `${((ratio - 1) * 100).toFixed(1)} % slower` : ratio < 0.995 ? `${((1 - ratio) * 100).toFixed(1)} % faster` : 'as fast'} than before</b>
					<span class="quiet">before: {other.name}, {duration(other.duration)} · after: {app.name}, {duration(app.duration)} · one run each, no interval</span>{control}
					<button class="plain" onClick={() => app.set({ tab: 'flame' })}>flame graph against it</button></div>
				{states?.[0] && <StateBar states={states[0]} caption="Before" />}
				{states?.[1] && <StateBar states={states[1]} caption="After" />}
			</div>
			<div class="pair" data-testid="pair">
				<TrackArea app={other} onReady={() => {}} caption={<div class="side-name">before · {other.name}</div>} />
				<TrackArea app={app} onReady={() => {}} caption={<div class="side-name">after · {app.name}</div>} />
			</div>
			{changes ? <Changes app={app} changes={changes} /> : <p class="quiet">Adding up both runs…</p>}
		</div>
	);
}
