// What hovers beside the pointer: the event, state, sample, step or value there, in words.
import type { CounterPoint, Lane } from './api';
import { duration, quantity, tick } from './format';
import { lifeOf, type Row } from './layout';
import type { Names } from './names';
import { isRate, plotValue, seriesValue } from './plot-draw';
import { firstAfter, type LaneItems } from './slices';

/** What states are in words. */
const STATES: Record<string, string> = {
	preempted: 'ready to run, no CPU', wait: 'waiting', sleep: 'asleep', disk: 'waiting for a disk', stopped: 'stopped', traced: 'stopped by a debugger', ended: 'ended',
};

export interface Hover { x: number; y: number; title: string; lines: string[] }

export interface Spot { row: Row; lane: Lane | null; laneY: number; laneHeight: number; t: number }

/** A place on the timeline, and how to learn what is there. */
export interface Pointed {
	x: number; y: number;
	spot: Spot;
	found: { items: LaneItems; i: number } | null;
	names: Names;
	nsPerPixel: number;
	items: (lane: Lane) => LaneItems | undefined;
	points: (lane: Lane) => CounterPoint[] | undefined;
}

/** What is under the pointer in words; null: nothing. */
export function describe(at: Pointed): Hover | null {
	const { x, y, spot, found } = at;
	if (spot.row.kind === 'process') {
		const p = spot.row.process;
		return { x, y, title: p.argv?.join(' ') || spot.row.label, lines: [p.state ?? '', p.exit_code !== undefined ? `exit ${p.exit_code}` : ''].filter(Boolean) };
	}
	if (spot.row.kind === 'plot') return describePlot(at);
	if (spot.lane?.kind === 'counter') return describeCounter(at);
	const ran = spot.lane?.kind === 'states' && describeRun(at);
	if (ran) return ran;
	if (!found) return null;
	const { items, i } = found;
	if (spot.lane!.kind === 'samples')
		return { x, y, title: items.isCell[i] && items.bin > 1e6 ? 'samples' : 'sample', lines: [`at ${tick(items.start[i], items.bin)}`, 'click for its stack'] };
	const name = at.names.get(items.name[i]);
	if (spot.lane!.kind === 'states')
		return { x, y, title: STATES[name?.text ?? ''] ?? name?.text ?? '…', lines: items.isCell[i] ? [`stretches shorter than ${duration(items.bin)}`] : [duration(items.end[i] - items.start[i]), 'off the CPU · click for where'] };
	if (spot.lane!.kind === 'steps')
		return { x, y, title: `${spot.row.label} ${items.name[i]}`, lines: [duration(items.end[i] - items.start[i])] };
	if (items.isCell[i] && spot.lane!.kind !== 'marks')
		return { x, y, title: `mostly ${name?.text ?? '…'}`, lines: [`events shorter than ${duration(items.bin)}`, `${Math.round(items.busy[i] / 2.55)} % busy`] };
	return { x, y, title: name?.text ?? '…', lines: spot.lane!.kind === 'marks' ? [`at ${tick(items.start[i], items.bin)}`]
		: [duration(items.end[i] - items.start[i]), [name?.table, name?.category].filter(Boolean).join(' · ')] };
}

/** Between two waits a thread was on a CPU; null: here it was not. */
function describeRun({ spot, x, y, items: itemsOf }: Pointed): Hover | null {
	const items = itemsOf(spot.lane!), life = lifeOf(spot.row), t = spot.t;
	const i = items ? firstAfter(items, t) : 0;
	if (!items || t < life[0] || t > life[1] || (i < items.count && items.start[i] <= t)) return null;
	const from = i > 0 ? items.end[i - 1] : life[0], to = i < items.count ? items.start[i] : life[1];
	return { x, y, title: 'running', lines: [duration(to - from)] };
}

function describePlot({ spot, x, y, nsPerPixel, points }: Pointed): Hover {
	const { row, t } = spot, rate = isRate(row) ? '/s' : '';
	const lines = row.series!.map((one) => `${one.label} ${plotValue(seriesValue(one.lanes, t, row.unit, points), row.unit)}${rate}`);
	return { x, y, title: `${row.label} at ${tick(t, nsPerPixel)}`, lines };
}

function describeCounter({ spot, x, y, points: pointsOf }: Pointed): Hover | null {
	const lane = spot.lane!, points = pointsOf(lane), say = (v: number) => quantity(v, lane.unit, !!lane.is_total);
	const after = points ? points.findIndex((p) => p[0] > spot.t) : -1;
	const point = points?.[after < 0 ? points.length - 1 : after - 1];
	if (!point) return null;
	const lines = point[1] === point[2] ? [] : [`from ${say(point[1])} to ${say(point[2])}`];
	return { x, y, title: `${spot.row.label} ${say(point[3])}`, lines };
}
