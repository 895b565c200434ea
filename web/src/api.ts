// What the server answers (src/serve/run-api.h), and where answers come from: a server or a report's own data.
// Times are nanoseconds since the start of the run.
import { decodeSlices, type LaneItems } from './slices';

export interface ColourFilter { keyword: string; colour: string }

export interface RunInfo {
	path: string;
	duration_ns: number;
	is_growing: boolean;
	generation: number;
	tables: Record<string, number>;
	run: {
		name?: string; argv?: string[]; cwd?: string; state?: string; version?: string; wall_ns?: number;
		host?: { name?: string; kernel?: string; machine?: string; cpus?: number; memory_bytes?: number };
		clock?: { start_real_ns?: number; error_ns?: number; source?: string };
		exit?: { code: number | null; signal: number | null; oom_kills?: number };
		filters?: { cpu?: ColourFilter[]; gpu?: ColourFilter[] }; // as SOFA's --cpu_filters
		probes?: Array<{ name: string; state: string; [key: string]: unknown }>;
	};
	loss: string[];
	other?: string | null; // a second run to compare with is at hand: its path
	has_sql?: boolean;
	groups?: string | null; // name:colour,... given on the command line
}

export interface Lane {
	lane: number; kind: 'slices' | 'marks' | 'steps' | 'counter' | 'states' | 'samples' | 'gpu'; depth: number; count: number;
	start_ns: number; end_ns: number; name?: string | null; min?: number; max?: number; busy_ns?: number;
	unit?: string | null; is_total?: boolean; // of a probe's counter; totals are shown as rates
}
export interface Thread { tid?: number; name: string | null; lanes: Lane[] }
export interface Process {
	process?: number; pid?: number; parent?: number; exe?: string | null; state?: string | null; argv?: string[];
	start_ns?: number | null; end_ns?: number | null; exit_code?: number; exit_signal?: number; threads: Thread[];
}
export interface Tracks { duration_ns: number; generation: number; processes: Process[] }

export interface EventDetails {
	lane: number; name_id: number; start_ns: number; duration_ns: number; row: Record<string, unknown>;
}
export interface Hit { lane: number; name_id: number; name: string | null; start_ns: number; duration_ns: number }
export interface SearchResult { is_all: boolean; events: Hit[] }
export interface StatRow {
	name_id: number; name: string | null; count: number; total_ns: number;
	mean_ns: number | null; min_ns: number | null; max_ns: number | null; // of whole durations; null: none starts in the window
}
export interface Stats { from_ns: number; to_ns: number; events: number; names: number; rows: StatRow[]; is_least?: boolean } // is_least: there may be more events
export interface IoRow { name: string | null; category?: string; count: number; errors: number; bytes: number; total_ns: number }
export interface Io { file_count: number; calls: IoRow[]; files: IoRow[] }
export type FlameNode = [parent: number, name: number, count: number, total: number];
export type FlameSource = 'spans' | 'cpu' | 'offcpu';
export interface Flame { from_ns: number; to_ns: number; unit: string; nodes: FlameNode[]; names?: NameRow[] }
export interface FlameOptions { source: FlameSource; calls: boolean; process?: number; tid?: number }
export type Step = [process: number, name: string | null, index: number, ts_ns: number, value: number | null];
export interface Steps { steps: Step[]; is_all: boolean }
export type CounterPoint = [ts_ns: number, min: number, max: number, mean: number];
export interface CounterLane { lane: number; points: CounterPoint[] }
export type NameRow = [id: number, text: string | null, table: string, category?: string];

export interface Diagnosis { rule: string; what: string; evidence: string; next: string; recoverable_ns: number | null; from_ns: number | null; to_ns: number | null }
export interface CpuFunction { function: string; self_ns: number; self: number; total_ns: number; module: string | null }
export interface States { life_ns: number; by_thread?: Array<Record<string, number | string | null>>; [state: string]: unknown }
export interface Iterations {
	source?: string; tid?: number; count?: number; confidence?: number; by_name?: Array<{ name: string | null }>;
	each?: Array<{ index: number; from_ns: number; dur_ns: number }>; // of iterations that were found, not announced
}
/** As `sonde summary --json` prints it; a section that has nothing is null and `reasons` says why. */
export interface Summary {
	wall_ns: number; diagnosis?: Diagnosis[]; states?: States | null; network?: unknown; iterations?: Iterations | null;
	cpu?: { cpu_ns: number; samples: number; by_function?: CpuFunction[] } | null;
	io?: { by_call?: Array<Record<string, unknown>>; by_file?: Array<Record<string, unknown>>; by_directory?: Array<Record<string, unknown>>; by_time?: Array<{ from_ns: number; read_bytes: number; write_bytes: number }> } | null;
	reasons?: Record<string, string>; [key: string]: unknown;
}
/** An arrow: a thread started a process, or woke a thread. */
export type Flow = [kind: 'spawn' | 'wake', from_ns: number, from_process: number | null, from_tid: number | null, to_ns: number, to_process: number | null, to_tid: number | null];
export interface FlowList { flows: Flow[]; is_all: boolean }
export interface NetworkPair { source: string; destination: string; bytes: number; packets: number; flows: number }
export interface Network { is_all: boolean; pairs: NetworkPair[] }
export interface SqlAnswer { columns: string[]; rows: Array<Array<string | number | null>>; is_all: boolean }

