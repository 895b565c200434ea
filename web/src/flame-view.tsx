// The flame graph: on CPU, off CPU or spans; whole run or brushed stretch; all threads or one; top-down or bottom-up; alone or
// beside another run.
import { useMemo, useState } from 'preact/hooks';
import type { Flame, FlameOptions, FlameSource, Source, Window } from './api';
import { bottomUp, compare, matched, tableOf, together, topDown, type FlameRow, type Node } from './flame';
import { FlameCanvas } from './flame-canvas';
import { count, duration, percent } from './format';
import { processLabel, threadLabel } from './layout';
import { ScopeNote } from './scope';
import type { App } from './state';
import { Table } from './table';
import { useAnswer, useApp } from './use';

const SOURCES: Array<[FlameSource, string, string]> = [
	['cpu', 'On CPU', 'samples by function'], ['offcpu', 'Off CPU', 'time off the CPUs by where the thread stopped'], ['spans', 'Spans and calls', 'annotated spans and traced calls'],
];
const EMPTY: Record<FlameSource, string> = {
	cpu: 'No CPU samples in this stretch.', offcpu: 'No thread was off the CPUs in this stretch.', spans: 'No spans or calls in this stretch.',
};

/** A tree of texts, whatever run the numbers of its names are of; of some threads, or of all. */
export async function fetchTree(source: Source, w: Window, o: FlameOptions, threads: App['threads'] = null): Promise<Node> {
	if (threads) {
		const trees: Node[] = [];
		for (const { process, thread } of threads) if (process.process !== undefined && thread.tid !== undefined)
			trees.push(await fetchTree(source, w, { ...o, process: process.process, tid: thread.tid }));
		return together(trees);
	}
	const flame: Flame = await source.flame(w, o), texts = new Map<number, string>();
	for (const [id, text] of flame.names ?? []) texts.set(id, text ?? '(unknown)');
	const missing = [...new Set(flame.nodes.map((n) => n[1]))].filter((id) => id && !texts.has(id));
	for (let i = 0; i < missing.length; i += 1000)
		for (const [id, text] of await source.names(missing.slice(i, i + 1000))) texts.set(id, text ?? '(unknown)');
	return topDown(flame, (id) => texts.get(id) ?? '(unknown)');
}

type Against = '' | 'other' | 'whole';

export function FlameRows({ rows, root, isCompared, onRow }: { rows: FlameRow[]; root: Node; isCompared: boolean; onRow: (r: FlameRow) => void }) {
	const most = Math.max(1, ...rows.map((r) => r.self)), change = (r: FlameRow) => r.self - r.base;
	return (
		<Table key={String(isCompared)} label="by name" rows={rows} sort={isCompared ? 'change' : 'self'} limit={25} onRow={onRow} columns={[
			{ title: 'name', key: 'name', isText: true, value: (r) => r.text, show: (r) => <span class="path" title={r.text}>{r.text}</span> },
			{ title: 'own time', key: 'self', value: (r) => r.self, show: (r) => duration(r.self), bar: (r) => r.self / most },
			{ title: 'of all', key: 'share', value: (r) => r.self, show: (r) => percent(root.total ? r.self / root.total : 0) },
			...(isCompared ? [{ title: 'before', key: 'base', value: (r: FlameRow) => r.base, show: (r: FlameRow) => duration(r.base) },
				{ title: 'change', key: 'change', value: (r: FlameRow) => Math.abs(change(r)), show: (r: FlameRow) => Math.abs(change(r)) < 1 ? '–' : <b class={change(r) > 0 ? 'more-time' : 'less-time'}>{change(r) > 0 ? '+' : '−'}{duration(Math.abs(change(r)))}</b> }] : []),
			{ title: 'with callees', key: 'total', value: (r) => r.total, show: (r) => duration(r.total) },
			{ title: 'times', key: 'count', value: (r) => r.count, show: (r) => count(r.count) },
		]} />
	);
}

