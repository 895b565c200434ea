// What a running `sonde live` says (src/serve/live-page.h), kept for a while so that it can be drawn.

export type Labels = Record<string, string>;
export type Sample = [name: string, labels: Labels, value: number];

export interface RuleState { name: string; when: string; state: 'idle' | 'pending' | 'firing' | 'cooling'; fired: number; condition: boolean | null; why: string }
export interface Rung { act: string; effort: number; value: number | null }
export interface RegulatorState { name: string; measure: string; value: number | null; target: number; is_saturated: boolean; rungs: Rung[] }
export interface Controller { is_off: boolean; is_dry_run: boolean; rules: RuleState[]; regulators: RegulatorState[] }
export interface JournalLine { time: string; rule?: string; action?: string; result?: string; place?: string; before?: string; after?: string; why?: string; message?: string }
export interface LiveAnswer { time_ns: number; version: string; host: string; samples: Sample[]; controller: Controller | null; journal: JournalLine[]; history?: History }
/** What was before the page: of each series its values, the newest last, so many seconds apart. */
export interface History { every_s: number; series: Array<[name: string, labels: Labels, values: Array<number | null>]> }

export const KEPT = 120; // looks, one a second

/** One series and its newest values; of a counter what it grew by a second. */
export interface Series { name: string; labels: Labels; isTotal: boolean; now: number; values: Array<number | null>; last: number; lastTime: number; seen: number }

const keyOf = (name: string, labels: Labels) => name + '\0' + Object.keys(labels).sort().map((k) => `${k}=${labels[k]}`).join('\0');
const isTotal = (name: string) => /_(total|sum|count)$/.test(name);

export class Live {
	answer: LiveAnswer | null = null;
	error: string | null = null;
	look = 0;
	private series = new Map<string, Series>();

	take(answer: LiveAnswer) {
		const seconds = answer.time_ns / 1e9;
		this.answer = answer;
		this.look++;
		const past = new Map(answer.history?.series.map(([name, labels, values]) =>
			[keyOf(name, labels), values.flatMap((v) => Array<number | null>(answer.history!.every_s).fill(v)).slice(-KEPT)]));
		for (const [name, labels, value] of answer.samples) this.add(name, labels, value, seconds, past);
		// What has ended is not shown any more, as the exporter does.
		for (const [key, s] of this.series) if (s.seen !== this.look) this.series.delete(key);
	}
	private add(name: string, labels: Labels, value: number, seconds: number, past: Map<string, Array<number | null>>) {
		const key = keyOf(name, labels);
		let s = this.series.get(key);
		if (!s) {
			s = { name, labels, isTotal: isTotal(name), now: value, values: past.get(key) ?? [], last: value, lastTime: seconds, seen: 0 };
			this.series.set(key, s);
			if (s.isTotal) { s.seen = this.look; return; } // a rate needs two looks
		}
		const passed = seconds - s.lastTime;
		if (s.isTotal && passed <= 0) { s.seen = this.look; return; }
		s.values.push(s.isTotal ? (value < s.last ? null : (value - s.last) / passed) : value);
		if (s.values.length > KEPT) s.values.shift();
		s.now = value;
		s.last = value;
		s.lastTime = seconds;
		s.seen = this.look;
	}
	find(name: string, labels: Labels = {}): Series | undefined {
		return this.series.get(keyOf(name, labels));
	}
	all(test: (s: Series) => boolean): Series[] {
		return [...this.series.values()].filter(test);
	}
	apps(): string[] {
		return [...new Set([...this.series.values()].map((s) => s.labels.app).filter(Boolean))].sort();
	}
	/** Two totals' growth divided: the mean time between steps, say. */
	ratio(above: Series | undefined, below: Series | undefined): number | null {
		const a = latest(above), b = latest(below);
		return a !== null && b ? a / b : null;
	}
}

export const latest = (s: Series | undefined): number | null => s?.values[s.values.length - 1] ?? null;

export async function ask(path: string, method = 'GET'): Promise<any> {
	const response = await fetch(path, { method });
	const said = await response.json().catch(() => null);
	if (!response.ok) throw new Error(said?.error ?? `${path}: HTTP ${response.status}`);
	return said;
}
