// I/O by file and by call, of the brushed stretch or the whole run.
import type { IoRow } from './api';
import { bytes, count, duration, tick } from './format';
import type { App } from './state';
import { Table, type Column } from './table';
import { useAnswer, useApp } from './use';

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

export function IoView({ app }: { app: App }) {
	const s = useApp(app), scope = app.scope;
	const { value, isBusy } = useAnswer(() => app.source.io(scope), [scope.from, scope.to, s.run?.generation], (e) => app.fail(e));
	if (!value) return <div class="page"><p class="quiet">{isBusy ? 'Adding up…' : ''}</p></div>;
	return (
		<div class={`page ${isBusy ? 'busy' : ''}`}>
			<div class="toolbar"><span class="quiet">{s.brush ? <>{duration(scope.to - scope.from)} from {tick(scope.from, 1e3)} · <button class="plain" onClick={() => app.set({ brush: null })}>whole run</button></> : 'whole run'} · {count(value.file_count)} files</span></div>
			<div class="card"><h2>Files</h2><Table label="files" rows={value.files} sort="time" columns={ioColumns('file', value.files)} empty="No call touched a file." /></div>
			<div class="card"><h2>Calls</h2><Table label="calls" rows={value.calls} sort="time" onRow={(r) => { app.set({ tab: 'timeline' }); void app.find(r.name ?? ''); }} columns={ioColumns('call', value.calls)} empty="No calls were recorded." /></div>
		</div>
	);
}
