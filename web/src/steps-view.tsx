// Iterations: how long each took, and its value.
import { useMemo, useState } from 'preact/hooks';
import { StepChart } from './chart';
import { count, duration, percent, short, tick } from './format';
import type { App } from './state';
import { loops, type Loop } from './steps';
import { Table } from './table';
import { useAnswer, useApp } from './use';

export function LoopChart({ app, loop, height }: { app: App; loop: Loop; height: number }) {
	const { isDark } = app.state;
	const data = useMemo(() => ({
		x: loop.iterations.map((i) => i.index),
		durations: loop.iterations.map((i) => i.end - i.start),
		values: loop.iterations.some((i) => i.value !== null) ? loop.iterations.map((i) => i.value) : null,
	}), [loop]);
	return <StepChart {...data} isDark={isDark} xLabel={loop.found ? 'iteration' : loop.name} height={height} onPoint={(i) => app.show(loop.iterations[i].start, loop.iterations[i].end)} />;
}

/** Those that the program announced, else the one that was found. */
export function useLoops(app: App): Loop[] | null {
	const s = app.state;
	const { value } = useAnswer(() => app.source.steps(), [s.run?.generation], (e) => app.fail(e));
	return useMemo(() => {
		const announced = value && loops(value);
		return announced && !announced.length && s.found ? [s.found] : announced;
	}, [value, s.found]);
}

/** What is known of it in words. */
function Facts({ app, loop }: { app: App; loop: Loop }) {
	const f = loop.found;
	return (
		<span class="quiet"><b>{f ? `Loop at ${loop.name}` : loop.name}</b>: {count(f?.count ?? loop.iterations.length)} iterations · median {duration(loop.median)} · mean {duration(loop.mean)} · 95 % within {duration(loop.p95)}
			{loop.longest && <> · longest <button class="plain" onClick={() => app.show(loop.longest!.start, loop.longest!.end)}>{loop.longest.index}</button> with {duration(loop.longest.end - loop.longest.start)}</>}
			{f && <> · {f.source}, thread {f.tid}, {percent(f.confidence)} regular</>}</span>
	);
}

const HOW = <pre>sonde_step("train", i, loss);          /* C, C++ */{'\n'}sonde.step("train", i, loss)           # Python</pre>;

export function StepsView({ app }: { app: App }) {
	useApp(app);
	const all = useLoops(app);
	const [chosen, choose] = useState('');
	if (!all) return <div class="page"><p class="quiet">Reading…</p></div>;
	const loop = all.find((l) => l.key === chosen) ?? all[0];
	if (!loop)
		return (
			<div class="page"><div class="card"><h2>No iterations</h2><p>The program announced none, and what it does repeats in no loop. Announced with one line they show here, on the timeline and to every other part of sonde:</p>
				{HOW}</div></div>
		);
	const median = loop.median;
	return (
		<div class="page">
			<div class="toolbar">
				{all.length > 1 && <select aria-label="loop" value={loop.key} onChange={(e) => choose(e.currentTarget.value)}>{all.map((l) => <option value={l.key}>{l.name} (process {l.process})</option>)}</select>}
				<Facts app={app} loop={loop} />
			</div>
			<div class="card"><LoopChart app={app} loop={loop} height={280} /><p class="quiet">Double-click a point to see that iteration on the timeline.{loop.found && loop.found.count > loop.iterations.length && ` The first ${count(loop.iterations.length)} are shown.`}</p></div>
			{loop.found && <details class="card"><summary>These iterations were found in what the program does; it can announce its own</summary>{HOW}</details>}
			<div class="card">
				<Table label="iterations" rows={loop.iterations} sort="length" limit={25} onRow={(i) => { app.set({ brush: { from: i.start, to: i.end } }); app.show(i.start, i.end); }} columns={[
					{ title: 'iteration', key: 'index', value: (i) => i.index },
					{ title: 'duration', key: 'length', value: (i) => i.end - i.start, show: (i) => duration(i.end - i.start), bar: (i) => (i.end - i.start) / (loop.longest!.end - loop.longest!.start) },
					{ title: 'to the median', key: 'ratio', value: (i) => (i.end - i.start) / median, show: (i) => `× ${((i.end - i.start) / median).toFixed(2)}` },
					{ title: 'begins at', key: 'start', value: (i) => i.start, show: (i) => tick(i.start, 1e5) },
					{ title: 'value', key: 'value', value: (i) => i.value ?? NaN, show: (i) => i.value === null ? '–' : short(i.value) },
				]} />
			</div>
		</div>
	);
}
