// The timeline on the page: minimap, ruler, labels of rows, the canvas, what hovers over it.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AXIS, drawAxis } from './axis';
import { palette } from './color';
import { count, quantity } from './format';
import type { Hover } from './hover';
import type { Row } from './layout';
import { Panel } from './panel';
import type { App } from './state';
import { Timeline } from './timeline';
import { useAnswer, useApp, useSize } from './use';

const MINIMAP = 34;
const BINS = 480;

/** How busy the whole run was, and the window in it. */
function Minimap({ app }: { app: App }) {
	const s = useApp(app);
	const [ref, width] = useSize<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const bin = Math.max(8, Math.ceil(app.duration / BINS / 8) * 8);
	const lanes = s.tracks?.processes.flatMap((p) => p.threads.flatMap((t) => t.lanes.filter((l) => l.kind === 'slices' && l.depth === 0).map((l) => l.lane))).slice(0, 256) ?? [];
	const { value } = useAnswer(async () => {
		const sums = new Float64Array(BINS + 1);
		for (const items of await app.source.slices({ from: 0, to: bin * BINS }, bin, lanes))
			for (let i = 0; i < items.count; i++) {
				const a = items.start[i] / bin, b = items.end[i] / bin;
				for (let k = Math.max(0, Math.floor(a)); k < Math.min(BINS, b); k++)
					sums[k] += (Math.min(k + 1, b) - Math.max(k, a)) * items.busy[i] / 255;
			}
		return sums;
	}, [s.tracks], (e) => app.fail(e));
	useEffect(() => {
		const c = canvas.current?.getContext('2d'), ratio = devicePixelRatio || 1, colors = palette(s.isDark);
		if (!c || !width) return;
		c.canvas.width = width * ratio;
		c.canvas.height = MINIMAP * ratio;
		c.scale(ratio, ratio);
		c.clearRect(0, 0, width, MINIMAP);
		const most = value ? Math.max(1e-9, ...value) : 1;
		c.fillStyle = colors.isDark ? '#3d4c63' : '#c4cfdf';
		for (let i = 0; value && i < BINS; i++) {
			const h = Math.sqrt(value[i] / most) * (MINIMAP - 6);
			c.fillRect(i * bin / app.duration * width, MINIMAP - h, bin / app.duration * width + 0.5, h);
		}
		const x = (t: number) => t / app.duration * width;
		if (s.brush) { c.fillStyle = colors.shade; c.fillRect(x(s.brush.from), 0, Math.max(1, x(s.brush.to) - x(s.brush.from)), MINIMAP); }
		const x0 = Math.max(0, x(s.window.from)), x1 = Math.min(width, x(s.window.to));
		c.fillStyle = colors.isDark ? 'rgba(10,13,18,.55)' : 'rgba(246,247,249,.75)';
		c.fillRect(0, 0, x0, MINIMAP);
		c.fillRect(x1, 0, width - x1, MINIMAP);
		c.strokeStyle = colors.accent;
		c.lineWidth = 1.5;
		c.strokeRect(x0 + 0.75, 0.75, Math.max(2, x1 - x0 - 1.5), MINIMAP - 1.5);
		for (const hit of s.hits ?? []) { c.fillStyle = colors.hit; c.fillRect(x(hit.start_ns), MINIMAP - 4, 1.5, 4); }
	});
	const drag = (e: PointerEvent) => {
		if (e.buttons !== 1) return;
		const box = canvas.current!.getBoundingClientRect(), t = (e.clientX - box.left) / box.width * app.duration;
		const span = s.window.to - s.window.from;
		if (e.type === 'pointerdown') canvas.current!.setPointerCapture(e.pointerId);
		app.setWindow(t - span / 2, t + span / 2);
	};
	return (
		<div class="minimap"><div class="gutter"><button class="plain" onClick={() => app.showAll()} title="Show the whole run (0)">Whole run</button></div>
			<div class="stretch" ref={ref}><canvas ref={canvas} style={{ height: `${MINIMAP}px` }} onPointerDown={drag} onPointerMove={drag} aria-hidden="true" /></div></div>
	);
}

