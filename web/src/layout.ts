// The rows of the timeline: processes as a tree, threads with their lanes, steps, counters, and plots of what the machine did.
import type { Lane, Process, Thread, Tracks } from './api';
import { PLOTS, seriesOf, type Series } from './plots';
import type { State } from './state';
import { FOUND_LANE, type Loop } from './steps';

export const LANE = 17; // height of a depth
export const STRIP = 8; // height of states or samples
const SHOWN_DEPTHS = 6;
const FEW = 12; // calls of a child between vfork and exec

export interface Row {
	kind: 'process' | 'thread' | 'steps' | 'counter' | 'plot';
	key: string;
	label: string;
	note: string;
	lanes: Lane[]; // a thread's by depth; one of the others; all of a plot
	marks: Lane | null;
	strips: Lane[]; // states and samples, thin, above the depths
	series?: Series[]; // of a plot
	unit?: string | null; // of a plot
	isStacked?: boolean;
	full?: number; // of a plot: what its height stands for; else its greatest value
	isHead?: boolean; // it stands for its process too, which has nothing else
	top: number; // where the depths begin
	hidden: number; // depths not shown
	indent: number; // how deep in the tree of processes
	y: number;
	height: number;
	isFolded: boolean;
	process: Process;
	thread?: Thread;
}

/** When a thread lived, as far as is known: a main thread as its process, others while anything was seen of them. */
export function lifeOf(row: Row): [number, number] {
	const lanes = [...row.lanes, ...row.strips], p = row.process, isMain = row.thread?.tid === p.pid && p.process !== undefined;
	return [isMain && p.start_ns != null ? p.start_ns : Math.min(...lanes.map((l) => l.start_ns)), isMain && p.end_ns != null ? p.end_ns : Math.max(...lanes.map((l) => l.end_ns))];
}

function base(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1);
}

export function processLabel(p: Process): string {
	if (p.process === undefined) return p.threads.some((t) => t.tid !== undefined) ? 'Outside the program' : 'Machine';
	const name = p.argv?.length ? base(p.argv[0]) : p.exe ? base(p.exe) : `process ${p.process}`;
	return name || `process ${p.process}`;
}

export function threadLabel(p: Process, t: Thread): string {
	if (t.tid === p.pid) return t.name && t.name !== processLabel(p) ? t.name : 'main';
	return t.name || `${t.tid}`; // the number first: there may be no room for more
}

const ORDER: Record<Row['kind'], number> = { process: 0, steps: 1, thread: 2, plot: 3, counter: 4 };

function counterLabel(l: Lane): string {
	return l.is_total ? (l.name ?? '').replace(/_(ns|bytes)$/, '') : l.name ?? '(unnamed)';
}

/** Iterations that were found, above the thread that they are of: a process after exec has its number too. */
function foundLane(p: Process, t: Thread, loop: Loop | null): Lane[] {
	const first = loop?.iterations[0];
	if (!first || !loop?.found || t.tid !== loop.found.tid || first.start < (p.start_ns ?? -Infinity) || first.start > (p.end_ns ?? Infinity)) return [];
	return [{ lane: FOUND_LANE, kind: 'steps', depth: 0, count: loop.found.count, start_ns: first.start, end_ns: loop.iterations[loop.iterations.length - 1].end, name: `loop at ${loop.name}` }];
}

function threadRows(p: Process, t: Thread, state: State): Row[] {
	const rows: Row[] = [], process = p.process ?? 'm';
	const slices = t.lanes.filter((l) => l.kind === 'slices').sort((a, b) => a.depth - b.depth);
	const marks = t.lanes.find((l) => l.kind === 'marks') ?? null;
	const common = { y: 0, isFolded: false, process: p, thread: t, marks: null, strips: [] as Lane[], top: 3, hidden: 0, indent: 0 };
	for (const l of [...foundLane(p, t, state.found), ...t.lanes]) {
		if (l.kind !== 'steps' && l.kind !== 'counter') continue;
		if (p.process === undefined && (l.min === l.max || !state.opened.has('counters'))) continue; // the machine's are plotted
		rows.push({ ...common, kind: l.kind, key: `${l.kind}:${process}:${t.tid ?? 0}:${l.name}`, label: counterLabel(l),
			note: l.kind !== 'steps' ? '' : l.lane === FOUND_LANE ? `${l.count} found` : `${l.count} steps`, lanes: [l], height: l.kind === 'steps' ? 24 : 40 });
	}
	for (const l of t.lanes) if (l.kind === 'gpu')
		rows.push({ ...common, kind: 'thread', key: `gpu:${process}:${l.name}:${l.depth}`, label: `GPU ${l.name ?? ''}`, note: l.depth ? `queue ${l.depth}` : '', lanes: [l], height: 3 + LANE + 4 });
	const strips = ['states', 'samples'].flatMap((kind) => t.lanes.filter((l) => l.kind === kind));
	const top = 3 + (marks ? 11 : 0) + strips.length * STRIP;
	if (slices.length || marks || strips.length) {
		const key = `thread:${process}:${t.tid ?? 0}`;
		const shown = state.opened.has(key) ? slices : slices.slice(0, SHOWN_DEPTHS);
		rows.push({ ...common, kind: 'thread', key, label: threadLabel(p, t), note: t.tid === undefined ? '' : !t.name && t.tid !== p.pid ? 'thread' : String(t.tid),
			lanes: shown, marks, strips, top, hidden: slices.length - shown.length,
			height: Math.max(22, top + shown.length * LANE + 4) });
	}
	return rows;
}