export function FlameView({ app }: { app: App }) {
	const s = useApp(app), scope = app.scope;
	const [isTurned, setTurned] = useState(false), [hasCalls, setCalls] = useState(true);
	const tables = s.run?.tables ?? {}, there: Record<FlameSource, boolean> = { cpu: !!tables.sample, offcpu: !!tables.sched, spans: !!(tables.span || tables.io) };
	const source: FlameSource = s.flame && there[s.flame] ? s.flame : there.cpu ? 'cpu' : there.spans || !there.offcpu ? 'spans' : 'offcpu';
	const [thread, setThread] = useState('');
	const [wish, setWish] = useState<Against>('');
	const against: Against = wish === 'whole' && !s.brush ? '' : wish === 'other' && !app.other ? '' : wish;
	const [process, tid] = thread === 'all' ? [] : thread.split(':');
	const options: FlameOptions = { source, calls: hasCalls, process: process ? Number(process) : undefined, tid: tid ? Number(tid) : undefined };
	const { value, isBusy } = useAnswer(async () => {
		const mine = await fetchTree(app.source, scope, options, thread ? null : app.threads);
		if (against === 'other') compare(mine, await fetchTree(app.other!.source, { from: 0, to: app.other!.duration + 1 }, { source, calls: hasCalls }), 1);
		if (against === 'whole') {
			const all = await fetchTree(app.source, { from: 0, to: app.duration + 1 }, options);
			compare(mine, all, all.total ? mine.total / all.total : 0);
		}
		return { mine, isCompared: !!against };
	}, [app.scopeKey, source, hasCalls, thread, against, s.run?.generation, app.other], (e) => app.fail(e));
	const root = useMemo(() => value && (isTurned ? bottomUp(value.mine) : value.mine), [value, isTurned]);
	const rows = useMemo(() => value && tableOf(value.mine), [value]);
	const wanted = s.search.toLowerCase(), isWanted = wanted ? (text: string) => text.toLowerCase().includes(wanted) : null;
	const threads = s.tracks?.processes.flatMap((p) => p.process === undefined ? [] : p.threads.filter((t) => t.tid !== undefined)
		.map((t) => ({ key: `${p.process}:${t.tid}`, label: `${processLabel(p)} · ${t.name || t.tid === p.pid ? `${threadLabel(p, t)} (${t.tid})` : `thread ${t.tid}`}` }))) ?? [];
	return (
		<div class="page flame">
			<div class="toolbar">
				<div class="switch" role="group" aria-label="source">
					{SOURCES.map(([key, title, hint]) => there[key] && <button aria-pressed={source === key} data-testid={`flame-${key}`} title={hint} onClick={() => app.set({ flame: key })}>{title}</button>)}
				</div>
				<div class="switch" role="group" aria-label="direction">
					<button aria-pressed={!isTurned} onClick={() => setTurned(false)}>Top-down</button>
					<button aria-pressed={isTurned} data-testid="flame-turned" onClick={() => setTurned(true)}>Bottom-up</button>
				</div>
				{source === 'spans' && <label><input type="checkbox" checked={hasCalls} onChange={(e) => setCalls(e.currentTarget.checked)} /> calls</label>}
				<select aria-label="thread" value={thread} onChange={(e) => setThread(e.currentTarget.value)}>
					<option value="">{s.brush?.threads ? `Measured threads (${s.brush.threads.length})` : 'All threads'}</option>
					{s.brush?.threads && <option value="all">All threads</option>}
					{threads.slice(0, 500).map((t) => <option value={t.key}>{t.label}</option>)}
				</select>
				{(app.other || (s.brush && app.source.isLive)) && <select aria-label="compare with" data-testid="flame-against" value={against} onChange={(e) => setWish(e.currentTarget.value as Against)}>
					<option value="">Alone</option>
					{app.other && <option value="other">Against {app.other.name}</option>}
					{s.brush && app.source.isLive && <option value="whole">Against the whole run</option>}
				</select>}
				<span class="quiet"><ScopeNote app={app} />
					{root && <> · <b data-testid="flame-total" title={String(root.total)}>{duration(root.total)}</b> {source === 'offcpu' ? 'off the CPUs' : source === 'cpu' ? 'on the CPUs' : 'in all threads'}</>}
					{isWanted && root && <> · “{s.search}” <b data-testid="flame-matched">{percent(root.total ? matched(root, isWanted) / root.total : 0)}</b></>}</span>
			</div>
			{value?.isCompared && <p class="quiet change-key"><i class="less-time" />less time than before<i class="more-time" />more time than before · one run each, no interval</p>}
			{root && <FlameCanvas app={app} root={root} isTurned={isTurned} isCompared={!!value?.isCompared} isWanted={isWanted} isBusy={isBusy} onName={(text) => void app.find(text)} />}
			{root && !root.total && <div class="card calm centre">{EMPTY[source]}</div>}
			{!root && <p class="quiet">{isBusy ? 'Adding up stacks…' : ''}</p>}
			{root && rows && !!rows.length && <div class="card flame-table"><h2>By name</h2><FlameRows rows={isWanted ? rows.filter((r) => isWanted(r.text)) : rows} root={root} isCompared={!!value?.isCompared} onRow={(r) => void app.find(r.text)} /></div>}
		</div>
	);
}
