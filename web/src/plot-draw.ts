// Counters and plots on the timeline's canvas.
import type { CounterPoint, Lane } from './api';
import type { Palette } from './color';
import { quantity } from './format';
import type { Row } from './layout';
import { rates, valueAt } from './plots';

export interface Scene {
	c: CanvasRenderingContext2D;
	width: number;
	from: number;
	nsPerPixel: number;
	colors: Palette;
	points: (lane: Lane) => CounterPoint[] | undefined; // values, or rates of what only rises
}

const STEP = 2; // pixels a column of a plot

const known = new WeakMap<CounterPoint[], CounterPoint[]>();

/** A counter's values; of one that only rises, how fast. */
export function shownPoints(lane: Lane, points: CounterPoint[] | undefined, bin: number, readings: number[]): CounterPoint[] | undefined {
	if (!lane.is_total || !points) return points;
	let r = known.get(points);
	if (!r) known.set(points, r = rates(points, bin, readings));
	return r;
}

export function plotValue(v: number, unit: string | null | undefined): string {
	if (unit === 'cores') return `${v.toFixed(2)} CPUs`;
	if (unit === 'share') return `${(v * 100).toFixed(v < 0.1 ? 1 : 0)} %`;
	return quantity(v, unit, false);
}

/** A series at a time, its lanes added up, in the plot's unit. */
export function seriesValue(lanes: Lane[], t: number, unit: string | null | undefined, points: Scene['points']): number {
	let sum = 0;
	for (const lane of lanes) {
		const p = points(lane);
		if (p?.length) sum += valueAt(p, t);
	}
	return unit === 'cores' || unit === 'share' ? sum / 1e9 : sum;
}

export function isRate(row: Row): boolean {
	return !!row.series?.[0]?.lanes[0]?.is_total && row.unit === 'bytes';
}

export function drawPlot(s: Scene, row: Row, y: number, maxSaid: (text: string) => void) {
	const columns = Math.ceil(s.width / STEP), series = row.series!, top = y + 4, height = row.height - 8;
	const values = series.map((one) => {
		const out = new Float64Array(columns);
		for (const lane of one.lanes) addLane(out, s, lane, row.unit);
		return out;
	});
	let most = 1e-12;
	for (let i = 0; i < columns; i++) most = Math.max(most, row.isStacked ? values.reduce((sum, v) => sum + v[i], 0) : Math.max(...values.map((v) => v[i])));
	maxSaid(most > 1e-9 ? plotValue(Math.min(most, row.full ?? most), row.unit) + (isRate(row) ? '/s' : '') : '');
	most = row.full ?? most;
	const under = new Float64Array(columns), scale = height / most, bottom = top + height;
	if (row.full) for (const v of values) for (let i = 0; i < columns; i++) v[i] = Math.min(v[i], row.full); // a late reading makes more of it than there is
	const x = (t: number) => (t - s.from) / s.nsPerPixel, left = x(Math.min(...row.lanes.map((l) => l.start_ns))), right = x(Math.max(...row.lanes.map((l) => l.end_ns)));
	s.c.save();
	s.c.beginPath();
	s.c.rect(left, y, Math.max(1, right - left), row.height);
	s.c.clip();
	series.forEach((one, k) => {
		const color = s.colors.series[one.color], v = values[k];
		s.c.beginPath();
		s.c.moveTo(0, bottom - under[0] * scale);
		for (let i = 0; i < columns; i++) {
			const at = bottom - (v[i] + under[i]) * scale;
			s.c.lineTo(i * STEP, at);
			s.c.lineTo((i + 1) * STEP, at);
		}
		for (let i = columns - 1; i >= 0; i--) {
			s.c.lineTo((i + 1) * STEP, bottom - under[i] * scale);
			s.c.lineTo(i * STEP, bottom - under[i] * scale);
		}
		s.c.closePath();
		s.c.globalAlpha = row.isStacked ? 0.75 : 0.22;
		s.c.fillStyle = color;
		s.c.fill();
		s.c.globalAlpha = 1;
		if (!row.isStacked) outline(s, v, bottom, scale, color);
		else for (let i = 0; i < columns; i++) under[i] += v[i];
	});
	s.c.restore();
}

function outline(s: Scene, v: Float64Array, bottom: number, scale: number, color: string) {
	s.c.beginPath();
	for (let i = 0; i < v.length; i++) {
		s.c.lineTo(i * STEP, bottom - v[i] * scale);
		s.c.lineTo((i + 1) * STEP, bottom - v[i] * scale);
	}
	s.c.strokeStyle = color;
	s.c.lineWidth = 1.25;
	s.c.stroke();
}

/** Each column gets the greatest value inside it, so that no peak is lost. */
function addLane(out: Float64Array, s: Scene, lane: Lane, unit: string | null | undefined) {
	const points = s.points(lane), factor = unit === 'cores' || unit === 'share' ? 1e-9 : 1;
	if (!points?.length) return;
	const perColumn = s.nsPerPixel * STEP, end = lane.end_ns;
	let i = 0;
	while (i + 1 < points.length && points[i + 1][0] <= s.from) i++;
	for (let x = 0; x < out.length; x++) {
		const t0 = s.from + x * perColumn, t1 = t0 + perColumn;
		if (t1 < points[0][0] || t0 > end) continue;
		let most = points[i][0] < t1 ? points[i][2] : 0;
		while (i + 1 < points.length && points[i + 1][0] < t1) most = Math.max(most, points[++i][2]);
		out[x] += most * factor;
	}
}

export function drawCounter(s: Scene, row: Row, y: number) {
	const lane = row.lanes[0], points = s.points(lane);
	if (!points?.length) return;
	const x = (t: number) => (t - s.from) / s.nsPerPixel;
	const highest = lane.is_total ? points.reduce((m, p) => Math.max(m, p[2]), 0) : lane.max ?? 1;
	const min = Math.min(0, lane.is_total ? 0 : lane.min ?? 0), max = Math.max(highest, min + 1e-12);
	const top = y + 5, height = row.height - 11, end = Math.min(s.width, x(lane.end_ns));
	const place = (v: number) => top + height - (v - min) / (max - min) * height;
	const zero = place(Math.max(min, 0));
	s.c.beginPath();
	points.forEach(([t, , high], i) => {
		const at = x(t), next = i + 1 < points.length ? x(points[i + 1][0]) : end;
		if (i === 0) s.c.moveTo(at, zero);
		s.c.lineTo(at, place(high));
		s.c.lineTo(Math.max(next, at), place(high));
	});
	s.c.lineTo(Math.max(x(points[points.length - 1][0]), end), zero);
	s.c.closePath();
	s.c.fillStyle = s.colors.counterFill;
	s.c.fill();
	s.c.beginPath();
	points.forEach(([t, , , mean], i) => {
		if (i === 0) s.c.moveTo(x(t), place(mean));
		else s.c.lineTo(x(t), place(mean));
		if (i + 1 < points.length) s.c.lineTo(x(points[i + 1][0]), place(mean));
	});
	s.c.strokeStyle = s.colors.counter;
	s.c.lineWidth = 1.25;
	s.c.stroke();
}
