// A report's own data instead of a server: the answers that were put into the file, at the resolutions it holds.
import type { CounterLane, EventDetails, Flame, FlameNode, FlameOptions, FlowList, Io, NameRow, Network, RunInfo, SearchResult, Source, SqlAnswer, StatRow, Stats, Steps, Summary, Tracks, Window } from './api';
import { decodeSlices, itemAt, type LaneItems } from './slices';

/** What src/serve/report-file.c puts in: JSON answers as they are, slices as base64, the coarsest level first. */
interface Embedded {
	run: RunInfo; tracks: Tracks; names: NameRow[]; stats: Stats; flame: Flame; io: Io; steps: Steps; summary: Summary | null;
	flows?: FlowList | null; network?: Network | null;
	flames?: { cpu?: Flame; offcpu?: Flame };
	slices: Array<{ bin: number; data: string }>; counters: CounterLane[];
}

function bytesOf(base64: string): ArrayBuffer {
	const text = atob(base64), bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	return bytes.buffer;
}

/**
 * Adds the items of a lane to rows by name, by the rule of doc/format.md: an item counts where it starts, with its whole
 * duration, and its time is clipped to the window. Returns whether some were cells, which stand for any number of events.
 */
export function addUp(items: LaneItems, w: Window, texts: Map<number, NameRow>, rows: Map<number, StatRow>): boolean {
	let hasCells = false;
	for (let i = 0; i < items.count; i++) {
		const id = items.name[i], text = texts.get(id), length = items.end[i] - items.start[i];
		const isIn = items.start[i] >= w.from && items.start[i] < w.to;
		const inside = Math.max(0, Math.min(items.end[i], w.to) - Math.max(items.start[i], w.from));
		if ((!isIn && !inside) || !text || text[2] === 'step') continue;
		const row = rows.get(id) ?? { name_id: id, name: text[1], count: 0, total_ns: 0, mean_ns: null, min_ns: null, max_ns: null };
		row.total_ns += inside * items.busy[i] / 255;
		if (isIn) {
			row.mean_ns = ((row.mean_ns ?? 0) * row.count + length) / (row.count + 1);
			row.min_ns = Math.min(row.min_ns ?? length, length);
			row.max_ns = Math.max(row.max_ns ?? length, length);
			row.count++;
		}
		rows.set(id, row);
		hasCells ||= items.isCell[i] === 1;
	}
	return hasCells;
}

class EmbeddedSource implements Source {
	readonly isLive = false;
	private levels: Array<{ bin: number; data: string; lanes: Map<number, LaneItems> | null }>;
	private texts = new Map<number, NameRow>();

	constructor(private e: Embedded) {
		this.levels = e.slices.map((l) => ({ ...l, lanes: null }));
		for (const row of e.names) this.texts.set(row[0], row);
	}
	/** The finest level that is needed; decoded when it first is. */
	private level(bin: number): Map<number, LaneItems> {
		const level = this.levels.find((l) => l.bin <= bin) ?? this.levels[this.levels.length - 1];
		level.lanes ??= new Map(decodeSlices(bytesOf(level.data)).map((l) => [l.lane, l]));
		return level.lanes;
	}
	async run() { return this.e.run; }
	async tracks() { return this.e.tracks; }
	async names(ids: number[]) { return ids.map((id) => this.texts.get(id) ?? ([id, null, 'span'] as NameRow)); }
	async slices(_: Window, bin: number, lanes: number[]) {
		const level = this.level(bin);
		return lanes.flatMap((lane) => level.get(lane) ?? []);
	}
	async counters(_: Window, __: number, lanes: number[]) { return this.e.counters.filter((c) => lanes.includes(c.lane)); }
	async event(lane: number, at: number, within: number): Promise<EventDetails> {
		const items = this.levels.length ? this.level(0).get(lane) : undefined, i = items ? itemAt(items, at, within) : -1;
		if (!items || i < 0) throw new Error('the report holds nothing finer here');
		const text = this.texts.get(items.name[i]);
		const what = items.isCell[i] ? { note: `several events shorter than ${items.bin} ns; the report holds nothing finer` } : {};
		return { lane, name_id: items.name[i], start_ns: items.start[i], duration_ns: items.end[i] - items.start[i],
			row: { title: text?.[1] ?? '', table: text?.[2], ...what } };
	}
	async search(text: string, limit: number): Promise<SearchResult> {
		const wanted = text.toLowerCase(), events: SearchResult['events'] = [];
		const kinds = new Map(this.e.tracks.processes.flatMap((p) => p.threads.flatMap((t) => t.lanes.map((l) => [l.lane, l.kind] as const))));
		for (const [lane, items] of this.levels.length ? this.level(0) : []) {
			if (kinds.get(lane) !== 'slices' && kinds.get(lane) !== 'marks') continue;
			for (let i = 0; i < items.count; i++) {
				const name = this.texts.get(items.name[i])?.[1];
				if (name?.toLowerCase().includes(wanted))
					events.push({ lane, name_id: items.name[i], name, start_ns: items.start[i], duration_ns: items.end[i] - items.start[i] });
			}
		}
		events.sort((a, b) => a.start_ns - b.start_ns);
		return { is_all: events.length <= limit, events: events.slice(0, limit) };
	}
	/** Of the whole run as it was added up; of a stretch, from the slices that the report holds. */
	async stats(w: Window): Promise<Stats> {
		if (w.from <= 0 && w.to >= this.e.run.duration_ns) return this.e.stats;
		const rows = new Map<number, StatRow>();
		let hasCells = false;
		for (const items of this.levels.length ? this.level(0).values() : []) hasCells = addUp(items, w, this.texts, rows) || hasCells;
		const list = [...rows.values()].sort((a, b) => b.total_ns - a.total_ns);
		return { from_ns: w.from, to_ns: w.to, events: list.reduce((n, r) => n + r.count, 0), names: list.length, rows: list, is_least: hasCells };
	}
	async flame(_: Window, o: FlameOptions) { return (o.source === 'spans' ? this.e.flame : this.e.flames?.[o.source]) ?? { from_ns: 0, to_ns: 0, unit: 'ns', nodes: [[-1, 0, 0, 0] as FlameNode] }; }
	async io() { return this.e.io; }
	async steps() { return this.e.steps; }
	async summary() { return this.e.summary; }
	async flows() { return this.e.flows ?? { flows: [], is_all: true }; }
	async network() { return this.e.network ?? { is_all: true, pairs: [] }; }
	async sql(): Promise<SqlAnswer> { throw new Error('a report holds answers, not tables: use sonde view for SQL'); }
	async link() { return location.href; }
}

export function embeddedSource(): Source | null {
	const el = document.getElementById('sonde-data');
	return el?.textContent ? new EmbeddedSource(JSON.parse(el.textContent)) : null;
}
