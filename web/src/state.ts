// What the page shows, in one place. Views subscribe; everything that a permalink needs is in the URL's hash.
import type { EventDetails, FlameSource, Hit, Process, RunInfo, Source, Thread, Tracks, Window } from './api';
import { Names } from './names';
import type { Loop } from './steps';

export type Tab = 'overview' | 'timeline' | 'flame' | 'io' | 'steps' | 'compare' | 'sql';
export const TABS: Tab[] = ['overview', 'timeline', 'flame', 'io', 'steps', 'compare', 'sql'];

/** A stretch that is measured; threads: of these alone, as threadKey has them. */
export interface Brush extends Window { threads?: string[] }

export interface Selection { lane: number; start: number; end: number; nameId: number }

export interface State {
	tab: Tab;
	run: RunInfo | null;
	tracks: Tracks | null;
	window: Window;
	selection: Selection | null;
	details: EventDetails | null;
	brush: Brush | null;
	search: string;
	hits: Hit[] | null;
	isAllHits: boolean;
	hit: number;
	isDark: boolean;
	pins: Set<string>;
	folded: Set<string>;
	opened: Set<string>; // threads that show all their depths
	trackFilter: string;
	hasArrows: boolean;
	groups: string; // name:colour, name:colour
	isFollowing: boolean; // of a run that grows: the window moves with its end
	flame: FlameSource | null; // null: what the run has
	found: Loop | null; // iterations that the program did not announce
	sql: string;
	isHelpOpen: boolean;
	isGroupsOpen: boolean;
	error: string | null;
	notice: string | null;
}

const LANES_MAX = 1024; // that a server sums up at once

export function threadKey(p: Process, t: Thread): string {
	return `${p.process ?? 'm'}:${t.tid ?? ''}`;
}

export class App {
	state: State;
	readonly names: Names;
	private listeners = new Set<() => void>();
	private hashTimer = 0;
	other: App | null = null; // a second run to compare with
	extent = 0; // the end of what is shown beside, when that is later than the run's own
	isSecond = false; // the address is the first one's

	constructor(readonly source: Source) {
		this.names = new Names(source, () => this.changed());
		this.state = {
			tab: 'overview', run: null, tracks: null, window: { from: 0, to: 1 }, selection: null, details: null,
			brush: null, search: '', hits: null, isAllHits: true, hit: -1, isDark: false, pins: new Set(),
			folded: new Set(), opened: new Set(), trackFilter: '', hasArrows: true, groups: '', isFollowing: false, flame: null, found: null, sql: '', isHelpOpen: false, isGroupsOpen: false, error: null, notice: null,
		};
	}
	subscribe(listener: () => void): () => void {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}
	private changed() {
		for (const listener of this.listeners) listener();
	}
	set(part: Partial<State>) {
		Object.assign(this.state, part);
		this.changed();
		clearTimeout(this.hashTimer);
		this.hashTimer = window.setTimeout(() => this.writeHash(), 250);
	}
	get duration(): number {
		return Math.max(1, this.state.run?.duration_ns ?? 1);
	}
	get name(): string {
		return this.state.run?.path.split('/').pop() ?? '';
	}
	/** The views that there is something for. */
	get tabs(): Tab[] {
		return TABS.filter((t) => (t !== 'compare' || this.other) && (t !== 'sql' || (this.state.run?.has_sql && this.source.isLive)));
	}
	/** What tables and flame graphs are of: the brushed stretch, or the whole run. */
	get scope(): Window {
		return this.state.brush ?? { from: 0, to: this.duration + 1 };
	}
	/** The same text as long as the scope is the same. */
	get scopeKey(): string {
		return [this.scope.from, this.scope.to, ...(this.state.brush?.threads ?? [])].join(' ');
	}
	/** Measure a stretch of some threads; of all when there are none, or too many to ask for. */
	measure(from: number, to: number, threads: string[] = []) {
		this.set({ brush: threads.length && this.source.isLive ? { from, to, threads } : { from, to } });
		if ((this.lanes?.length ?? 0) > LANES_MAX) this.set({ brush: { from, to } });
	}
	/** The threads that the brush is of; null: all. */
	get threads(): Array<{ process: Process; thread: Thread }> | null {
		const keys = this.state.brush?.threads && new Set(this.state.brush.threads);
		return keys ? this.state.tracks?.processes.flatMap((process) => process.threads.filter((thread) => keys.has(threadKey(process, thread))).map((thread) => ({ process, thread }))) ?? [] : null;
	}
	/** The lanes of them that have events with names. */
	get lanes(): number[] | null {
		return this.threads?.flatMap(({ thread }) => thread.lanes.filter((l) => l.kind === 'slices' || l.kind === 'marks' || l.kind === 'gpu').map((l) => l.lane)) ?? null;
	}
	setWindow(from: number, to: number) {
		const whole = Math.max(this.duration, this.extent), most = whole * 1.1 + 1000, least = 40;
		let span = Math.min(Math.max(to - from, least), most);
		const middle = (from + to) / 2;
		from = middle - span / 2;
		const slack = span * 0.5;
		from = Math.min(Math.max(from, -slack), whole + slack - span);
		this.set({ window: { from, to: from + span } });
	}
	showAll() {
		this.setWindow(-this.duration * 0.01, this.duration * 1.01);
	}
	/** Show a stretch with some room around it. */
	show(from: number, to: number, tab: Tab | null = 'timeline') {
		const room = Math.max((to - from) * 0.4, 50);
		if (tab && this.state.tab !== tab) this.set({ tab });
		this.setWindow(from - room, to + room);
	}
	/** at: a time of the event; within: how far off it may be. */
	async select(selection: Selection | null, at = selection?.start ?? 0, within = 1) {
		this.set({ selection, details: null });
		if (!selection) return;
		try {
			const details = await this.source.event(selection.lane, at, within);
			if (this.state.selection === selection) {
				this.state.selection = { lane: selection.lane, start: details.start_ns,
					end: details.start_ns + details.duration_ns, nameId: details.name_id };
				this.set({ details });
			}
		} catch (error) {
			if (this.source.isLive) this.fail(error);
		}
	}
	async find(text: string) {
		this.set({ search: text, hit: -1 });
		if (!text) {
			this.set({ hits: null });
			return;
		}
		try {
			const found = await this.source.search(text, 1000);
			if (this.state.search !== text) return;
			await this.names.load(found.events.map((e) => e.name_id));
			this.set({ hits: found.events, isAllHits: found.is_all });
		} catch (error) {
			this.fail(error);
		}
	}
	goToHit(index: number) {
		const hits = this.state.hits;
		if (!hits?.length) return;
		const i = (index + hits.length) % hits.length, hit = hits[i];
		this.set({ hit: i });
		this.reveal({ lane: hit.lane, start: hit.start_ns, end: hit.start_ns + hit.duration_ns, nameId: hit.name_id });
	}
	/** Select an event and bring it into view; the zoom changes only when it has to. */
	reveal(selection: Selection, at?: number, within?: number) {
		const w = this.state.window, span = w.to - w.from, { start, end } = selection;
		if (this.state.tab !== 'timeline') this.set({ tab: 'timeline' });
		if (end - start > span || end - start < span / 400) this.show(start, Math.max(end, start + 100));
		else if (start < w.from || end > w.to) this.setWindow((start + end) / 2 - span / 2, (start + end) / 2 + span / 2);
		void this.select(selection, at, within);
		this.onReveal?.(selection.lane);
	}
	onReveal?: (lane: number) => void;
	setGroups(groups: string) {
		this.set({ groups });
		this.names.setGroups(groups);
		this.other?.names.setGroups(groups);
	}
	fail(error: unknown) {
		if ((error as Error)?.name === 'AbortError') return;
		this.set({ error: String((error as Error)?.message ?? error) });
	}
	toggle(kind: 'pins' | 'folded' | 'opened', key: string) {
		const set = new Set(this.state[kind]);
		if (!set.delete(key)) set.add(key);
		this.set({ [kind]: set });
	}

