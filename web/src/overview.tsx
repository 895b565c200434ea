// The first look: what ran, how it ended, what to do about it, where the time went, what is missing.
import type { CpuFunction, Diagnosis, RunInfo, Summary } from './api';
import { copyText } from './copy';
import { bytes, count, duration, percent } from './format';
import { ioColumns } from './io-view';
import { Communication } from './matrix';
import { NameTable } from './panel';
import type { App } from './state';
import { StateBar, statesOf } from './states';
import { LoopChart, useLoops } from './steps-view';
import { Table } from './table';
import { useAnswer, useApp } from './use';

function Fact(p: { label: string; value: string; note?: string; tone?: 'bad' | 'good' }) {
	return <div class={`fact ${p.tone ?? ''}`}><span>{p.label}</span><b>{p.value}</b>{p.note && <small>{p.note}</small>}</div>;
}

function ending(run: RunInfo): { value: string; tone?: 'bad' | 'good' } {
	const exit = run.run.exit;
	if (run.is_growing) return { value: 'running' };
	if (!exit) return { value: 'unknown' };
	if (exit.signal === 9 && exit.oom_kills) return { value: 'out of memory', tone: 'bad' };
	if (exit.signal) return { value: `signal ${exit.signal}`, tone: 'bad' };
	if (exit.code === null) return { value: 'unknown' };
	return { value: `exit ${exit.code}`, tone: exit.code ? 'bad' : 'good' };
}

