// One application's metrics, each with its newest values drawn.
import { bytes, duration, percent, short } from './format';
import { latest, Live, type Series } from './live';
import { Spark } from './spark';
import { Table } from './table';

export const cpuOf = (live: Live, app: string) => live.find('sonde_cpu_seconds_total', { app });
export const memoryOf = (live: Live, app: string) => live.find('sonde_resident_memory_bytes', { app }) ?? live.find('sonde_group_memory_bytes', { app });
export const stepsOf = (live: Live, app: string) => live.all((s) => s.name === 'sonde_steps_total' && s.labels.app === app)
	.sort((a, b) => b.now - a.now);

/** A value in the unit that its name tells. */
function shown(s: Series, v: number): string {
	const base = s.name.replace(/_(total|sum|count)$/, '');
	if (/_count$/.test(s.name)) return `${short(v)}/s`;
	if (/_seconds$/.test(base)) return s.isTotal ? percent(v) : duration(v * 1e9);
	if (/_bytes$/.test(base)) return bytes(Math.round(v)) + (s.isTotal ? '/s' : '');
	if (/_ratio$/.test(base)) return percent(v);
	if (/_joules$/.test(base) && s.isTotal) return `${short(Number(v.toPrecision(3)))} W`;
	return short(Number(v.toPrecision(4))) + (s.isTotal ? '/s' : '');
}

function nameOf(s: Series): string {
	const more = Object.entries(s.labels).filter(([k]) => k !== 'app').map(([k, v]) => `${k} ${v}`).join(', ');
	return s.name.replace(/^sonde_(app_)?/, '') + (more ? ` (${more})` : '');
}

interface Row { key: string; name: string; title: string; value: string; total: string; series: Series; mean?: string }

/** A histogram or a summary is one row: its mean now, from the growth of its sum and its count. */
function rowsOf(live: Live, app: string): Row[] {
	const own = live.all((s) => s.labels.app === app && s.name !== 'sonde_container_info');
	return own.filter((s) => !/_sum$/.test(s.name)).map((s) => {
		const now = latest(s), base = s.name.replace(/_count$/, '');
		const above = base !== s.name ? live.find(`${base}_sum`, s.labels) : undefined, mean = live.ratio(above, s);
		const unit: Series = { ...s, name: base, isTotal: false };
		return { key: s.name + JSON.stringify(s.labels), name: nameOf(unit), title: s.name, series: s,
			value: base !== s.name && mean !== null ? `mean ${shown(unit, mean)}` : now === null ? '–' : shown(s, now), total: s.isTotal ? short(s.now) : '' };
	}).sort((a, b) => a.name < b.name ? -1 : 1);
}

export function AppDetails({ live, app }: { live: Live; app: string }) {
	return (
		<div class="card" data-testid="metrics" data-of={app}>
			<h2>Metrics of {app}</h2>
			<Table label={`metrics of ${app}`} rows={rowsOf(live, app)} sort="" limit={40} columns={[
				{ title: 'metric', key: 'name', isText: true, value: (r) => r.name, show: (r) => <span title={r.title} data-metric={r.title}>{r.name}</span> },
				{ title: 'last two minutes', key: 'spark', value: (r) => r.name, show: (r) => <Spark values={r.series.values} label={r.name} show={(v) => shown(r.series, v)} floor={null} /> },
				{ title: 'now', key: 'now', value: (r) => latest(r.series) ?? -1, show: (r) => r.value },
				{ title: 'in all', key: 'total', value: (r) => r.series.now, show: (r) => r.total },
			]} />
		</div>
	);
}
