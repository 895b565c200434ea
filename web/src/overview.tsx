// The first look: what ran, how it ended, where the time went, what is missing.
import type { Diagnosis, RunInfo, Summary } from './api';
import { bytes, count, duration, percent } from './format';
import { Matrix, matrixOf } from './matrix';
import { NameTable } from './panel';
import type { App } from './state';
import { LoopChart, useLoops } from './steps-view';
import { useAnswer, useApp } from './use';

function Fact(p: { label: string; value: string; note?: string; tone?: 'bad' | 'good' }) {
	return <div class={`fact ${p.tone ?? ''}`}><span>{p.label}</span><b>{p.value}</b>{p.note && <small>{p.note}</small>}</div>;
}

function ending(run: RunInfo): { value: string; tone?: 'bad' | 'good' } {
	const exit = run.run.exit;
	if (run.is_growing) return { value: 'running' };
	if (!exit) return { value: 'unknown' };
	if (exit.signal) return { value: `signal ${exit.signal}`, tone: 'bad' };
	if (exit.code === null) return { value: 'unknown' };
	return { value: `exit ${exit.code}`, tone: exit.code ? 'bad' : 'good' };
}

function command(run: RunInfo): string {
	return run.run.argv?.map((a) => /^[\w@%+=:,./-]+$/.test(a) ? a : `'${a.replace(/'/g, `'\\''`)}'`).join(' ') ?? run.run.name ?? run.path;
}

function DiagnosisCard({ app, d }: { app: App; d: Diagnosis }) {
	return (
		<div class="card diagnosis">
			<h3>{d.title ?? d.name}{d.recoverable_ns ? <small>about {duration(d.recoverable_ns)} to win</small> : null}</h3>
			<p>{d.text ?? d.evidence}</p>
			{d.next && <pre>{d.next}</pre>}
			{d.from_ns !== undefined && d.to_ns !== undefined && <button onClick={() => { app.set({ brush: { from: d.from_ns!, to: d.to_ns! } }); app.show(d.from_ns!, d.to_ns!); }}>Show the evidence</button>}
		</div>
	);
}

function Probes({ run }: { run: RunInfo }) {
	const probes = run.run.probes ?? [];
	if (!probes.length) return null;
	return (
		<div class="card"><h2>Probes</h2><ul class="plain-list">
			{probes.map((p) => <li><b>{p.name}</b> <span class={p.state === 'ran' ? 'good' : 'warn'}>{p.state}</span> <span class="quiet">
				{Object.entries(p).filter(([k, v]) => k !== 'name' && k !== 'state' && v !== 0 && v !== null).map(([k, v]) => `${k.replace(/_/g, ' ')} ${typeof v === 'number' ? count(v) : String(v)}`).join(' · ')}</span></li>)}
		</ul></div>
	);
}

export function Overview({ app }: { app: App }) {
	const s = useApp(app), run = s.run;
	const whole = { from: 0, to: app.duration + 1 };
	const stats = useAnswer(() => app.source.stats(whole, null, 100), [run?.generation], (e) => app.fail(e)).value;
	const io = useAnswer(() => app.source.io(whole), [run?.generation], (e) => app.fail(e)).value;
	const summary = useAnswer<Summary | null>(() => app.source.summary(), [run?.generation], () => {}).value;
	const loops = useLoops(app);
	if (!run) return null;
	const loop = loops?.find((l) => l.iterations.length > 1);
	const moved = io?.calls.reduce((sum, c) => sum + c.bytes, 0) ?? 0, ioTime = io?.calls.reduce((sum, c) => sum + c.total_ns, 0) ?? 0;
	const threads = s.tracks?.processes.reduce((n, p) => n + p.threads.filter((t) => t.tid !== undefined).length, 0) ?? 0;
	const events = ['io', 'span', 'step', 'mark', 'counter', 'sample', 'sched'].reduce((n, t) => n + (run.tables[t] ?? 0), 0);
	const end = ending(run), spans = stats?.rows.filter((r) => (r.name_id & 3) === 0) ?? [], calls = stats?.rows.filter((r) => (r.name_id & 3) === 1) ?? [];
	const matrix = matrixOf(summary);
	return (
		<div class="page overview">
			<div class="card hero">
				<code title={run.run.cwd}>{command(run)}</code>
				<p class="quiet">{[run.run.host?.name, run.run.host?.kernel && `Linux ${run.run.host.kernel}`, run.run.host?.cpus && `${run.run.host.cpus} CPUs`, run.run.host?.memory_bytes && bytes(run.run.host.memory_bytes),
					run.run.clock?.start_real_ns && new Date(run.run.clock.start_real_ns / 1e6).toLocaleString()].filter(Boolean).join(' · ')}</p>
				<div class="facts">
					<Fact label="wall time" value={duration(app.duration)} />
					<Fact label="ended" value={end.value} tone={end.tone} />
					<Fact label="processes" value={count(s.tracks?.processes.filter((p) => p.process !== undefined).length ?? 0)} note={`${count(threads)} threads seen`} />
					<Fact label="events" value={count(events)} />
					<Fact label="bytes moved" value={bytes(moved)} note={io ? `${count(io.file_count)} files` : ''} />
					<Fact label="time in calls" value={duration(ioTime)} note={`${percent(ioTime / app.duration)} of wall, all threads`} />
					{loop && <Fact label={`${loop.name} iterations`} value={count(loop.iterations.length)} note={`median ${duration(loop.median)}`} />}
				</div>
			</div>
			{!!run.loss.length && <div class="card warning"><h2>What is missing</h2><ul class="plain-list">{run.loss.map((l) => <li>{l}.</li>)}</ul></div>}
			{summary?.diagnosis?.length ? <div class="columns">{summary.diagnosis.map((d) => <DiagnosisCard app={app} d={d} />)}</div> : null}
			{loop && <div class="card"><h2>Iterations of {loop.name}<button class="plain" onClick={() => app.set({ tab: 'steps' })}>more</button></h2><LoopChart app={app} loop={loop} height={190} /></div>}
			<div class="columns">
				{!!spans.length && <div class="card"><h2>Spans<button class="plain" onClick={() => app.set({ tab: 'flame' })}>flame graph</button></h2><NameTable app={app} rows={spans.slice(0, 8)} scopeNs={app.duration} /></div>}
				{!!calls.length && <div class="card"><h2>Calls<button class="plain" onClick={() => app.set({ tab: 'io' })}>files</button></h2><NameTable app={app} rows={calls.slice(0, 8)} scopeNs={app.duration} /></div>}
			</div>
			{matrix && <div class="card"><h2>Communication</h2><Matrix matrix={matrix} /></div>}
			<Probes run={run} />
		</div>
	);
}