	permalink(): string {
		const s = this.state, q = new URLSearchParams({ tab: s.tab });
		q.set('w', `${Math.round(s.window.from)}-${Math.round(s.window.to)}`.replace('--', '-m').replace(/^-/, 'm'));
		if (s.brush) q.set('b', `${Math.round(s.brush.from)}-${Math.round(s.brush.to)}`);
		if (s.brush?.threads) q.set('bt', s.brush.threads.join(','));
		if (s.selection) q.set('e', `${s.selection.lane}-${Math.round(s.selection.start)}`);
		if (s.search) q.set('q', s.search);
		if (s.groups) q.set('g', s.groups);
		if (s.flame) q.set('f', s.flame);
		if (s.trackFilter) q.set('t', s.trackFilter);
		if (s.tab === 'sql' && s.sql) q.set('sql', s.sql);
		if (s.pins.size) q.set('pin', [...s.pins].join(','));
		return `#${q}`;
	}
	private writeHash() {
		if (this.state.run && !this.isSecond) history.replaceState(null, '', this.permalink());
	}
	readHash() {
		const q = new URLSearchParams(location.hash.slice(1));
		const pair = (text: string | null) => text?.split('-').map((x) => Number(x.replace('m', '-')));
		const tab = q.get('tab') as Tab, w = pair(q.get('w')), b = pair(q.get('b')), e = pair(q.get('e'));
		if (this.tabs.includes(tab)) this.set({ tab });
		if (q.get('g')) this.setGroups(q.get('g')!);
		if (q.get('t')) this.set({ trackFilter: q.get('t')! });
		if (q.get('sql')) this.set({ sql: q.get('sql')! });
		if (/^(cpu|offcpu|spans)$/.test(q.get('f') ?? '')) this.set({ flame: q.get('f') as FlameSource });
		if (q.get('pin')) this.set({ pins: new Set(q.get('pin')!.split(',')) });
		if (w?.length === 2 && w.every(isFinite) && w[1] > w[0]) this.setWindow(w[0], w[1]);
		if (b?.length === 2 && b.every(isFinite) && b[1] > b[0]) this.set({ brush: { from: b[0], to: b[1], ...(q.get('bt') && { threads: q.get('bt')!.split(',') }) } });
		if (e?.length === 2 && e.every(isFinite)) void this.select({ lane: e[0], start: e[1], end: e[1], nameId: 0 });
		if (q.get('q')) void this.find(q.get('q')!);
	}
}