function Label({ app, timeline, row, y }: { app: App; timeline: Timeline; row: Row; y: number }) {
	const isPinned = app.state.pins.has(row.key);
	const style = { top: `${y}px`, height: `${row.height}px`, paddingLeft: `calc(var(--indent) * ${row.indent} + ${row.kind === 'process' || row.isHead ? 8 : 24}px)` };
	const title = [row.process.argv?.join(' '), row.process.exit_code ? `exit ${row.process.exit_code}` : ''].filter(Boolean).join('\n');
	if (row.kind === 'process')
		return (
			<div class="row process" style={style}>
				<button class="fold" onClick={() => app.toggle('folded', row.key)} title={title} aria-expanded={!row.isFolded}>
					<i>{row.isFolded ? '▸' : '▾'}</i><b>{row.label}</b><small>{row.note}</small></button>
				{row.label === 'Machine' && <button class="plain idle" onClick={() => app.toggle('opened', 'counters')} title="Every counter that was read, each in a row of its own">{app.state.opened.has('counters') ? 'plots only' : 'all counters'}</button>}
			</div>
		);
	return (
		<div class={`row ${row.kind}${row.isHead ? ' head' : ''}`} style={style}>
			<span title={row.isHead ? title : row.label}>{row.label}</span><small>{row.note}</small>
			{row.kind === 'counter' && <small>{row.lanes[0].is_total ? 'per second' : `to ${quantity(row.lanes[0].max ?? 0, row.lanes[0].unit, false)}`}</small>}
			{row.kind === 'plot' && <small>{timeline.greatest.get(row.key) && `to ${timeline.greatest.get(row.key)}`}</small>}
			{row.series && <span class="keys">{row.series.map((one) => <em style={{ '--c': palette(app.state.isDark).series[one.color] }}>{one.label}</em>)}</span>}
			<button class={isPinned ? 'pin on' : 'pin'} onClick={() => app.toggle('pins', row.key)} aria-pressed={isPinned} title={isPinned ? 'Unpin' : 'Pin to the top'} aria-label={isPinned ? `Unpin ${row.label}` : `Pin ${row.label}`}>⚲</button>
			{(row.hidden > 0 || app.state.opened.has(row.key)) && row.lanes.length > 3 &&
				<button class="deep" onClick={() => app.toggle('opened', row.key)}>{row.hidden ? `${row.hidden} deeper` : 'less'}</button>}
		</div>
	);
}

function Tooltip({ hover, width }: { hover: Hover; width: number }) {
	const isLeft = hover.x > width - 260;
	return (
		<div class="tooltip" role="tooltip" style={{ top: `${hover.y + 16}px`, left: isLeft ? 'auto' : `${hover.x + 14}px`, right: isLeft ? `${width - hover.x + 14}px` : 'auto' }}>
			<b>{hover.title}</b>{hover.lines.filter(Boolean).map((l) => <span>{l}</span>)}
		</div>
	);
}

