// Where the threads' time went, as a bar: running, ready but without a CPU, waiting.
import type { Summary } from './api';
import { duration, percent } from './format';

export interface StateShare { key: string; label: string; ns: number; title: string }

const STATES: Array<[key: string, label: string, title: string]> = [
	['running_ns', 'running', 'threads that ran'],
	['runnable_ns', 'runnable', 'threads that could run but had no CPU: run queue'],
	['disk_ns', 'disk', 'uninterruptible sleep, as waiting for a disk is'],
	['sleep_ns', 'asleep', 'interruptible sleep: locks, sockets, pipes, timers'],
	['wait_ns', 'waiting', 'off the CPU by themselves; the kernel did not say for what'],
	['stopped_ns', 'stopped', 'by a signal or a debugger'],
];

/** What the colours above threads mean. */
export function StateLegend() {
	return <div class="legend">{STATES.map(([key, label, title]) => <span title={title}><i class={`state ${key.replace('_ns', '')}`} />{label}</span>)}<span><i class="state sample" />a sample of what it was doing</span></div>;
}

export function statesOf(summary: Summary | null): StateShare[] | null {
	const s = summary?.states;
	if (!s || !(s.life_ns > 0)) return null;
	return STATES.flatMap(([key, label, title]) => {
		const ns = s[key] as number | null;
		return ns ? [{ key: key.replace('_ns', ''), label, ns, title }] : [];
	});
}

export function StateBar({ states, caption = 'Time of all threads' }: { states: StateShare[]; caption?: string }) {
	const all = states.reduce((sum, s) => sum + s.ns, 0);
	return (
		<div class="states" data-testid="states">
			<span class="quiet">{caption}: {duration(all)}</span>
			<div class="state-bar" role="img" aria-label={states.map((s) => `${s.label} ${percent(s.ns / all)}`).join(', ')}>
				{states.map((s) => <i class={`state ${s.key}`} style={{ flexGrow: s.ns / all }} title={`${s.label}: ${duration(s.ns)}`} />)}
			</div>
			<div class="legend">{states.map((s) => <span title={s.title}><i class={`state ${s.key}`} />{s.label} <b>{duration(s.ns)}</b> {percent(s.ns / all)}</span>)}</div>
		</div>
	);
}
