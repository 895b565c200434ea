// The live page: applications, their metrics, the rules with their states and why, the journal.
import { useEffect, useReducer, useState } from 'preact/hooks';
import { bytes, count, duration, percent, short } from './format';
import { ask, latest, type Labels, Live, type Series } from './live';
import { AppDetails, cpuOf, memoryOf, stepsOf } from './live-app';
import { Journal, Rules } from './live-rules';
import { Spark } from './spark';
import { Table } from './table';

const EVERY_MS = 1000;

function useLive(): Live {
	const [live] = useState(() => new Live());
	const [, again] = useReducer((n: number) => n + 1, 0);
	useEffect(() => {
		let timer = 0, isOver = false;
		const look = async () => {
			try {
				live.take(await ask(live.look ? '/api/live' : '/api/live?history=1'));
				live.error = null;
			} catch (error) {
				live.error = String((error as Error)?.message ?? error);
			}
			again(0);
			if (!isOver) timer = window.setTimeout(look, document.hidden ? 5 * EVERY_MS : EVERY_MS);
		};
		void look();
		(window as any).sondeLive = live;
		return () => { isOver = true; clearTimeout(timer); };
	}, [live]);
	return live;
}

function Fact({ label, value, note, series, show }: { label: string; value: string; note?: string; series?: Series; show?: (v: number) => string }) {
	return <div class="fact"><span>{label}</span><b>{value}</b>{note && <small>{note}</small>}{series && <Spark values={series.values} label={label} show={show} />}</div>;
}

const sum = (all: Series[]) => all.reduce((n, s) => n + (latest(s) ?? 0), 0);

/** The machine: processors, memory, pressure, and GPUs and energy where it has them. */
function Machine({ live }: { live: Live }) {
	const cpu = live.all((s) => s.name === 'sonde_node_cpu_seconds_total'), idle = cpu.filter((s) => /^(idle|iowait)$/.test(s.labels.mode));
	const size = live.find('sonde_node_memory_size_bytes')?.now, free = live.find('sonde_node_memory_available_bytes');
	const pressure = live.all((s) => s.name === 'sonde_node_pressure_seconds_total' && s.labels.kind === 'some');
	const own = live.find('process_cpu_seconds_total'), rss = live.find('process_resident_memory_bytes');
	const busy = sum(cpu) - sum(idle), hasCpu = cpu.some((s) => s.values.length);
	const gpus = live.all((s) => s.name === 'sonde_gpu_busy_ratio'), energy = live.all((s) => s.name === 'sonde_energy_joules_total');
	return (
		<div class="card hero" data-testid="machine">
			<div class="facts">
				<Fact label="applications" value={count(live.apps().length)} />
				<Fact label="processors busy" value={hasCpu ? busy.toFixed(2) : '…'} note={hasCpu ? `of ${Math.max(1, Math.round(sum(cpu)))}` : ''} />
				{size !== undefined && free && <Fact label="memory available" value={bytes(free.now)} note={`of ${bytes(size)}`} series={free} show={bytes} />}
				{pressure.map((s) => <Fact label={`waiting for ${s.labels.resource}`} value={latest(s) === null ? '…' : percent(latest(s)!)} series={s} show={percent} />)}
				{gpus.map((s) => <Fact label={`GPU ${s.labels.gpu} busy`} value={percent(s.now)} series={s} show={percent} />)}
				{energy.map((s) => <Fact label={s.labels.zone} value={latest(s) === null ? '…' : `${latest(s)!.toFixed(1)} W`} series={s} show={(v) => `${v.toFixed(1)} W`} />)}
				{own && <Fact label="cost of watching" value={latest(own) === null ? '…' : percent(latest(own)!)} note={rss ? `of a processor, ${bytes(rss.now)}` : 'of a processor'} />}
			</div>
		</div>
	);
}

interface AppRow { name: string; container: string; processes: number | null; cpu?: Series; memory?: Series; steps?: Series; interval: number | null; rejected: number }

