// Iterations. A step says that an iteration is done, so one lasts from the step before it to its own; of programs that announce
// none, those that the analysis found.
import type { Steps, Summary } from './api';
import type { LaneItems } from './slices';

export interface Iteration { index: number; start: number; end: number; value: number | null }
export interface Loop { key: string; name: string; process: number; iterations: Iteration[]; mean: number; median: number; p95: number; longest: Iteration | null; found: Found | null }
/** How a loop was found, and in what. */
export interface Found { tid: number; source: string; confidence: number; count: number }

function quantile(sorted: number[], q: number): number {
	if (!sorted.length) return NaN;
	const at = (sorted.length - 1) * q, low = Math.floor(at);
	return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}

function empty(key: string, name: string, process: number): Loop {
	return { key, name, process, iterations: [], mean: NaN, median: NaN, p95: NaN, longest: null, found: null };
}

export function loops(steps: Steps): Loop[] {
	const byKey = new Map<string, Loop>(), before = new Map<string, number>();
	for (const [process, name, index, ts, value] of steps.steps) {
		const key = `${process}:${name}`;
		let loop = byKey.get(key);
		if (!loop) byKey.set(key, loop = empty(key, name ?? '(unnamed)', process));
		const last = before.get(key);
		if (last !== undefined) loop.iterations.push({ index, start: last, end: ts, value });
		before.set(key, ts);
	}
	return [...byKey.values()].map(measured);
}

function measured(loop: Loop): Loop {
	const lengths = loop.iterations.map((i) => i.end - i.start).sort((a, b) => a - b);
	loop.mean = lengths.reduce((a, b) => a + b, 0) / lengths.length;
	loop.median = quantile(lengths, 0.5);
	loop.p95 = quantile(lengths, 0.95);
	loop.longest = loop.iterations.reduce<Iteration | null>((most, i) => !most || i.end - i.start > most.end - most.start ? i : most, null);
	return loop;
}

/** The loop that the analysis found; null: none, or the program announced its own. */
export function foundLoop(summary: Summary | null): Loop | null {
	const it = summary?.iterations;
	if (!it?.each?.length || it.tid === undefined) return null;
	const loop = empty('found', it.by_name?.[0]?.name ?? '(unnamed)', NaN);
	loop.iterations = it.each.map((i) => ({ index: i.index, start: i.from_ns, end: i.from_ns + i.dur_ns, value: null }));
	loop.found = { tid: it.tid, source: it.source ?? '', confidence: it.confidence ?? NaN, count: it.count ?? it.each.length };
	return measured(loop);
}

/** The number of their lane, which the server does not know. */
export const FOUND_LANE = -1;

/** Its iterations as a lane of the timeline. */
export function laneOf(loop: Loop): LaneItems {
	const n = loop.iterations.length;
	return {
		lane: FOUND_LANE, from: -Infinity, to: Infinity, bin: 1, count: n, start: Float64Array.from(loop.iterations, (i) => i.start), end: Float64Array.from(loop.iterations, (i) => i.end),
		name: Uint32Array.from(loop.iterations, (i) => i.index), busy: new Uint8Array(n).fill(255), isCell: new Uint8Array(n),
	};
}
