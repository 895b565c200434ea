// Counters of the machine that belong together, as plots: which lanes, how to name them, and rates of those that only rise.
import type { CounterPoint, Lane } from './api';

export interface Plot {
	label: string;
	unit: 'cores' | 'bytes' | 'share';
	isStacked: boolean;
	full?: 'cpus' | number; // what the whole height is, where there is a most: all CPUs, or a number
	series: Array<[label: string, names: RegExp, color: number]>; // lanes that fit are added up; colour: of the palette's series
}

export const PLOTS: Plot[] = [
	{ label: 'CPU', unit: 'cores', isStacked: true, full: 'cpus', series: [
		['user', /^cpu\.all\.(user|nice)_ns$/, 0], ['system', /^cpu\.all\.(system|irq|softirq)_ns$/, 1], ['I/O wait', /^cpu\.all\.iowait_ns$/, 2], ['stolen', /^cpu\.all\.steal_ns$/, 3]] },
	{ label: 'Disk', unit: 'bytes', isStacked: false, series: [['read', /^disk\..*\.read_bytes$/, 0], ['written', /^disk\..*\.write_bytes$/, 1]] },
	{ label: 'Network', unit: 'bytes', isStacked: false, series: [['received', /^net\..*\.rx_bytes$/, 0], ['sent', /^net\..*\.tx_bytes$/, 1]] },
	{ label: 'Memory', unit: 'bytes', isStacked: false, series: [['resident', /^process\.rss_bytes$/, 0], ['page cache', /^memory\.cached_bytes$/, 2]] },
	{ label: 'Pressure', unit: 'share', isStacked: false, full: 1, series: [
		['CPU', /^pressure\.cpu\.some\.stall_ns$/, 0], ['memory', /^pressure\.memory\.some\.stall_ns$/, 3], ['I/O', /^pressure\.io\.some\.stall_ns$/, 1]] },
];

export interface Series { label: string; lanes: Lane[]; color: number }

/** What of a plot there is to see: lanes that ever moved. */
export function seriesOf(plot: Plot, lanes: Lane[]): Series[] {
	return plot.series.flatMap(([label, names, color]) => {
		const mine = lanes.filter((l) => names.test(l.name ?? '') && (l.is_total ? l.min !== l.max : (l.max ?? 0) > 0));
		return mine.length ? [{ label, lanes: mine, color }] : [];
	});
}

/** When a probe read: the times of all counters that it reads together. */
export function readingsOf(lanes: CounterPoint[][]): number[] {
	return [...new Set(lanes.flatMap((points) => points.map((p) => p[0])))].sort((a, b) => a - b);
}

function lastNotAfter(times: number[], t: number): number {
	let low = 0, high = times.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (times[middle] <= t) low = middle + 1;
		else high = middle;
	}
	return low ? times[low - 1] : -Infinity;
}

/** Does it change with nearly every reading? Then a pause is a late reading, not one without a change. */
function isSteady(points: CounterPoint[]): boolean {
	const gaps = points.slice(1).map((p, i) => p[0] - points[i][0]).sort((a, b) => a - b), usual = gaps[gaps.length >> 1];
	return gaps.filter((g) => g > 1.6 * usual).length < 0.15 * gaps.length;
}

/**
 * How fast a counter that only rises does so. A probe writes a value only when it has changed: where it read without writing,
 * nothing rose, and the rise belongs to the time since the last reading. A reading right after another, as at the end of the
 * run, is joined to the one before.
 */
export function rates(points: CounterPoint[], bin: number, readings: number[]): CounterPoint[] {
	const out: CounterPoint[] = [];
	if (points.length < 2) return out;
	const gaps = readings.slice(1).map((t, i) => t - readings[i]).sort((a, b) => a - b);
	const period = Math.max(1, bin, gaps[Math.floor(gaps.length / 2)] ?? 1);
	const add = (t: number, rate: number) => out.push([t, rate, rate, rate]);
	const steady = isSteady(points);
	let last = points[0], isJoined = false;
	for (let i = 1; i < points.length; i++) {
		const p = points[i], rise = Math.max(0, p[1] - last[1]);
		const since = isJoined || steady ? last[0] : Math.max(last[0], lastNotAfter(readings, p[0] - period * 0.5));
		isJoined = p[0] - last[0] < period * 0.5 && (out.length > 0 || i + 1 < points.length); // all that there is stands for itself
		if (isJoined) continue;
		if (since > last[0]) add(last[0], 0);
		add(since, rise / Math.max(1, p[0] - since) * 1e9);
		last = p;
	}
	add(last[0], out.length ? out[out.length - 1][3] : 0);
	return out;
}

/** The value at a time of points that hold until the next. */
export function valueAt(points: CounterPoint[], t: number): number {
	let low = 0, high = points.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (points[middle][0] <= t) low = middle + 1;
		else high = middle;
	}
	return low ? points[low - 1][3] : 0;
}
