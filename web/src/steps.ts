// Iterations from steps: a step says that an iteration is done, so one lasts from the step before it to its own.
import type { Steps } from './api';

export interface Iteration { index: number; start: number; end: number; value: number | null }
export interface Loop { key: string; name: string; process: number; iterations: Iteration[]; mean: number; median: number; p95: number; longest: Iteration | null }

function quantile(sorted: number[], q: number): number {
	if (!sorted.length) return NaN;
	const at = (sorted.length - 1) * q, low = Math.floor(at);
	return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}

export function loops(steps: Steps): Loop[] {
	const byKey = new Map<string, Loop>(), before = new Map<string, number>();
	for (const [process, name, index, ts, value] of steps.steps) {
		const key = `${process}:${name}`;
		let loop = byKey.get(key);
		if (!loop) byKey.set(key, loop = { key, name: name ?? '(unnamed)', process, iterations: [], mean: NaN, median: NaN, p95: NaN, longest: null });
		const last = before.get(key);
		if (last !== undefined) loop.iterations.push({ index, start: last, end: ts, value });
		before.set(key, ts);
	}
	for (const loop of byKey.values()) {
		const lengths = loop.iterations.map((i) => i.end - i.start).sort((a, b) => a - b);
		loop.mean = lengths.reduce((a, b) => a + b, 0) / lengths.length;
		loop.median = quantile(lengths, 0.5);
		loop.p95 = quantile(lengths, 0.95);
		loop.longest = loop.iterations.reduce<Iteration | null>((most, i) => !most || i.end - i.start > most.end - most.start ? i : most, null);
	}
	return [...byKey.values()];
}