/** Ruler, labels and canvas: of the timeline, and of each of two runs side by side. */
export function TrackArea({ app, onReady, caption }: { app: App; onReady: (t: Timeline | null) => void; caption?: ComponentChildren }) {
	const s = useApp(app);
	const canvas = useRef<HTMLCanvasElement>(null), axis = useRef<HTMLCanvasElement>(null), scroller = useRef<HTMLDivElement>(null);
	const [area, width, height] = useSize<HTMLDivElement>();
	const [timeline, setTimeline] = useState<Timeline | null>(null);
	const [hover, setHover] = useState<Hover | null>(null);
	const [, redraw] = useState(0);

	useEffect(() => {
		const t = new Timeline(app, canvas.current!);
		t.onHover = setHover;
		t.onLayout = () => redraw((n) => n + 1);
		setTimeline(t);
		onReady(t);
		const stop = app.subscribe(() => t.request());
		app.onReveal = (lane) => requestAnimationFrame(() => {
			const row = t.rowOf(lane), el = scroller.current;
			if (!row || !el || app.state.pins.has(row.key)) return;
			const top = el.scrollTop, room = el.clientHeight - t.layout.pinnedHeight;
			if (row.y < top || row.y + row.height > top + room) el.scrollTop = Math.max(0, row.y - room / 3);
			t.setScroll(el.scrollTop); // the event of scrolling comes a frame later
		});
		return () => { stop(); t.stop(); onReady(null); app.onReveal = undefined; };
	}, [app]);
	useEffect(() => { timeline?.resize(width, height); redraw((n) => n + 1); }, [timeline, width, height]);
	useEffect(() => { if (axis.current && timeline && width) drawAxis(app, axis.current, width); });

	const place = (e: MouseEvent, el: HTMLElement = canvas.current!) => {
		const box = el.getBoundingClientRect();
		return { x: e.clientX - box.left, y: e.clientY - box.top };
	};
	const onWheel = (e: WheelEvent) => {
		if (!timeline) return;
		const { x } = place(e);
		const unit = e.deltaMode === 1 ? 20 : 1;
		if (e.ctrlKey || e.metaKey || e.altKey) {
			e.preventDefault();
			timeline.zoom(Math.exp(Math.max(-120, Math.min(120, e.deltaY * unit)) * (e.ctrlKey && Math.abs(e.deltaY) < 30 ? 0.012 : 0.004)), x);
		} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			const w = app.state.window, by = (e.deltaX || e.deltaY) * unit / width * (w.to - w.from);
			app.setWindow(w.from + by, w.to + by);
		} else if (scroller.current && scroller.current.scrollHeight <= scroller.current.clientHeight + 1) {
			e.preventDefault(); // nothing to scroll: the wheel zooms
			timeline.zoom(Math.exp(Math.max(-120, Math.min(120, e.deltaY * unit)) * 0.004), x);
		}
	};
	useEffect(() => {
		const el = scroller.current!;
		el.addEventListener('wheel', onWheel, { passive: false });
		return () => el.removeEventListener('wheel', onWheel);
	});
	/** Drag moves the window; on the ruler it measures a stretch, with Shift one of the threads that it goes over. */
	const onPointerDown = (e: PointerEvent, isRuler: boolean) => {
		if (e.button !== 0 || !timeline) return;
		const el = e.currentTarget as HTMLElement, start = place(e, el), isBrush = isRuler || e.shiftKey;
		const w = { ...app.state.window }, at = timeline.timeAt(start.x);
		el.setPointerCapture(e.pointerId);
		const move = (m: PointerEvent) => {
			const p = place(m, el);
			if (isBrush) {
				const t = timeline.timeAt(Math.max(0, Math.min(width, p.x)));
				if (Math.abs(p.x - start.x) > 2) app.measure(Math.min(at, t), Math.max(at, t), isRuler ? [] : timeline.threadsBetween(start.y, p.y));
			} else if (!timeline.isClick(p.x - start.x, p.y - start.y)) {
				const by = (start.x - p.x) / width * (w.to - w.from);
				app.setWindow(w.from + by, w.to + by);
				el.classList.add('dragging');
			}
		};
		const up = (m: PointerEvent) => {
			el.removeEventListener('pointermove', move);
			el.removeEventListener('pointerup', up);
			el.removeEventListener('pointercancel', up);
			el.classList.remove('dragging');
			const p = place(m, el);
			if (!timeline.isClick(p.x - start.x, p.y - start.y)) return;
			if (isBrush) app.set({ brush: null });
			else timeline.click(start.x, start.y);
		};
		el.addEventListener('pointermove', move);
		el.addEventListener('pointerup', up);
		el.addEventListener('pointercancel', up);
	};
	const layout = timeline?.layout;
	return (
		<div class="track-area">
			{caption}
			<div class="ruler">
				<div class="gutter"><input type="search" placeholder="Filter tracks" aria-label="Filter tracks" value={s.trackFilter} onInput={(e) => app.set({ trackFilter: e.currentTarget.value })} /></div>
				<div class="stretch"><canvas ref={axis} data-testid="ruler" style={{ height: `${AXIS}px` }} onPointerDown={(e) => onPointerDown(e, true)} title="Drag to measure a stretch" /></div>
			</div>
			<div class="tracks" ref={scroller} onScroll={(e) => { timeline?.setScroll(e.currentTarget.scrollTop); redraw((n) => n + 1); }}>
				<div class="spacer" style={{ height: `${(layout?.height ?? 0) + (layout?.pinnedHeight ?? 0)}px` }}>
					<div class="stage">
						<div class="gutter" aria-label="tracks">
							{timeline?.visible().filter(({ row }) => !s.pins.has(row.key)).map(({ row, y }) => <Label key={row.key} app={app} timeline={timeline} row={row} y={y} />)}
							{!!layout?.pinned.length && <div class="pinned-labels" style={{ height: `${layout.pinnedHeight - 1}px` }}>
								{layout.pinned.map((row) => <Label key={row.key} app={app} timeline={timeline!} row={row} y={row.y} />)}</div>}
						</div>
						<div class="stretch" ref={area}>
							<canvas ref={canvas} data-testid="timeline" tabIndex={0} role="application"
								aria-label={`Timeline. W and S zoom, A and D move, E selects, arrows go from event to event. ${timeline?.title() ?? ''}`}
								onPointerDown={(e) => onPointerDown(e, false)} onDblClick={() => timeline?.doubleClick()}
								onPointerMove={(e) => { if (!e.buttons) timeline?.point(place(e).x, place(e).y); else setHover(null); }}
								onPointerLeave={() => timeline?.point(null)} />
							{hover && <Tooltip hover={hover} width={width} />}
						</div>
					</div>
				</div>
			</div>
			{s.tracks && !layout?.rows.length && <p class="quiet centre">{s.trackFilter ? 'No track has this in its name.' : 'This run has no events.'}</p>}
			<p class="sr" aria-live="polite">{timeline?.title()}{s.hits ? ` ${count(s.hits.length)} found` : ''}</p>
		</div>
	);
}

export function TimelineView({ app, onReady }: { app: App; onReady: (t: Timeline | null) => void }) {
	return <div class="timeline"><Minimap app={app} /><TrackArea app={app} onReady={onReady} /><Panel app={app} /></div>;
}
