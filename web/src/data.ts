// What is known of lanes at the zoom at hand: fetched a quarter of a screen beyond the view at a power-of-two resolution, so that
// moving and zooming a little need nothing new; until the new comes, the old is drawn at the new scale.
import type { CounterPoint, Source, Window } from './api';
import { readingsOf } from './plots';
import type { LaneItems } from './slices';

const BIN_MIN = 8;
const LANES_MAX = 512;
const ALWAYS = 0; // the bin of what holds at every zoom

/** At least a pixel, less than two. */
export function binOf(nsPerPixel: number): number {
	return Math.max(BIN_MIN, 2 ** Math.ceil(Math.log2(Math.max(1, nsPerPixel))));
}

interface Known<T> { data: T; bin: number; from: number; to: number }

class Cache<T> {
	private known = new Map<number, Known<T>>();
	private pending: { from: number; to: number; bin: number; lanes: Set<number>; abort: AbortController } | null = null;

	constructor(private fetch: (w: Window, bin: number, lanes: number[], signal: AbortSignal) => Promise<Map<number, T>>,
		private onNew: () => void, private onError: (error: unknown) => void) {}

	/** Of a lane that the source does not know: never asked for. */
	keep(lane: number, data: T) { this.known.set(lane, { data, bin: ALWAYS, from: -Infinity, to: Infinity }); }
	get(lane: number): T | undefined { return this.known.get(lane)?.data; }
	binOf(lane: number): number { return this.known.get(lane)?.bin ?? 1; }
	forget() {
		this.pending?.abort.abort();
		this.pending = null;
		for (const k of this.known.values()) if (k.bin !== ALWAYS) k.bin = -1; // drawn until the new is there
	}
	isReady(lane: number, w: Window, bin: number, duration: number): boolean {
		const k = this.known.get(lane);
		return !!k && (k.bin === ALWAYS || k.bin === bin) && k.from <= Math.max(0, w.from) && k.to >= Math.min(duration, w.to);
	}
	need(lanes: number[], w: Window, bin: number, duration: number) {
		const missing = lanes.filter((l) => !this.isReady(l, w, bin, duration)).slice(0, LANES_MAX);
		if (!missing.length) return;
		const p = this.pending;
		if (p && p.bin === bin && p.from <= Math.max(0, w.from) && p.to >= Math.min(duration, w.to) &&
			missing.every((l) => p.lanes.has(l))) return;
		p?.abort.abort();
		const room = (w.to - w.from) / 4;
		const from = Math.floor(Math.max(0, w.from - room) / bin) * bin;
		const to = Math.max(from + bin, Math.ceil(Math.min(duration + bin, w.to + room) / bin) * bin);
		const mine = { from, to, bin, lanes: new Set(missing), abort: new AbortController() };
		this.pending = mine;
		this.fetch({ from, to }, bin, missing, mine.abort.signal).then((data) => {
			for (const [lane, d] of data) this.known.set(lane, { data: d, bin, from, to });
			if (this.pending === mine) this.pending = null;
			this.onNew();
		}, (error) => {
			if (this.pending === mine) this.pending = null;
			this.onError(error);
		});
	}
	get isPending(): boolean { return this.pending !== null; }
}

export class LaneData {
	readonly slices: Cache<LaneItems>;
	readonly counters: Cache<CounterPoint[]>;
	readings: number[] = []; // of the last answer about counters

	constructor(source: Source, onNew: () => void, onError: (error: unknown) => void) {
		this.slices = new Cache(async (w, bin, lanes, signal) =>
			new Map((await source.slices(w, bin, lanes, signal)).map((l) => [l.lane, l])), onNew, onError);
		this.counters = new Cache(async (w, bin, lanes, signal) => {
			const answer = await source.counters(w, bin, lanes, signal);
			this.readings = readingsOf(answer.map((l) => l.points));
			return new Map(answer.map((l) => [l.lane, l.points]));
		}, onNew, onError);
	}
	forget() {
		this.slices.forget();
		this.counters.forget();
	}
}