function command(run: RunInfo): string {
	return run.run.argv?.map((a) => /^[\w@%+=:,./-]+$/.test(a) ? a : `'${a.replace(/'/g, `'\\''`)}'`).join(' ') ?? run.run.name ?? run.path;
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** What is wrong, by which numbers, what it costs, and what to type next. */
function DiagnosisCard({ app, d }: { app: App; d: Diagnosis }) {
	const hasRange = d.from_ns !== null && d.to_ns !== null && d.to_ns > d.from_ns;
	const isCommand = /^(sonde|ps)\b/.test(d.next);
	const show = () => { app.set({ brush: { from: d.from_ns!, to: d.to_ns! } }); app.show(d.from_ns!, d.to_ns!); };
	return (
		<article class="card diagnosis" data-testid="diagnosis" data-rule={d.rule}>
			<h3><span>{sentence(d.what)}</span>{d.recoverable_ns ? <b class="win" title="at most">up to {duration(d.recoverable_ns)} to win back</b> : null}</h3>
			<p class="evidence">{sentence(d.evidence)}.</p>
			{d.next && <div class="next"><span class="quiet">{isCommand ? 'Run next' : 'Try'}</span><code>{d.next}</code>
				<button class="copy" onClick={() => void copyText(app, d.next, 'Copied.')} aria-label="Copy the command">Copy</button></div>}
			<div class="acts">
				{hasRange && <button class="plain" onClick={show}>Show it on the timeline</button>}
				{hasRange && <button class="plain" onClick={() => app.set({ brush: { from: d.from_ns!, to: d.to_ns! }, tab: 'flame' })}>Flame graph of it</button>}
			</div>
		</article>
	);
}

function Diagnoses({ app, summary, isBusy }: { app: App; summary: Summary | null; isBusy: boolean }) {
	const all = summary?.diagnosis ?? [];
	if (all.length) return <div class="columns" data-testid="diagnoses">{all.map((d) => <DiagnosisCard app={app} d={d} />)}</div>;
	if (isBusy && !summary) return <div class="card quiet">Looking for what costs time…</div>;
	return summary ? <div class="card calm" data-testid="diagnoses">No rule found anything to accuse. The flame graph and the timeline show where the time went.</div> : null;
}

function Functions({ app, functions }: { app: App; functions: CpuFunction[] }) {
	const most = Math.max(1, ...functions.map((f) => f.self_ns));
	return (
		<Table label="functions" rows={functions} sort="self" limit={8} onRow={(f) => { app.set({ tab: 'flame' }); void app.find(f.function); }} columns={[
			{ title: 'function', key: 'name', isText: true, value: (f) => f.function, show: (f) => <span class="path" title={f.module ?? ''}>{f.function}<small>{f.module?.split('/').pop()}</small></span> },
			{ title: 'own time', key: 'self', value: (f) => f.self_ns, show: (f) => duration(f.self_ns), bar: (f) => f.self_ns / most },
			{ title: 'of CPU', key: 'share', value: (f) => f.self, show: (f) => percent(f.self) },
			{ title: 'with callees', key: 'total', value: (f) => f.total_ns, show: (f) => duration(f.total_ns) },
		]} />
	);
}

const WORDS: Record<string, string> = { cpu_ns: 'self CPU time', sampled_ns: 'sampled', unsampled_ns: 'not sampled' };
function probeFact([key, value]: [string, unknown]): string {
	if (typeof value === 'number' && key.endsWith('_ns')) return `${WORDS[key] ?? key.replace(/_ns$/, '').replace(/_/g, ' ')} ${duration(value)}`;
	if (value === true) return key.replace(/_/g, ' ');
	if (key === 'reason' || key === 'hint') return String(value);
	return `${key.replace(/_/g, ' ')} ${typeof value === 'number' ? count(value) : String(value)}`;
}

function Probes({ run }: { run: RunInfo }) {
	const probes = run.run.probes ?? [];
	if (!probes.length) return null;
	return (
		<details class="card"><summary><b>Probes</b> <span class="quiet">{probes.map((p) => `${p.name} ${p.state}`).join(' · ')}</span></summary><ul class="plain-list">
			{probes.map((p) => <li><b>{p.name}</b> <span class={p.state === 'ran' ? 'good' : 'warn'}>{p.state}</span> <span class="quiet">
				{Object.entries(p).filter(([k, v]) => k !== 'name' && k !== 'state' && v !== 0 && v !== null && v !== false).map(probeFact).join(' · ')}</span></li>)}
		</ul></details>
	);
}

export function Overview({ app }: { app: App }) {
	const s = useApp(app), run = s.run;
	const whole = { from: 0, to: app.duration + 1 };
	const stats = useAnswer(() => app.source.stats(whole, null, 100), [run?.generation], (e) => app.fail(e)).value;
	const io = useAnswer(() => app.source.io(whole), [run?.generation], (e) => app.fail(e)).value;
	const { value: summary, isBusy } = useAnswer<Summary | null>(() => app.source.summary(), [run?.generation], () => {});
	const network = useAnswer(() => app.source.network(whole), [run?.generation], () => {}).value;
	const loops = useLoops(app);
	if (!run) return null;
	const loop = loops?.find((l) => l.iterations.length > 1);
	const moved = io?.calls.reduce((sum, c) => sum + c.bytes, 0) ?? 0, ioTime = io?.calls.reduce((sum, c) => sum + c.total_ns, 0) ?? 0;
	const threads = s.tracks?.processes.reduce((n, p) => n + (p.process === undefined ? 0 : p.threads.filter((t) => t.tid !== undefined).length), 0) ?? 0;
	const events = ['io', 'span', 'step', 'mark', 'counter', 'sample', 'sched'].reduce((n, t) => n + (run.tables[t] ?? 0), 0);
	const end = ending(run), spans = stats?.rows.filter((r) => (r.name_id & 3) === 0) ?? [], calls = stats?.rows.filter((r) => (r.name_id & 3) === 1) ?? [];
	const states = statesOf(summary), functions = summary?.cpu?.by_function ?? [];
	return (
		<div class="page overview">
			<div class="card hero">
				<code title={run.run.cwd}>{command(run)}</code>
				<p class="quiet">{[run.run.host?.name, run.run.host?.kernel && `Linux ${run.run.host.kernel}`, run.run.host?.cpus && `${run.run.host.cpus} CPUs`, run.run.host?.memory_bytes && bytes(run.run.host.memory_bytes),
					run.run.clock?.start_real_ns && new Date(run.run.clock.start_real_ns / 1e6).toLocaleString()].filter(Boolean).join(' · ')}</p>
				<div class="facts">
					<Fact label="wall time" value={duration(app.duration)} />
					{summary?.cpu && <Fact label="CPU time" value={duration(summary.cpu.cpu_ns)} note={`${percent(summary.cpu.cpu_ns / app.duration)} of wall`} />}
					<Fact label="ended" value={end.value} tone={end.tone} />
					<Fact label="processes" value={s.tracks ? count(s.tracks.processes.filter((p) => p.process !== undefined).length) : '…'} note={s.tracks ? `${count(threads)} thread${threads === 1 ? '' : 's'} seen` : ''} />
					<Fact label="events" value={count(events)} />
					<Fact label="bytes moved" value={io ? bytes(moved) : '…'} note={io ? `${count(io.file_count)} files` : ''} />
					<Fact label="time in calls" value={io ? duration(ioTime) : '…'} note={io ? `${percent(ioTime / app.duration)} of wall, all threads` : ''} />
					{loop && <Fact label={loop.found ? 'iterations found' : `${loop.name} iterations`} value={count(loop.found?.count ?? loop.iterations.length)} note={`median ${duration(loop.median)}`} />}
				</div>
				{states && <StateBar states={states} />}
			</div>
			{!!run.loss.length && <div class="card warning"><h2>What is missing</h2><ul class="plain-list">{run.loss.map((l) => <li>{l}.</li>)}</ul></div>}
			<Diagnoses app={app} summary={summary} isBusy={isBusy} />
			{loop && <div class="card"><h2>{loop.found ? `Iterations ${loop.found.source}` : `Iterations of ${loop.name}`}{loop.found && <span class="quiet">thread {loop.found.tid}</span>}<button class="plain" onClick={() => app.set({ tab: 'steps' })}>more</button></h2><LoopChart app={app} loop={loop} height={190} /></div>}
			<div class="columns">
				{!!functions.length && <div class="card"><h2>On the CPU<button class="plain" onClick={() => app.set({ tab: 'flame' })}>flame graph</button></h2><Functions app={app} functions={functions} /></div>}
				{!!spans.length && <div class="card"><h2>Spans<button class="plain" onClick={() => app.set({ tab: 'flame' })}>flame graph</button></h2><NameTable app={app} rows={spans.slice(0, 8)} scopeNs={app.duration} isShort /></div>}
				{!!calls.length && <div class="card"><h2>Calls<button class="plain" onClick={() => app.set({ tab: 'io' })}>more</button></h2><NameTable app={app} rows={calls.slice(0, 8)} scopeNs={app.duration} isShort /></div>}
				{!!io?.files.length && <div class="card"><h2>Files<button class="plain" onClick={() => app.set({ tab: 'io' })}>all {count(io.file_count)}</button></h2>
					<Table label="files" rows={io.files.slice(0, 8)} sort="time" columns={ioColumns('file', io.files).slice(0, 4)} /></div>}
			</div>
			{!!network?.pairs.length && <Communication pairs={network.pairs} />}
			<Probes run={run} />
		</div>
	);
}
