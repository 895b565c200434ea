// The rows of the timeline on its canvas: grid, lanes of events, labels, marks.
import type { Lane } from './api';
import { fit, FONT, gridStep } from './axis';
import { LANE, lifeOf, STRIP, type Row } from './layout';
import type { Scene } from './plot-draw';
import type { Look, Raster } from './raster';
import { firstAfter, type LaneItems } from './slices';

const LABEL_MIN = 28;

/** A row and where it is on the screen. */
export interface Placed { row: Row; y: number }

export interface RowScene extends Scene {
	height: number;
	pixels: number; // of the device, a row
	ratio: number; // of these, a pixel of ours
	duration: number;
	look: Look; // in pixels of the device
	raster: Raster;
	items: (lane: number) => LaneItems | undefined;
	values: (row: Row, y: number) => void; // draws a counter or a plot
}

interface Place { y: number; height: number; items: LaneItems; kind: Lane['kind']; life?: [number, number] }

function xOf(s: Scene, t: number): number {
	return (t - s.from) / s.nsPerPixel;
}

/** Lines at round times, and shades where there is no run. */
export function drawGrid(s: RowScene) {
	const { c, colors, from } = s, to = from + s.width * s.nsPerPixel, step = gridStep(from, to, s.width);
	c.fillStyle = colors.grid;
	for (let t = Math.ceil(from / step) * step; t <= to; t += step) c.fillRect(Math.round(xOf(s, t)), 0, 1, s.height);
	c.fillStyle = colors.isDark ? 'rgba(0,0,0,.25)' : 'rgba(20,30,50,.035)';
	const start = xOf(s, 0), end = xOf(s, s.duration);
	if (start > 0) c.fillRect(0, 0, start, s.height);
	if (end < s.width) c.fillRect(end, 0, s.width - end, s.height);
}

export function drawRows(s: RowScene, visible: Placed[]) {
	const { c, look, raster } = s;
	const places: Place[] = [];
	for (const { row, y } of visible) {
		if (row.kind === 'process') {
			c.fillStyle = s.colors.panel;
			c.fillRect(0, y, s.width, row.height);
			c.fillStyle = s.colors.line;
			c.fillRect(0, y, s.width, 1);
			drawLife(s, row, y);
		} else {
			if (row.isHead) drawLife(s, row, y);
			c.fillStyle = s.colors.line;
			c.fillRect(0, y + row.height - 1, s.width, 1);
		}
		row.strips.forEach((lane, i) => {
			const items = s.items(lane.lane);
			if (items) places.push({ y: y + row.top - (row.strips.length - i) * STRIP, height: STRIP - 2, items, kind: lane.kind, life: lane.kind === 'states' ? lifeOf(row) : undefined });
		});
		if (row.kind === 'counter' || row.kind === 'plot') s.values(row, y);
		else row.lanes.forEach((lane, i) => {
			const items = s.items(lane.lane);
			const top = row.kind === 'steps' ? y + 4 : y + row.top + i * LANE;
			if (items) places.push({ y: top, height: row.kind === 'steps' ? 15 : LANE - 2, items, kind: lane.kind });
		});
	}
	raster.resize(s.pixels, places.length, s.colors);
	const painters = { steps: 'paintSteps', samples: 'paintTicks' } as const;
	places.forEach((p, i) => p.life ? raster.paintStates(i, p.items, look, p.life) : raster[painters[p.kind as 'steps'] ?? 'paint'](i, p.items, look));
	raster.commit(places.length);
	c.imageSmoothingEnabled = false;
	places.forEach((p, i) => c.drawImage(raster.canvas, 0, i, s.pixels, 1, 0, p.y, s.pixels / s.ratio, p.height));
	c.font = FONT;
	c.textBaseline = 'middle';
	for (const p of places) if (p.kind === 'slices' || p.kind === 'steps' || p.kind === 'gpu') drawLabels(s, p);
}

/** When a process began and ended. */
function drawLife(s: RowScene, row: Row, y: number) {
	const { c, colors } = s, p = row.process;
	if (p.start_ns == null) return;
	const x0 = Math.max(0, xOf(s, p.start_ns)), x1 = Math.min(s.width, xOf(s, p.end_ns ?? s.duration));
	if (x1 < 0 || x0 > s.width) return;
	c.fillStyle = colors.shade;
	if (row.isHead) c.fillRect(x0, y + 1, Math.max(1, x1 - x0), row.height - 3);
	else c.fillRect(x0, y + 9, Math.max(1, x1 - x0), 6);
}

function drawLabels(s: RowScene, p: Place) {
	const { c, look, from } = s, to = from + s.width * s.nsPerPixel, items = p.items;
	for (let i = firstAfter(items, from); i < items.count && items.start[i] < to; i++) {
		if (items.isCell[i]) continue;
		const x0 = Math.max(0, xOf(s, items.start[i])), x1 = Math.min(s.width, xOf(s, items.end[i]));
		const room = x1 - x0 - 8;
		if (room < LABEL_MIN - 8) continue;
		if (look.wanted && p.kind === 'slices' && !look.wanted.has(items.name[i])) continue;
		const name = p.kind === 'steps' ? undefined : look.names.get(items.name[i]), text = p.kind === 'steps' ? `${items.name[i]}` : name?.text ?? '';
		c.fillStyle = name?.ink ?? (s.colors.isDark ? '#eef2f8' : '#182230');
		c.fillText(fit(c, text, room), x0 + 4, p.y + p.height / 2 + 0.5);
	}
}

/** Instants: a triangle each, and the name where there is room for it. */
export function drawMarks(s: RowScene, visible: Placed[]) {
	const { c, look } = s;
	c.font = FONT;
	for (const { row, y } of visible) {
		const items = row.marks && s.items(row.marks.lane);
		if (!items) continue;
		let free = -Infinity;
		for (let i = firstAfter(items, s.from - 1); i < items.count; i++) {
			const x = xOf(s, items.start[i]);
			if (x > s.width) break;
			c.fillStyle = s.colors.mark;
			c.beginPath();
			c.moveTo(x - 3.5, y + 3); c.lineTo(x + 3.5, y + 3); c.lineTo(x, y + 10);
			c.fill();
			const text = look.names.get(items.name[i])?.text ?? '', next = i + 1 < items.count ? xOf(s, items.start[i + 1]) : s.width;
			if (x > free && next - x > 40) {
				const shown = fit(c, text, Math.min(160, next - x - 14));
				c.fillText(shown, x + 7, y + 7.5);
				free = x + 10 + c.measureText(shown).width;
			}
		}
	}
}

/** Where a lane is drawn, if it is. */
export function laneBox(visible: Placed[], lane: number): { y: number; height: number } | null {
	for (const { row, y } of visible) {
		if (row.marks?.lane === lane) return { y: y + 2, height: 9 };
		const i = row.lanes.findIndex((l) => l.lane === lane);
		const k = row.strips.findIndex((l) => l.lane === lane);
		if (k >= 0) return { y: y + row.top - (row.strips.length - k) * STRIP, height: STRIP - 2 };
		if (i >= 0 && row.kind === 'thread') return { y: y + row.top + i * LANE, height: LANE - 2 };
		if (i >= 0) return { y: y + 4, height: row.height - 9 };
	}
	return null;
}
