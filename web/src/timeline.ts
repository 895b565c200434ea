// The timeline: draws rows on a canvas and turns mouse, trackpad and keyboard into windows, selections and brushes.
import type { Lane } from './api';
import { palette, type Palette } from './color';
import { binOf, LaneData } from './data';
import { drawArrows, Flows } from './flows';
import { exact } from './format';
import { describe, type Hover, type Spot } from './hover';
import { LANE, layout, STRIP, type Layout, type Row } from './layout';
import { drawCounter, drawPlot, shownPoints, type Scene } from './plot-draw';
import { Raster, type Look } from './raster';
import { drawGrid, drawMarks, drawRows, laneBox, type Placed, type RowScene } from './rows-draw';
import { firstAfter, itemAt, type LaneItems } from './slices';
import { threadKey, type App, type Selection } from './state';
import { FOUND_LANE, laneOf } from './steps';

const CLICK = 4; // pixels that a click may move

export class Timeline {
	layout: Layout = { pinned: [], rows: [], pinnedHeight: 0, height: 0 };
	readonly data: LaneData;
	readonly flows: Flows;
	arrows = 0; // drawn
	drawMs: number[] = []; // of the last frames, for the bench
	onLayout?: () => void;
	onHover?: (hover: Hover | null) => void;
	private raster = new Raster();
	private width = 1;
	private height = 1;
	private scroll = 0;
	private frame = 0;
	private pointer: { x: number; y: number } | null = null;
	private goal: { from: number; to: number } | null = null;
	private layoutKey: unknown[] = [];
	private hovered: { lane: number; start: number; end: number } | null = null;

