// uPlot on the page: bars and lines that follow the theme.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { palette } from './color';
import { duration, short } from './format';
import { useSize } from './use';

export interface ChartProps {
	x: number[];
	durations: number[]; // ns
	values: Array<number | null> | null;
	isDark: boolean;
	xLabel: string;
	height: number;
	onPoint?: (index: number) => void;
}

export function StepChart(p: ChartProps) {
	const [ref, width] = useSize<HTMLDivElement>();
	const place = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (!width || !place.current) return;
		const colors = palette(p.isDark), axis = { stroke: colors.faint, grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.line, width: 1 }, font: '11px system-ui' };
		const series: uPlot.Series[] = [
			{ label: p.xLabel },
			{ label: 'duration', stroke: colors.accent, fill: colors.counterFill, width: 1.5, points: { size: 5, show: p.x.length < 200 },
				paths: uPlot.paths.stepped!({ align: 1 }), value: (_: uPlot, v: number | null) => v == null ? '–' : duration(v) },
		];
		const data: uPlot.AlignedData = [p.x, p.durations];
		if (p.values) {
			series.push({ label: 'value', scale: 'v', stroke: colors.mark, width: 1.5, points: { show: false }, value: (_: uPlot, v: number | null) => v == null ? '–' : short(v) });
			data.push(p.values);
		}
		const chart = new uPlot({
			width, height: p.height, series,
			scales: { x: { time: false }, y: { range: (_u: uPlot, _min: number, max: number) => [0, Math.max(1, max * 1.1)] } },
			axes: [{ ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6] }, { ...axis, size: 70, values: (_: uPlot, ticks: number[]) => ticks.map((t) => duration(t)) },
				...(p.values ? [{ ...axis, scale: 'v', side: 1 as const, grid: { show: false }, values: (_: uPlot, ticks: number[]) => ticks.map(short) }] : [])],
			cursor: { drag: { x: true, y: false } },
		}, data, place.current);
		const click = () => { const i = chart.cursor.idx; if (i != null && p.onPoint) p.onPoint(i); };
		chart.over.addEventListener('dblclick', click);
		return () => { chart.over.removeEventListener('dblclick', click); chart.destroy(); };
	}, [width, p.x, p.durations, p.values, p.isDark]);
	return <div ref={ref} class="chart"><div ref={place} /></div>;
}

/** Steps of an axis of bytes: 128 MiB, not 95.4. */
const BYTE_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

export interface TimeSeries { label: string; values: number[] }

/** Bytes over seconds; dragging chooses a stretch. */
export function TimeChart(p: { x: number[]; series: TimeSeries[]; isDark: boolean; height: number; show: (v: number) => string; onRange?: (from: number, to: number) => void }) {
	const [ref, width] = useSize<HTMLDivElement>();
	const place = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (!width || !place.current) return;
		const colors = palette(p.isDark), axis = { stroke: colors.faint, grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.line, width: 1 }, font: '11px system-ui' };
		const chart = new uPlot({
			width, height: p.height,
			series: [{ label: 'time', value: (_: uPlot, v: number | null) => v == null ? '–' : `${v.toFixed(3)} s` },
				...p.series.map((s, i) => ({ label: s.label, stroke: colors.series[i % colors.series.length], width: 1.5, points: { show: false }, value: (_: uPlot, v: number | null) => v == null ? '–' : p.show(v) }))],
			scales: { x: { time: false }, y: { range: (_u: uPlot, _min: number, max: number) => [0, Math.max(1, max * 1.1)] } },
			axes: [{ ...axis, values: (_: uPlot, ticks: number[]) => ticks.map((t) => `${+t.toFixed(6)} s`) }, { ...axis, size: 84, incrs: BYTE_STEPS, values: (_: uPlot, ticks: number[]) => ticks.map(p.show) }],
			cursor: { drag: { x: true, y: false, setScale: false } },
			hooks: { setSelect: [(u) => { if (u.select.width > 3) p.onRange?.(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')); }] },
		}, [p.x, ...p.series.map((s) => s.values)], place.current);
		return () => chart.destroy();
	}, [width, p.x, p.series, p.isDark]);
	return <div ref={ref} class="chart"><div ref={place} /></div>;
}
