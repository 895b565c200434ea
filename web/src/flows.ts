// Arrows between threads: who started a process, who woke a thread.
import type { Flow, Source, Window } from './api';
import type { Palette } from './color';
import type { Row } from './layout';

const SHOWN_MAX = 400; // more are a tangle: then only those of the selected event are drawn
const MANY = 60; // more than this are drawn only where they tell something
const LIMIT = 2000;

export class Flows {
	list: Flow[] = [];
	isAll = true;
	private known: Window | null = null;
	private isAsking = false;

	constructor(private source: Source, private onNew: () => void) {}

	forget() { this.known = null; }
	need(w: Window) {
		if (this.isAsking || (this.known && this.known.from <= w.from && this.known.to >= w.to && (this.isAll || this.known.to - this.known.from <= 3 * (w.to - w.from)))) return;
		const room = (w.to - w.from) / 2, asked = { from: w.from - room, to: w.to + room };
		this.isAsking = true;
		this.source.flows(asked, LIMIT).then((answer) => {
			this.list = answer.flows;
			this.isAll = answer.is_all;
			this.known = asked;
			this.onNew();
		}, () => { this.known = asked; }).finally(() => { this.isAsking = false; });
	}
}

export interface ArrowScene {
	c: CanvasRenderingContext2D;
	visible: Array<{ row: Row; y: number }>;
	x: (t: number) => number;
	width: number;
	height: number;
	colors: Palette;
	selected: Stretch | null;
}

function middle(v: { row: Row; y: number }): number {
	return v.y + Math.min(v.row.height - 4, v.row.top + 8);
}

export interface Stretch { process?: number; tid?: number; start: number; end: number }

/** Does this end of an arrow lie in a stretch of a thread? */
export function isEnd(f: Flow, which: 'from' | 'to', s: Stretch): boolean {
	const [ts, process, tid] = which === 'from' ? [f[1], f[2], f[3]] : [f[4], f[5], f[6]];
	return tid === s.tid && (process === null || process === s.process) && ts >= s.start && ts <= s.end;
}

function touches(f: Flow, s: Stretch): boolean {
	return isEnd(f, 'from', s) || isEnd(f, 'to', s);
}

export function drawArrows(s: ArrowScene, flows: Flows): number {
	const rows = new Map<number, { row: Row; y: number }>();
	for (const v of s.visible) if (v.row.kind === 'thread' && v.row.thread?.tid !== undefined && (!rows.has(v.row.thread.tid) || v.row.isHead || v.row.thread.tid === v.row.process.pid)) rows.set(v.row.thread.tid, v);
	const inView = flows.list.filter((f) => s.x(Math.max(f[1], f[4])) >= 0 && s.x(Math.min(f[1], f[4])) <= s.width && (rows.has(f[3] ?? -1) || rows.has(f[6] ?? -1)));
	let shown = s.selected && inView.length > MANY ? inView.filter((f) => touches(f, s.selected!)) : inView;
	if (shown.length > MANY) shown = shown.filter((f) => rows.has(f[3] ?? -1) && rows.has(f[6] ?? -1)); // both ends in view
	if (shown.length > SHOWN_MAX) return 0;
	for (const f of shown) {
		const a = rows.get(f[3] ?? -1), b = rows.get(f[6] ?? -1);
		const x0 = s.x(f[1]), x1 = s.x(f[4]), y0 = a ? middle(a) : b ? -4 : 0, y1 = b ? middle(b) : s.height + 4;
		const isBright = s.selected ? touches(f, s.selected) : false;
		s.c.strokeStyle = s.c.fillStyle = isBright ? s.colors.accent : s.colors.arrow;
		s.c.lineWidth = isBright ? 2 : 1.25;
		s.c.beginPath();
		s.c.moveTo(x0, y0);
		const bend = Math.max(10, Math.min(40, Math.abs(x1 - x0) / 2 + 10));
		s.c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 2, y1);
		s.c.stroke();
		s.c.beginPath();
		s.c.moveTo(x1, y1);
		s.c.lineTo(x1 - 6, y1 - 3.5);
		s.c.lineTo(x1 - 6, y1 + 3.5);
		s.c.fill();
	}
	return shown.length;
}