	constructor(private app: App, private canvas: HTMLCanvasElement) {
		this.data = new LaneData(app.source, () => this.request(), (e) => app.fail(e));
		this.flows = new Flows(app.source, () => this.request());
	}
	get view(): { from: number; to: number; nsPerPixel: number } {
		const { from, to } = this.app.state.window;
		return { from, to, nsPerPixel: (to - from) / this.width };
	}
	resize(width: number, height: number) {
		this.width = Math.max(1, width);
		this.height = Math.max(1, height);
		const ratio = window.devicePixelRatio || 1;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.request();
	}
	setScroll(top: number) {
		this.scroll = top;
		this.request();
	}
	/** Draw again soon. What is drawn until then may be of another view: data-ready says when it is not. */
	request() {
		this.canvas.dataset.ready = 'false';
		if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.tick(); });
	}
	private tick() {
		const goal = this.goal;
		if (goal) {
			const w = this.app.state.window;
			const step = (a: number, b: number) => a + (b - a) * 0.35;
			const from = step(w.from, goal.from), to = step(w.to, goal.to);
			const isThere = Math.abs(from - goal.from) + Math.abs(to - goal.to) < (goal.to - goal.from) / 1000;
			if (isThere) this.goal = null;
			this.app.setWindow(isThere ? goal.from : from, isThere ? goal.to : to);
		}
		const before = performance.now();
		this.draw();
		this.drawMs.push(performance.now() - before);
		if (this.drawMs.length > 500) this.drawMs.shift();
		if (this.goal) this.request();
	}
	/** Move there in a few frames, or at once where motion is not wanted. */
	glide(from: number, to: number) {
		if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
			this.app.setWindow(from, to);
		} else {
			this.goal = { from, to };
			this.request();
		}
	}
	private get aim() { return this.goal ?? this.app.state.window; }
	zoom(factor: number, x: number | null = null) {
		const { from, to } = this.aim, part = x === null ? 0.5 : Math.min(1, Math.max(0, x / this.width));
		const at = from + (to - from) * part, span = Math.min(Math.max((to - from) * factor, 40), this.app.duration * 1.1 + 1000);
		this.glide(at - span * part, at + span * (1 - part));
	}
	pan(part: number) {
		const { from, to } = this.aim, by = (to - from) * part;
		this.glide(from + by, to + by);
	}

	// Drawing

	private refreshLayout() {
		const s = this.app.state;
		const key = [s.tracks, s.pins, s.folded, s.opened, s.trackFilter, s.found];
		if (key.every((k, i) => k === this.layoutKey[i])) return;
		if (s.tracks !== this.layoutKey[0]) { this.data.forget(); this.flows.forget(); }
		this.layoutKey = key;
		if (s.found) this.data.slices.keep(FOUND_LANE, laneOf(s.found));
		if (s.tracks) this.layout = layout(s.tracks, s);
		this.onLayout?.();
	}
	/** Rows on the screen and where: pinned ones first, then those scrolled to. */
	visible(): Placed[] {
		const { pinned, rows, pinnedHeight } = this.layout;
		const out = pinned.map((row) => ({ row, y: row.y }));
		for (const row of rows) {
			const y = row.y - this.scroll + pinnedHeight;
			if (y + row.height > pinnedHeight && y < this.height) out.push({ row, y });
		}
		return out;
	}
	private x(t: number): number {
		const { from, nsPerPixel } = this.view;
		return (t - from) / nsPerPixel;
	}
	draw() {
		this.refreshLayout();
		const s = this.app.state, c = this.canvas.getContext('2d')!, colors = palette(s.isDark);
		const ratio = window.devicePixelRatio || 1, { from, nsPerPixel } = this.view;
		const visible = this.visible();
		this.fetch(visible);
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = colors.background;
		c.fillRect(0, 0, this.width, this.height);
		const look: Look = { from, nsPerPixel: nsPerPixel / ratio, names: this.app.names, palette: colors,
			wanted: s.search ? this.app.names.matching(s.search) : null };
		const scene: RowScene = { ...this.scene(c, colors), height: this.height, pixels: this.canvas.width, ratio, duration: this.app.duration, look, raster: this.raster,
			items: (lane) => this.data.slices.get(lane), values: (row, y) => this.drawValues(c, row, y, colors) };
		drawGrid(scene);
		const scrolled = visible.filter((v) => !s.pins.has(v.row.key)), pinned = visible.filter((v) => s.pins.has(v.row.key));
		c.save();
		c.beginPath();
		c.rect(0, this.layout.pinnedHeight, this.width, this.height);
		c.clip();
		drawRows(scene, scrolled);
		c.restore();
		if (pinned.length) {
			c.fillStyle = colors.background;
			c.fillRect(0, 0, this.width, this.layout.pinnedHeight);
			drawRows(scene, pinned);
			c.fillStyle = colors.line;
			c.fillRect(0, this.layout.pinnedHeight - 3, this.width, 2);
		}
		drawMarks(scene, visible);
		this.drawFlows(c, visible, colors);
		this.drawSelection(c, visible, colors);
		this.drawBrush(c, visible, colors);
		this.canvas.dataset.from = String(Math.round(this.app.state.window.from));
		this.canvas.dataset.to = String(Math.round(this.app.state.window.to));
		this.canvas.dataset.ready = String(!this.data.slices.isPending && !this.data.counters.isPending && !this.goal);
	}
	private fetch(visible: Array<{ row: Row }>) {
		const { window: w } = this.app.state, bin = binOf(this.view.nsPerPixel), d = this.app.duration;
		const slices: number[] = [], counters: number[] = [];
		for (const { row } of visible) {
			for (const lane of row.lanes) (lane.kind === 'counter' ? counters : slices).push(lane.lane);
			if (row.marks) slices.push(row.marks.lane);
			for (const strip of row.strips) slices.push(strip.lane);
		}
		this.data.slices.need(slices, w, bin, d);
		this.data.counters.need(counters, w, bin, d);
	}
	private points(lane: Lane) { return shownPoints(lane, this.data.counters.get(lane.lane), this.data.counters.binOf(lane.lane), this.data.readings); }
	/** The greatest value that a plot shows now, for its label. */
	readonly greatest = new Map<string, string>();
	private scene(c: CanvasRenderingContext2D, colors: Palette): Scene {
		const { from, nsPerPixel } = this.view;
		return { c, width: this.width, from, nsPerPixel, colors, points: (lane) => this.points(lane) };
	}
	private drawValues(c: CanvasRenderingContext2D, row: Row, y: number, colors: Palette) {
		if (row.kind === 'counter') {
			drawCounter(this.scene(c, colors), row, y);
			return;
		}
		drawPlot(this.scene(c, colors), row, y, (text) => {
			if (this.greatest.get(row.key) === text) return;
			this.greatest.set(row.key, text);
			this.onLayout?.();
		});
	}
	private drawFlows(c: CanvasRenderingContext2D, visible: Placed[], colors: Palette) {
		const s = this.app.state, row = s.selection && this.rowOf(s.selection.lane);
		if (!s.hasArrows) { this.arrows = 0; return; }
		this.flows.need(s.window);
		const selected = s.selection && row ? { process: row.process.process, tid: row.thread?.tid, start: s.selection.start, end: s.selection.end } : null;
		this.arrows = drawArrows({ c, visible, x: (t) => this.x(t), width: this.width, height: this.height, colors, selected }, this.flows);
		this.canvas.dataset.arrows = String(this.arrows);
	}
	private drawSelection(c: CanvasRenderingContext2D, visible: Placed[], colors: Palette) {
		const outline = (lane: number, start: number, end: number, color: string, width: number) => {
			const box = laneBox(visible, lane);
			if (!box) return;
			const x0 = Math.max(-4, this.x(start)), x1 = Math.min(this.width + 4, this.x(end));
			c.strokeStyle = color;
			c.lineWidth = width;
			c.strokeRect(x0 - 0.5, box.y - 0.5, Math.max(3, x1 - x0), box.height + 1);
		};
		const s = this.app.state.selection;
		if (this.hovered) outline(this.hovered.lane, this.hovered.start, this.hovered.end, colors.faint, 1);
		if (s) outline(s.lane, s.start, s.end, colors.accent, 2);
	}
	private drawBrush(c: CanvasRenderingContext2D, visible: Placed[], colors: Palette) {
		const b = this.app.state.brush;
		if (b) {
			const x0 = this.x(b.from), x1 = this.x(b.to);
			c.fillStyle = colors.shade;
			if (!b.threads) c.fillRect(x0, 0, x1 - x0, this.height);
			else for (const { row, y } of visible) if (row.thread && b.threads.includes(threadKey(row.process, row.thread))) c.fillRect(x0, y, x1 - x0, row.height - 1);
			c.fillStyle = colors.accent;
			c.fillRect(Math.round(x0), 0, 1, this.height);
			c.fillRect(Math.round(x1), 0, 1, this.height);
		}
		if (this.pointer) {
			c.fillStyle = colors.isDark ? 'rgba(255,255,255,.14)' : 'rgba(20,30,50,.13)';
			c.fillRect(Math.round(this.pointer.x), 0, 1, this.height);
		}
	}
	// Pointing

	spotAt(x: number, y: number): Spot | null {
		const { from, nsPerPixel } = this.view, t = from + x * nsPerPixel;
		for (const { row, y: top } of this.visible()) {
			if (y < top || y >= top + row.height) continue;
			if (this.layout.pinnedHeight && y < this.layout.pinnedHeight && !this.app.state.pins.has(row.key)) continue;
			if (row.marks && y < top + 13) return { row, lane: row.marks, laneY: top + 2, laneHeight: 9, t };
			if (row.kind !== 'thread') return { row, lane: row.lanes[0] ?? null, laneY: top, laneHeight: row.height, t };
			const strip = row.strips.length - Math.ceil((top + row.top - y) / STRIP);
			if (y < top + row.top - 1 && row.strips[strip]) return { row, lane: row.strips[strip], laneY: y, laneHeight: STRIP, t };
			const i = Math.floor((y - top - row.top + 1) / LANE);
			return { row, lane: row.lanes[i] ?? null, laneY: top + row.top + i * LANE, laneHeight: LANE - 2, t };
		}
		return null;
	}
	/** The threads whose rows lie between two heights; those of a process by its own row. */
	threadsBetween(y0: number, y1: number): string[] {
		const rows = this.visible().filter(({ row, y }) => y < Math.max(y0, y1) && y + row.height > Math.min(y0, y1));
		return [...new Set(rows.flatMap(({ row }) => row.thread ? [threadKey(row.process, row.thread)] : row.kind === 'process' ? row.process.threads.map((t) => threadKey(row.process, t)) : []))];
	}
	private itemOf(spot: Spot | null): { items: LaneItems; i: number } | null {
		const items = spot?.lane && spot.lane.kind !== 'counter' ? this.data.slices.get(spot.lane.lane) : undefined;
		const i = items ? itemAt(items, spot!.t, this.view.nsPerPixel * 4) : -1;
		return i < 0 ? null : { items: items!, i };
	}
	point(x: number | null, y = 0) {
		this.pointer = x === null ? null : { x, y };
		this.hovered = null;
		this.onHover?.(x === null ? null : this.describe(x, y));
		this.request();
	}
	private describe(x: number, y: number): Hover | null {
		const spot = this.spotAt(x, y), found = this.itemOf(spot);
		if (found && spot?.row.kind !== 'process' && spot?.row.kind !== 'plot' && spot?.lane?.kind !== 'counter')
			this.hovered = { lane: found.items.lane, start: found.items.start[found.i], end: found.items.end[found.i] };
		return spot && describe({ x, y, spot, found, names: this.app.names, nsPerPixel: this.view.nsPerPixel, items: (lane) => this.data.slices.get(lane.lane), points: (lane) => this.points(lane) });
	}
	click(x: number, y: number) {
		const found = this.itemOf(this.spotAt(x, y));
		if (!found) {
			void this.app.select(null);
			return;
		}
		const { items, i } = found;
		if (items.lane === FOUND_LANE) { // no event of the run: a stretch of it
			this.app.set({ brush: { from: items.start[i], to: items.end[i] } });
			return;
		}
		void this.app.select(...picked(items, i, this.timeAt(x)));
	}
	doubleClick() {
		const s = this.app.state.selection;
		if (s) this.glide(s.start - (s.end - s.start) * 0.3 - 20, s.end + (s.end - s.start) * 0.3 + 20);
	}
	isClick(dx: number, dy: number): boolean { return Math.abs(dx) < CLICK && Math.abs(dy) < CLICK; }
	timeAt(x: number): number { return this.view.from + x * this.view.nsPerPixel; }
	stop() { cancelAnimationFrame(this.frame); }
	/** Where a lane's row is, for those who scroll to it. */
	rowOf(lane: number): Row | null {
		return [...this.layout.pinned, ...this.layout.rows].find((r) => r.marks?.lane === lane || [...r.lanes, ...r.strips].some((l) => l.lane === lane)) ?? null;
	}
	private reveal(items: LaneItems, i: number) {
		this.app.reveal(...picked(items, i));
	}
	/** The event before or after the selected one in its lane. */
	async step(by: 1 | -1) {
		const s = this.app.state.selection;
		const items = s && this.data.slices.get(s.lane);
		if (!s || !items) return;
		let i = itemAt(items, (s.start + s.end) / 2, Infinity) + by;
		if (i < 0 || i >= items.count) return;
		this.reveal(items, i);
	}
	/** The deeper or shallower lane of the thread at the same time. */
	async climb(by: 1 | -1) {
		const s = this.app.state.selection, row = s && this.rowOf(s.lane);
		if (!s || !row) return;
		const i = row.lanes.findIndex((l) => l.lane === s.lane) + by;
		const items = row.lanes[i] && this.data.slices.get(row.lanes[i].lane);
		if (!items) return;
		const k = by > 0 ? firstAfter(items, s.start) : itemAt(items, s.start, 0);
		if (k >= 0 && k < items.count && (by < 0 || items.start[k] <= s.end)) this.reveal(items, k);
	}
	/** Select something to start from with the keyboard: the first event in view. */
	selectFirst() {
		for (const { row } of this.visible()) {
			const items = row.kind === 'thread' && row.lanes[0] && this.data.slices.get(row.lanes[0].lane);
			if (!items) continue;
			const i = firstAfter(items, this.app.state.window.from);
			if (i < items.count && items.start[i] < this.app.state.window.to) {
				void this.app.select(...picked(items, i));
				return;
			}
		}
	}
	title(): string {
		const s = this.app.state.selection;
		return s ? `${this.app.names.get(s.nameId)?.text ?? ''} ${exact(s.end - s.start)}` : '';
	}
}

/**
 * What to ask the server for, by a time that is surely the event's: edges are rounded to an eighth of a bin, so that a
 * neighbour may lie there. Of a cell, the event nearest to t. Until the answer comes, the item itself is outlined.
 */
function picked(items: LaneItems, i: number, t = (items.start[i] + items.end[i]) / 2): [selection: Selection, at: number, within: number] {
	const { lane, bin } = items, nameId = items.name[i], edge = items.isCell[i] ? 1 : Math.max(1, bin / 8);
	const at = Math.min(items.end[i] - edge, Math.max(items.start[i] + edge, t));
	return items.isCell[i] ? [{ lane, nameId, start: at, end: at + bin }, at, Math.max(bin, (items.end[i] - items.start[i]) / 2)] : [{ lane, nameId, start: items.start[i], end: items.end[i] }, at, 1];
}
