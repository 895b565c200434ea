// The rows of the timeline: processes, threads with their lanes, steps, counters.
import type { Lane, Process, Thread, Tracks } from './api';
import type { State } from './state';

export const LANE = 17; // height of a depth
export const STRIP = 8; // height of states or samples
const SHOWN_DEPTHS = 6;

export interface Row {
	kind: 'process' | 'thread' | 'steps' | 'counter';
	key: string;
	label: string;
	note: string;
	lanes: Lane[]; // a thread's by depth; one of the others
	marks: Lane | null;
	strips: Lane[]; // states and samples, thin, above the depths
	top: number; // where the depths begin
	hidden: number; // depths not shown
	y: number;
	height: number;
	isFolded: boolean;
	process: Process;
	thread?: Thread;
}

function base(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1);
}

export function processLabel(p: Process): string {
	if (p.process === undefined) return p.threads.some((t) => t.tid !== undefined) ? 'Not traced' : 'System';
	const name = p.argv?.length ? base(p.argv[0]) : p.exe ? base(p.exe) : `process ${p.process}`;
	return name || `process ${p.process}`;
}

export function threadLabel(p: Process, t: Thread): string {
	if (t.name) return t.name;
	return t.tid === p.pid ? 'main' : `thread ${t.tid}`;
}

const ORDER: Record<Row['kind'], number> = { process: 0, steps: 1, counter: 2, thread: 3 };

function threadRows(p: Process, t: Thread, state: State): Row[] {
	const rows: Row[] = [];
	const slices = t.lanes.filter((l) => l.kind === 'slices').sort((a, b) => a.depth - b.depth);
	const marks = t.lanes.find((l) => l.kind === 'marks') ?? null;
	const common = { y: 0, isFolded: false, process: p, thread: t, marks: null, strips: [] as Lane[], top: 3, hidden: 0 };
	for (const l of t.lanes) {
		if (l.kind !== 'steps' && l.kind !== 'counter') continue;
		if (p.process === undefined && l.min === l.max && !state.opened.has('quiet')) continue; // a counter that never moved
		rows.push({ ...common, kind: l.kind, key: `${l.kind}:${p.process ?? 0}:${t.tid ?? 0}:${l.name}`, label: l.is_total ? (l.name ?? '').replace(/_(ns|bytes)$/, '') : l.name ?? '(unnamed)',
			note: l.kind === 'steps' ? `${l.count} steps` : '', lanes: [l], height: l.kind === 'steps' ? 24 : 44 });
	}
	const strips = ['states', 'samples'].flatMap((kind) => t.lanes.filter((l) => l.kind === kind));
	const top = 3 + (marks ? 11 : 0) + strips.length * STRIP;
	if (slices.length || marks || strips.length) {
		const key = `thread:${p.process ?? 0}:${t.tid ?? 0}`;
		const shown = state.opened.has(key) ? slices : slices.slice(0, SHOWN_DEPTHS);
		rows.push({ ...common, kind: 'thread', key, label: threadLabel(p, t), note: t.tid === undefined || (!t.name && t.tid !== p.pid) ? '' : String(t.tid),
			lanes: shown, marks, strips, top, hidden: slices.length - shown.length,
			height: Math.max(20, top + shown.length * LANE + 4) });
	}
	return rows;
}

function processRows(p: Process, state: State): Row[] {
	const key = `process:${p.process ?? 0}`;
	const isFolded = state.folded.has(key);
	const note = p.pid === undefined ? '' : `${p.pid}`;
	const head: Row = { kind: 'process', key, label: processLabel(p), note, lanes: [], marks: null, strips: [], top: 3, hidden: 0, y: 0,
		height: 24, isFolded, process: p };
	const rows = p.threads.flatMap((t) => threadRows(p, t, state));
	rows.sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
	return [head, ...rows];
}

function isWanted(row: Row, filter: string): boolean {
	return `${row.label} ${row.note} ${row.process.argv?.join(' ') ?? ''}`.toLowerCase().includes(filter);
}

export interface Layout { pinned: Row[]; rows: Row[]; pinnedHeight: number; height: number }

export function layout(tracks: Tracks, state: State): Layout {
	const pinned: Row[] = [], rows: Row[] = [];
	const isSystem = (p: Process) => p.process === undefined ? 1 : 0;
	const filter = state.trackFilter.trim().toLowerCase();
	for (const p of [...tracks.processes].sort((a, b) => isSystem(a) - isSystem(b))) {
		const all = processRows(p, state);
		const [head, ...rest] = all;
		const kept = filter && !isWanted(head, filter) ? rest.filter((r) => isWanted(r, filter)) : rest;
		if (!kept.length && (filter ? !isWanted(head, filter) : false)) continue;
		rows.push(head);
		for (const row of kept) {
			if (state.pins.has(row.key)) pinned.push(row);
			else if (!head.isFolded) rows.push(row);
		}
	}
	let y = 0;
	for (const row of pinned) { row.y = y; y += row.height; }
	const pinnedHeight = y ? y + 6 : 0;
	y = 0;
	for (const row of rows) { row.y = y; y += row.height; }
	return { pinned, rows, pinnedHeight, height: y + 24 };
}
