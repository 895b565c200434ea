// The arrows of the selected event: who started or woke its thread, whom it started or woke, and the way there.
import type { Flow, Process, Thread } from './api';
import { isEnd } from './flows';
import { tick } from './format';
import { processLabel, threadLabel } from './layout';
import { itemAt } from './slices';
import type { App } from './state';
import { useAnswer, useApp } from './use';

const LIMIT = 2000;
const SHOWN = 6;
const NEAR = 2000; // ns that an event may be away from the end of its arrow

type End = 'from' | 'to';
const WORDS: Record<Flow[0], Record<End, string>> = { spawn: { from: 'started by', to: 'starts' }, wake: { from: 'woken by', to: 'wakes' } };

function threadOf(app: App, isIt: (p: Process, t: Thread) => boolean): { process: Process; thread: Thread } | null {
	for (const process of app.state.tracks?.processes ?? []) {
		const thread = process.threads.find((t) => isIt(process, t));
		if (thread) return { process, thread };
	}
	return null;
}

/** The thread at the other end of an arrow. */
function other(app: App, f: Flow, end: End) {
	const [process, tid] = end === 'from' ? [f[2], f[3]] : [f[5], f[6]];
	return threadOf(app, (p, t) => t.tid === tid && (process === null || p.process === process));
}

/** Arrows that end in the selected event (from elsewhere), or begin in it (to elsewhere). */
async function arrowsOf(app: App, start: number, end: number): Promise<Record<End, Flow[]>> {
	const lane = app.state.selection?.lane, mine = threadOf(app, (_, t) => t.lanes.some((l) => l.lane === lane));
	if (!mine) return { from: [], to: [] };
	const { flows } = await app.source.flows({ from: start - 1, to: end + 1 }, LIMIT);
	const s = { process: mine.process.process, tid: mine.thread.tid, start, end };
	return { from: flows.filter((f) => isEnd(f, 'to', s)), to: flows.filter((f) => isEnd(f, 'from', s)) };
}

/** Select what the thread there did at that time, the innermost event first; without one, show the time. */
async function go(app: App, f: Flow, end: End) {
	const there = other(app, f, end), t = end === 'from' ? f[1] : f[4];
	if (!there) return;
	const lanes = there.thread.lanes.filter((l) => l.kind === 'slices').sort((a, b) => b.depth - a.depth);
	const states = there.thread.lanes.filter((l) => l.kind === 'states'), all = [...lanes, ...states];
	const found = new Map((await app.source.slices({ from: t - NEAR, to: t + NEAR }, 8, all.map((l) => l.lane))).map((items) => [items.lane, items]));
	for (const { lane } of all) {
		const items = found.get(lane), i = items ? itemAt(items, t, NEAR) : -1;
		if (items && i >= 0) {
			app.reveal({ lane, start: items.start[i], end: items.end[i], nameId: items.name[i] }, Math.max(items.start[i], Math.min(items.end[i] - 1, t)), NEAR);
			return;
		}
	}
	app.show(t - 1e5, t + 1e5);
	if (all.length) app.onReveal?.(all[0].lane);
}

/** By the keyboard: the last arrow that comes, or the first that goes. */
export async function follow(app: App, end: End) {
	const s = app.state.selection;
	if (!s) return;
	const arrows = (await arrowsOf(app, s.start, s.end))[end], f = end === 'from' ? arrows[arrows.length - 1] : arrows[0];
	if (f) await go(app, f, end);
	else app.set({ notice: end === 'from' ? 'No arrow comes to this event.' : 'No arrow goes from this event.' });
}

export function Arrows({ app, start, end }: { app: App; start: number; end: number }) {
	const s = useApp(app);
	const { value } = useAnswer(() => arrowsOf(app, start, end), [s.selection?.lane, start, end], (e) => app.fail(e));
	if (!value || !(value.from.length + value.to.length)) return null;
	return (
		<ul class="arrows" data-testid="arrows">
			{(['from', 'to'] as const).flatMap((way) => value[way].slice(0, SHOWN).map((f) => {
				const there = other(app, f, way), name = there ? `${processLabel(there.process)} · ${threadLabel(there.process, there.thread)}` : 'a thread outside';
				return <li>{WORDS[f[0]][way]} {there ? <button class="plain" onClick={() => void go(app, f, way)}>{name}</button> : name} <span class="quiet">at {tick(way === 'from' ? f[1] : f[4], 1e3)}</span></li>;
			}))}
			{(['from', 'to'] as const).map((way) => value[way].length > SHOWN && <li class="quiet">{value[way].length - SHOWN} more {way === 'from' ? 'come' : 'go'}</li>)}
		</ul>
	);
}
