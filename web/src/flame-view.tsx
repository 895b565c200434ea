// The flame graph: whole run or brushed stretch, all threads or one, top-down or bottom-up.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FlameSource } from './api';
import { palette } from './color';
import { bottomUp, depthOf, matched, topDown, type Node } from './flame';
import { count, duration, percent, tick } from './format';
import { processLabel, threadLabel } from './layout';
import type { App } from './state';
import { fit } from './timeline';
import { useAnswer, useApp, useSize } from './use';

const ROW = 20;

interface Box { node: Node; x: number; y: number; width: number }

export function FlameView({ app }: { app: App }) {
	const s = useApp(app), scope = app.scope;
	const [isTurned, setTurned] = useState(false);
	const [hasCalls, setCalls] = useState(true);
	const hasSamples = !!s.run?.tables.sample, hasWaits = !!s.run?.tables.sched;
	const [chosen, choose] = useState<FlameSource | null>(null);
	const source: FlameSource = chosen ?? (hasSamples && (location.pathname === '/cpu-report.html' || !(s.run?.tables.span || s.run?.tables.io)) ? 'cpu' : 'spans');
	const [thread, setThread] = useState('');
	const [focus, setFocus] = useState<Node | null>(null);
	const [hover, setHover] = useState<{ x: number; y: number; node: Node } | null>(null);
	const [area, width] = useSize<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const boxes = useRef<Box[]>([]);
	const [process, tid] = thread.split(':');
	const { value, isBusy } = useAnswer(async () => {
		const flame = await app.source.flame(scope, { source, calls: hasCalls, process: process ? Number(process) : undefined, tid: tid ? Number(tid) : undefined });
		if (flame.names) app.names.add(flame.names);
		await app.names.load(flame.nodes.map((n) => n[1]).filter((n) => n));
		return flame;
	}, [scope.from, scope.to, source, hasCalls, thread, s.run?.generation], (e) => app.fail(e));
	const root = useMemo(() => {
		if (!value) return null;
		const top = topDown(value);
		return isTurned ? bottomUp(top) : top;
	}, [value, isTurned]);
	useEffect(() => setFocus(null), [root]);
	const wanted = s.search ? app.names.matching(s.search) : null;
	const at = focus ?? root;
	const height = root ? (depthOf(root) + 1) * ROW + 4 : 0;

	useEffect(() => {
		const c = canvas.current?.getContext('2d');
		if (!c || !at || !root || !width) return;
		const ratio = devicePixelRatio || 1, colors = palette(s.isDark);
		c.canvas.width = width * ratio;
		c.canvas.height = height * ratio;
		c.scale(ratio, ratio);
		c.clearRect(0, 0, width, height);
		c.font = '11.5px system-ui, sans-serif';
		c.textBaseline = 'middle';
		boxes.current = [];
		const scale = at.total > 0 ? width / at.total : 0;
		const draw = (node: Node) => {
			const isAbove = node !== at && node.depth < at.depth + (at === node ? 1 : 0) && isAncestor(node, at);
			const x = isAbove ? 0 : (node.x - at.x) * scale, w = isAbove ? width : node.total * scale;
			if (w < 0.4 || x > width || x + w < 0) return;
			const y = node.depth * ROW, name = app.names.get(node.name);
			const isFaded = isAbove || (wanted && !wanted.has(node.name) && node.name !== 0);
			c.globalAlpha = isFaded ? 0.35 : 1;
			c.fillStyle = node.name ? name?.css ?? colors.faint : colors.line;
			c.fillRect(x, y, Math.max(0.6, w - (w > 3 ? 1 : 0)), ROW - 1);
			c.globalAlpha = 1;
			boxes.current.push({ node, x, y, width: w });
			if (w > 30) {
				c.fillStyle = isFaded ? colors.faint : s.isDark ? '#eef2f8' : '#182230';
				const text = node.name ? name?.text ?? '' : `all · ${duration(node.total)}`;
				c.fillText(fit(c, text, w - 10), Math.max(0, x) + 5, y + ROW / 2);
			}
			if (isAbove) node.children.filter((n) => n === at || isAncestor(n, at)).forEach(draw);
			else node.children.forEach(draw);
		};
		draw(root);
	});
	const find = (e: MouseEvent): Box | undefined => {
		const box = canvas.current!.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
		return boxes.current.find((b) => y >= b.y && y < b.y + ROW && x >= b.x && x < b.x + b.width);
	};
	const threads = s.tracks?.processes.flatMap((p) => p.threads.filter((t) => t.tid !== undefined && t.lanes.some((l) => l.kind === 'slices'))
		.map((t) => ({ key: `${p.process}:${t.tid}`, label: `${processLabel(p)} · ${threadLabel(p, t)} (${t.tid})` }))) ?? [];
	const hit = wanted && root ? matched(root, wanted) : 0;
	return (
		<div class="page flame">
			<div class="toolbar">
				<div class="switch" role="group" aria-label="direction">
					<button aria-pressed={!isTurned} onClick={() => setTurned(false)}>Top-down</button>
					<button aria-pressed={isTurned} onClick={() => setTurned(true)}>Bottom-up</button>
				</div>
				{(hasSamples || hasWaits) && <div class="switch" role="group" aria-label="source">
					<button aria-pressed={source === 'spans'} onClick={() => choose('spans')}>Spans and calls</button>
					{hasSamples && <button aria-pressed={source === 'cpu'} data-testid="flame-cpu" onClick={() => choose('cpu')}>On CPU</button>}
					{hasWaits && <button aria-pressed={source === 'offcpu'} data-testid="flame-offcpu" onClick={() => choose('offcpu')}>Off CPU</button>}
				</div>}
				{source === 'spans' && <label><input type="checkbox" checked={hasCalls} onChange={(e) => setCalls(e.currentTarget.checked)} /> calls</label>}
				<select aria-label="thread" value={thread} onChange={(e) => setThread(e.currentTarget.value)}>
					<option value="">All threads</option>
					{threads.slice(0, 500).map((t) => <option value={t.key}>{t.label}</option>)}
				</select>
				<span class="quiet">{s.brush ? <>{duration(scope.to - scope.from)} from {tick(scope.from, 1e3)} · <button class="plain" onClick={() => app.set({ brush: null })}>whole run</button></> : 'whole run'}
					{root && <> · <b data-testid="flame-total">{duration(root.total)}</b> in all threads</>}
					{wanted && root && <> · “{s.search}” {percent(hit / root.total)}</>}</span>
				{focus && <button onClick={() => setFocus(null)}>Reset zoom</button>}
			</div>
			<div class={`flame-area ${isBusy ? 'busy' : ''}`} ref={area}>
				<canvas ref={canvas} data-testid="flame" style={{ height: `${height}px` }} role="img" aria-label="flame graph"
					onMouseMove={(e) => { const b = find(e), box = canvas.current!.getBoundingClientRect(); setHover(b ? { x: e.clientX - box.left, y: e.clientY - box.top, node: b.node } : null); }}
					onMouseLeave={() => setHover(null)} onClick={(e) => { const b = find(e); if (b) setFocus(b.node === focus ? null : b.node.parent ? b.node : null); }} />
				{hover && hover.node.name !== 0 && root && (
					<div class="tooltip" style={{ top: `${hover.y + 18}px`, left: `${Math.min(hover.x + 12, width - 230)}px` }}>
						<b>{app.names.get(hover.node.name)?.text}</b>
						<span>{duration(hover.node.total)} · {percent(hover.node.total / root.total)} of all</span>
						<span>own time {duration(hover.node.self)}</span><span>{count(hover.node.count)} times</span>
					</div>
				)}
				{root && !root.children.length && <p class="quiet centre">No spans or calls in this stretch.</p>}
			</div>
		</div>
	);
}

function isAncestor(a: Node, b: Node): boolean {
	for (let n = b.parent; n; n = n.parent) if (n === a) return true;
	return false;
}
