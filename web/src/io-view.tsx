// I/O and network: over time, by file, by call, by socket; of the brushed stretch or the whole run.
import { useMemo } from 'preact/hooks';
import type { CounterPoint, IoRow, Lane, Summary } from './api';
import { TimeChart, type TimeSeries } from './chart';
import { bytes, count, duration } from './format';
import { Communication } from './matrix';
import { rates, readingsOf, valueAt } from './plots';
import { ScopeNote } from './scope';
import type { App } from './state';
import { Table, type Column } from './table';
import { useAnswer, useApp } from './use';

const COLUMNS = 400; // of a plot

export function ioColumns(title: string, rows: IoRow[]): Column<IoRow>[] {
	const longest = Math.max(1, ...rows.map((r) => r.total_ns)), most = Math.max(1, ...rows.map((r) => r.bytes));
	return [
		{ title, key: 'name', isText: true, value: (r) => r.name ?? '', show: (r) => <span class="path" title={r.name ?? ''}>{r.name ?? '(unknown)'}{r.category && <small> {r.category}</small>}</span> },
		{ title: 'time', key: 'time', value: (r) => r.total_ns, show: (r) => duration(r.total_ns), bar: (r) => r.total_ns / longest },
		{ title: 'bytes', key: 'bytes', value: (r) => r.bytes, show: (r) => r.bytes ? bytes(r.bytes) : '–', bar: (r) => r.bytes / most },
		{ title: 'calls', key: 'count', value: (r) => r.count, show: (r) => count(r.count) },
		{ title: 'mean', key: 'mean', value: (r) => r.total_ns / r.count, show: (r) => duration(r.total_ns / r.count) },
		{ title: 'errors', key: 'errors', value: (r) => r.errors, show: (r) => r.errors ? <b class="warn">{count(r.errors)}</b> : '–' },
	];
}

/** Counters of the machine by device: disk.vda.read_bytes is `read` of vda. */
const DEVICES: Array<[title: string, name: RegExp, labels: Record<string, string>]> = [
	['Disks', /^disk\.(.+)\.(read_bytes|write_bytes)$/, { read_bytes: 'read', write_bytes: 'written' }],
	['Network', /^net\.(.+)\.(rx_bytes|tx_bytes)$/, { rx_bytes: 'received', tx_bytes: 'sent' }],
];

interface DevicePlot { title: string; series: Array<{ label: string; lane: Lane }> }

export function devicePlots(app: App): DevicePlot[] {
	const lanes = app.state.tracks?.processes.flatMap((p) => p.threads.flatMap((t) => t.lanes.filter((l) => l.kind === 'counter' && l.is_total && l.min !== l.max))) ?? [];
	return DEVICES.flatMap(([title, name, labels]) => {
		const series = lanes.flatMap((lane) => {
			const m = name.exec(lane.name ?? '');
			return m ? [{ label: `${m[1]} ${labels[m[2]]}`, lane }] : [];
		});
		return series.length ? [{ title, series: series.slice(0, 8) }] : [];
	});
}

function Plots({ app }: { app: App }) {
	const s = app.state, scope = app.scope, plots = useMemo(() => devicePlots(app), [s.tracks]);
	const lanes = plots.flatMap((p) => p.series.map((one) => one.lane.lane));
	const bin = Math.max(8, Math.ceil((scope.to - scope.from) / COLUMNS / 8) * 8);
	const { value } = useAnswer(async () => new Map((await app.source.counters(scope, bin, lanes)).map((c) => [c.lane, c.points] as [number, CounterPoint[]])),
		[scope.from, scope.to, s.tracks], (e) => app.fail(e));
	const charts = useMemo(() => value && plots.map((p) => {
		const readings = readingsOf([...value.values()]);
		const step = (scope.to - scope.from) / COLUMNS, x = Array.from({ length: COLUMNS }, (_, i) => (scope.from + i * step) / 1e9);
		const series: TimeSeries[] = p.series.map((one) => {
			const r = rates(value.get(one.lane.lane) ?? [], bin, readings);
			return { label: one.label, values: x.map((t) => valueAt(r, t * 1e9 + step / 2)) };
		});
		return { title: p.title, x, series: series.filter((one) => one.values.some((v) => v > 0)) };
	}), [value, plots]);
	if (!charts?.some((c) => c.series.length)) return null;
	return <div class="plots" data-testid="device-plots">{charts.filter((c) => c.series.length).map((c) => (
		<div class="card"><h2>{c.title}<span class="quiet">a second, the whole machine</span></h2>
			<TimeChart x={c.x} series={c.series} isDark={s.isDark} height={150} show={(v) => `${bytes(Math.round(v))}/s`} onRange={(from, to) => app.set({ brush: { from: from * 1e9, to: to * 1e9 } })} /></div>
	))}</div>;
}

interface Socket { socket: string; count: number; total_ns: number; bytes: number }

function Sockets({ summary }: { summary: Summary | null }) {
	const sockets = (summary?.network as { by_socket?: Socket[] } | null)?.by_socket ?? [];
	if (!sockets.length) return null;
	return <div class="card"><h2>Sockets</h2><Table label="sockets" rows={sockets.map((x) => ({ name: x.socket, count: x.count, errors: 0, bytes: x.bytes, total_ns: x.total_ns }))} sort="bytes" columns={ioColumns('socket', []).slice(0, 5)} /></div>;
}

export function IoView({ app }: { app: App }) {
	const s = useApp(app), scope = app.scope;
	const { value, isBusy } = useAnswer(() => app.source.io(scope), [scope.from, scope.to, s.run?.generation], (e) => app.fail(e));
	const summary = useAnswer<Summary | null>(() => app.source.summary(), [s.run?.generation], () => {}).value;
	const network = useAnswer(() => app.source.network(scope), [scope.from, scope.to, s.run?.generation], (e) => app.fail(e)).value;
	if (!value) return <div class="page"><p class="quiet">{isBusy ? 'Adding up…' : ''}</p></div>;
	return (
		<div class={`page ${isBusy ? 'busy' : ''}`}>
			<div class="toolbar"><span class="quiet"><ScopeNote app={app} /> · {count(value.file_count)} files</span></div>
			<Plots app={app} />
			<div class="card"><h2>Files</h2><Table label="files" rows={value.files} sort="time" limit={15} columns={ioColumns('file', value.files)} empty="No call touched a file." /></div>
			<div class="card"><h2>Calls</h2><Table label="calls" rows={value.calls} sort="time" limit={15} onRow={(r) => { app.set({ tab: 'timeline' }); void app.find(r.name ?? ''); }} columns={ioColumns('call', value.calls)} empty="No calls were recorded." /></div>
			<Sockets summary={summary} />
			{network?.pairs.length ? <Communication pairs={network.pairs} />
				: <p class="quiet">{s.run?.tables.flow ? 'No packets in this stretch.' : 'Packets were not recorded: sonde record --net counts what connections carry.'}</p>}
		</div>
	);
}