function plotRows(p: Process, cpus: number | undefined): Row[] {
	const lanes = p.threads.flatMap((t) => t.lanes.filter((l) => l.kind === 'counter'));
	return PLOTS.flatMap((plot) => {
		const series = seriesOf(plot, lanes);
		if (!series.length) return [];
		return [{ kind: 'plot' as const, key: `plot:${p.process ?? 'm'}:${plot.label}`, label: plot.label, note: '', lanes: series.flatMap((s) => s.lanes), marks: null, strips: [],
			series, unit: plot.unit, isStacked: plot.isStacked, full: plot.full === 'cpus' ? cpus : plot.full, top: 3, hidden: 0, indent: 0, y: 0, height: 46, isFolded: false, process: p }];
	});
}

function eventsOf(row: Row): number {
	return [...row.lanes, ...row.strips, ...(row.marks ? [row.marks] : [])].reduce((n, l) => n + l.count, 0);
}

/** Children that a shell or a compiler made with vfork were threads of it for a moment: they are shown as processes anyway. */
function isPassing(row: Row, pids: Set<number>): boolean {
	return row.kind === 'thread' && !!row.thread && row.thread.tid !== row.process.pid && eventsOf(row) <= FEW && pids.has(row.thread.tid ?? -1);
}

function processRows(p: Process, state: State, indent: number, pids: Set<number>): Row[] {
	const key = `process:${p.process ?? 'm'}`;
	const isFolded = state.folded.has(key);
	const note = p.pid === undefined ? '' : `${p.pid}`;
	const head: Row = { kind: 'process', key, label: processLabel(p), note, lanes: [], marks: null, strips: [], top: 3, hidden: 0, indent, y: 0,
		height: 24, isFolded, process: p };
	let rows = p.threads.flatMap((t) => threadRows(p, t, state)).filter((r) => !isPassing(r, pids));
	if (p.process === undefined) rows.push(...plotRows(p, state.run?.run.host?.cpus));
	rows.sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
	for (const row of rows) row.indent = indent;
	if (p.process !== undefined && rows.length === 1 && rows[0].kind === 'thread' && rows[0].thread?.tid === p.pid) {
		rows = [{ ...rows[0], isHead: true, label: processLabel(p), note }];
		return rows;
	}
	return [head, ...rows];
}

function isWanted(row: Row, filter: string): boolean {
	return `${row.label} ${row.note} ${row.process.argv?.join(' ') ?? ''}`.toLowerCase().includes(filter);
}

/** Processes with those they started beneath them; what is the machine's comes last. */
function treeOf(processes: Process[]): Array<[Process, number]> {
	const out: Array<[Process, number]> = [], known = new Set(processes.map((p) => p.process));
	const children = new Map<number | undefined, Process[]>();
	for (const p of processes) {
		if (p.process === undefined) continue;
		const parent = p.parent !== undefined && known.has(p.parent) && p.parent !== p.process ? p.parent : undefined;
		children.set(parent, [...(children.get(parent) ?? []), p]);
	}
	const seen = new Set<Process>();
	const add = (p: Process, depth: number) => {
		if (seen.has(p)) return;
		seen.add(p);
		out.push([p, Math.min(depth, 6)]);
		for (const c of children.get(p.process) ?? []) add(c, depth + 1);
	};
	for (const p of children.get(undefined) ?? []) add(p, 0);
	for (const p of processes) if (p.process !== undefined) add(p, 0);
	// Threads that no traced process owns, and the machine's counters, are two things.
	for (const p of processes) if (p.process === undefined) {
		const others = p.threads.filter((t) => t.tid !== undefined), machine = p.threads.filter((t) => t.tid === undefined);
		if (machine.length) out.push([{ ...p, threads: machine }, 0]);
		if (others.length) out.push([{ ...p, process: undefined, threads: others }, 0]);
	}
	return out;
}

export interface Layout { pinned: Row[]; rows: Row[]; pinnedHeight: number; height: number }

export function layout(tracks: Tracks, state: State): Layout {
	const pinned: Row[] = [], rows: Row[] = [];
	const filter = state.trackFilter.trim().toLowerCase();
	const pids = new Set(tracks.processes.flatMap((p) => p.pid ?? []));
	for (const [p, indent] of treeOf(tracks.processes)) {
		let [head, ...rest] = processRows(p, state, indent, pids);
		if (head.isHead) rest = [head];
		if (head.label === 'Outside the program') {
			head = { ...head, key: 'process:o', isFolded: !state.folded.has('process:o') }; // folded until it is opened
		}
		const kept = filter && !isWanted(head, filter) ? rest.filter((r) => isWanted(r, filter)) : rest;
		if (!kept.length && (filter ? !isWanted(head, filter) : false)) continue;
		if (!head.isHead) rows.push(head);
		for (const row of kept) {
			if (state.pins.has(row.key)) pinned.push(row);
			else if (!head.isFolded || head.isHead) rows.push(row);
		}
	}
	let y = 0;
	for (const row of pinned) { row.y = y; y += row.height; }
	const pinnedHeight = y ? y + 6 : 0;
	y = 0;
	for (const row of rows) { row.y = y; y += row.height; }
	return { pinned, rows, pinnedHeight, height: y + 24 };
}