export interface Window { from: number; to: number }

export interface Source {
	readonly isLive: boolean; // a server answers: any window can be asked for
	run(): Promise<RunInfo>;
	tracks(): Promise<Tracks>;
	names(ids: number[]): Promise<NameRow[]>;
	slices(w: Window, bin: number, lanes: number[], signal?: AbortSignal): Promise<LaneItems[]>;
	counters(w: Window, bin: number, lanes: number[], signal?: AbortSignal): Promise<CounterLane[]>;
	event(lane: number, at: number, within: number): Promise<EventDetails>;
	search(text: string, limit: number): Promise<SearchResult>;
	stats(w: Window, lanes: number[] | null, limit?: number): Promise<Stats>;
	flame(w: Window, options: FlameOptions): Promise<Flame>;
	io(w: Window): Promise<Io>;
	steps(): Promise<Steps>;
	summary(): Promise<Summary | null>;
	flows(w: Window, limit: number): Promise<FlowList>;
	network(w: Window): Promise<Network>;
	sql(text: string, limit: number): Promise<SqlAnswer>;
	link(): Promise<string>;
}

/** Lanes as ranges: 1,2,3,9 is 1-3,9. */
export function laneList(lanes: number[]): string {
	const sorted = [...lanes].sort((a, b) => a - b);
	const parts: string[] = [];
	for (let i = 0; i < sorted.length;) {
		let k = i;
		while (k + 1 < sorted.length && sorted[k + 1] <= sorted[k] + 1) k++;
		parts.push(k > i ? `${sorted[i]}-${sorted[k]}` : `${sorted[i]}`);
		i = k + 1;
	}
	return parts.join(',');
}

const whole = (x: number) => String(Math.round(x));

export class HttpSource implements Source {
	readonly isLive = true;

	/** run: which of the runs that the server has, 'b' for the one to compare with. */
	constructor(private which: 'a' | 'b' = 'a') {}

	private async get(path: string, query: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
		const all = this.which === 'b' ? { ...query, run: 'b' } : query;
		return this.checked(path, await fetch(`/api/${path}?${new URLSearchParams(all)}`, { signal }));
	}
	private async checked(path: string, response: Response): Promise<Response> {
		if (!response.ok) {
			const said = await response.json().catch(() => null);
			throw new Error(said?.error ?? `${path}: HTTP ${response.status}`);
		}
		return response;
	}
	private async json<T>(path: string, query?: Record<string, string>, signal?: AbortSignal): Promise<T> {
		return (await this.get(path, query, signal)).json();
	}
	run() { return this.json<RunInfo>('run'); }
	tracks() { return this.json<Tracks>('tracks'); }
	names(ids: number[]) { return this.json<NameRow[]>('names', { ids: ids.join(',') }); }
	async slices(w: Window, bin: number, lanes: number[], signal?: AbortSignal) {
		const query = { from: whole(w.from), to: whole(w.to), bin: whole(bin), lanes: laneList(lanes) };
		return decodeSlices(await (await this.get('slices', query, signal)).arrayBuffer());
	}
	counters(w: Window, bin: number, lanes: number[], signal?: AbortSignal) {
		const query = { from: whole(w.from), to: whole(w.to), bin: whole(bin), lanes: laneList(lanes) };
		return this.json<CounterLane[]>('counters', query, signal);
	}
	event(lane: number, at: number, within: number) {
		return this.json<EventDetails>('event', { lane: String(lane), at: whole(at), within: whole(within) });
	}
	search(text: string, limit: number) {
		return this.json<SearchResult>('search', { text, limit: String(limit) });
	}
	stats(w: Window, lanes: number[] | null, limit = 200) {
		const query: Record<string, string> = { from: whole(w.from), to: whole(w.to), limit: String(limit) };
		if (lanes) query.lanes = laneList(lanes);
		return this.json<Stats>('stats', query);
	}
	flame(w: Window, o: FlameOptions) {
		const query: Record<string, string> = { from: whole(w.from), to: whole(w.to), source: o.source, calls: o.calls ? '1' : '0' };
		if (o.process !== undefined) query.process = String(o.process);
		if (o.tid !== undefined) query.tid = String(o.tid);
		return this.json<Flame>('flame', query);
	}
	io(w: Window) { return this.json<Io>('io', { from: whole(w.from), to: whole(w.to) }); }
	steps() { return this.json<Steps>('steps'); }
	summary() { return this.json<Summary>('summary').catch(() => null); }
	flows(w: Window, limit: number) { return this.json<FlowList>('flows', { from: whole(w.from), to: whole(w.to), limit: String(limit) }); }
	network(w: Window) { return this.json<Network>('network', { from: whole(w.from), to: whole(w.to) }); }
	async sql(text: string, limit: number) {
		const response = await fetch(`/api/sql?limit=${limit}`, { method: 'POST', body: text });
		return (await this.checked('sql', response)).json() as Promise<SqlAnswer>;
	}
	async link() {
		const response = await fetch('/api/link', { method: 'POST' });
		return (await response.json()).url as string;
	}
}