function rowOf(live: Live, app: string): AppRow {
	const of = (name: string, labels: Labels = {}) => live.find(name, { app, ...labels });
	const steps = stepsOf(live, app)[0];
	const box = live.all((s) => s.name === 'sonde_container_info' && s.labels.app === app)[0]?.labels;
	return {
		name: app, container: box?.container ?? box?.container_id?.slice(0, 12) ?? '', processes: of('sonde_processes')?.now ?? null,
		cpu: cpuOf(live, app), memory: memoryOf(live, app), steps, rejected: of('sonde_rejected_updates_total')?.now ?? 0,
		interval: steps ? live.ratio(of('sonde_step_interval_seconds_sum', { step: steps.labels.step }), of('sonde_step_interval_seconds_count', { step: steps.labels.step })) : null,
	};
}

function Cell({ series, show, label }: { series?: Series; show: (v: number) => string; label: string }) {
	const now = latest(series ?? undefined);
	return <span class="cell"><Spark values={series?.values ?? []} label={label} show={show} /><span>{now === null ? '–' : show(now)}</span></span>;
}

function Applications({ live, chosen, choose }: { live: Live; chosen: string | null; choose: (app: string) => void }) {
	const rows = live.apps().map((app) => rowOf(live, app)), hasBoxes = rows.some((r) => r.container);
	const perSecond = (v: number) => `${short(Number(v.toPrecision(3)))}/s`;
	return (
		<div class="card" data-testid="apps">
			<h2>Applications</h2>
			<Table label="applications" rows={rows} sort="" limit={25} onRow={(r) => choose(r.name)} empty="No application with metrics is running. Start one with: sonde live run -- PROGRAM" columns={[
				{ title: 'application', key: 'name', isText: true, value: (r) => r.name, show: (r) => <span class={r.name === chosen ? 'chosen' : ''} data-app={r.name}>{r.name}{r.rejected ? <small class="warn">{count(r.rejected)} updates rejected</small> : null}</span> },
				...(hasBoxes ? [{ title: 'container', key: 'container', isText: true, value: (r: AppRow) => r.container }] : []),
				{ title: 'processes', key: 'processes', value: (r) => r.processes ?? -1, show: (r) => r.processes === null ? '–' : count(r.processes) },
				{ title: 'processors', key: 'cpu', value: (r) => latest(r.cpu) ?? -1, show: (r) => <Cell series={r.cpu} show={(v) => v.toFixed(2)} label={`processors of ${r.name}`} /> },
				{ title: 'memory', key: 'memory', value: (r) => r.memory?.now ?? -1, show: (r) => <Cell series={r.memory} show={bytes} label={`memory of ${r.name}`} /> },
				{ title: 'steps', key: 'steps', value: (r) => latest(r.steps) ?? -1, show: (r) => <Cell series={r.steps} show={perSecond} label={`steps of ${r.name}`} /> },
				{ title: 'a step takes', key: 'interval', value: (r) => r.interval ?? -1, show: (r) => r.interval === null ? '–' : duration(r.interval * 1e9) },
			]} />
		</div>
	);
}

export function LivePage({ isDark, setDark }: { isDark: boolean; setDark: (isDark: boolean) => void }) {
	const live = useLive(), [chosen, setChosen] = useState<string | null>(null), [theme, setTheme] = useState(isDark);
	const apps = live.apps(), app = chosen !== null && apps.includes(chosen) ? chosen : apps[0] ?? null, a = live.answer;
	return (
		<>
			<header>
				<b class="logo">sonde</b>
				<span class="run-name">{a?.host}</span>
				<span class={live.error ? 'quiet' : 'live'} data-testid="live-state">{live.error ? 'no answer' : 'live'}</span>
				<span class="search" />
				<button class="theme" aria-label={theme ? 'Light theme' : 'Dark theme'} onClick={() => { setDark(!theme); setTheme(!theme); }}>{theme ? '☀' : '☾'}</button>
			</header>
			{live.error && <div class="error" role="alert"><span>{live.error}; what is shown is old.</span></div>}
			<main>
				{!a && !live.error && <p class="quiet centre">Looking…</p>}
				{a && <div class="page live-page">
					<Machine live={live} />
					<Applications live={live} chosen={app} choose={setChosen} />
					{app !== null && <AppDetails live={live} app={app} />}
					<Rules controller={a.controller} onSwitch={(isOn) => { ask(isOn ? '/on' : '/off', 'POST').catch((e) => { live.error = String(e.message); }); }} />
					<Journal lines={a.journal} hasController={!!a.controller} />
				</div>}
			</main>
		</>
	);
}
