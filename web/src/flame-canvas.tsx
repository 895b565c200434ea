// The picture of a flame graph: click or Enter goes into a frame, arrows walk, hovering tells.
import { useEffect, useRef, useState } from 'preact/hooks';
import { palette, type Palette } from './color';
import { depthOf, type Node } from './flame';
import { count, duration, percent } from './format';
import type { App } from './state';
import { fit } from './axis';
import { useSize } from './use';

const ROW = 20;
const NARROW = 0.4; // pixels of a frame that is not drawn any more

interface Box { node: Node; x: number; y: number; width: number }

export interface FlameCanvasProps {
	app: App;
	root: Node;
	isTurned: boolean;
	isCompared: boolean;
	isWanted: ((text: string) => boolean) | null;
	isBusy: boolean;
	onName: (text: string) => void;
}

function isAncestor(a: Node, b: Node): boolean {
	for (let n = b.parent; n; n = n.parent) if (n === a) return true;
	return false;
}

function mix(a: string, b: string, part: number): string {
	return `color-mix(in srgb, ${a} ${Math.round((1 - part) * 100)}%, ${b})`;
}

/** Red has more than what it is compared with, blue less, as a share of the whole. */
function changeColor(node: Node, whole: number, colors: Palette): string {
	const change = whole > 0 ? (node.total - node.base) / whole : 0;
	const part = Math.min(1, Math.sqrt(Math.abs(change) * 6));
	return mix(colors.line, change > 0 ? colors.more : colors.less, Math.abs(change) < 0.001 ? 0 : 0.15 + 0.85 * part);
}

export function FlameCanvas(p: FlameCanvasProps) {
	const { app, root } = p, { isDark } = app.state;
	const [area, width] = useSize<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null), boxes = useRef<Box[]>([]);
	const [focus, setFocus] = useState<Node | null>(null), [cursor, setCursor] = useState<Node | null>(null);
	const [hover, setHover] = useState<{ x: number; y: number; node: Node } | null>(null);
	useEffect(() => { setFocus(null); setCursor(null); setHover(null); }, [root]);
	const at = focus && (focus === root || isAncestor(root, focus)) ? focus : root, height = (depthOf(root) + 1) * ROW + 4;

	useEffect(() => {
		const c = canvas.current?.getContext('2d');
		if (!c || !width) return;
		const ratio = devicePixelRatio || 1, colors = palette(isDark), scale = at.total > 0 ? width / at.total : 0;
		c.canvas.width = width * ratio;
		c.canvas.height = height * ratio;
		c.scale(ratio, ratio);
		c.clearRect(0, 0, width, height);
		c.font = '11.5px system-ui, sans-serif';
		c.textBaseline = 'middle';
		boxes.current = [];
		const draw = (node: Node) => {
			const isAbove = node !== at && isAncestor(node, at);
			const x = isAbove ? 0 : (node.x - at.x) * scale, w = isAbove ? width : node.total * scale;
			if (w < NARROW || x > width || x + w < 0) return;
			const y = node.depth * ROW, isFaded = isAbove || (!!p.isWanted && !!node.text && !p.isWanted(node.text));
			c.globalAlpha = isFaded ? 0.35 : 1;
			c.fillStyle = p.isCompared ? changeColor(node, root.total, colors) : node.text ? app.names.colorOfText(node.text) : colors.line;
			c.fillRect(x, y, Math.max(0.6, w - (w > 3 ? 1 : 0)), ROW - 1);
			c.globalAlpha = 1;
			if (node === cursor) { c.strokeStyle = colors.accent; c.lineWidth = 2; c.strokeRect(x + 1, y + 1, Math.max(1, w - 3), ROW - 3); }
			boxes.current.push({ node, x, y, width: w });
			if (w > 30) {
				c.fillStyle = isFaded ? colors.faint : node.text && !p.isCompared ? app.names.inkOfText(node.text) : isDark ? '#eef2f8' : '#182230';
				const text = node.text || `all · ${duration(node.total)}`, left = Math.max(0, x);
				c.fillText(fit(c, text, Math.min(w - (left - x), width - left) - 10), left + 5, y + ROW / 2);
			}
			(isAbove ? node.children.filter((n) => n === at || isAncestor(n, at)) : node.children).forEach(draw);
		};
		draw(root);
	});
	const find = (e: MouseEvent): Box | undefined => {
		const box = canvas.current!.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
		return boxes.current.find((b) => y >= b.y && y < b.y + ROW && x >= b.x && x < b.x + b.width);
	};
	const onKey = (e: KeyboardEvent) => {
		const here = cursor ?? at, siblings = here.parent?.children.filter((n) => n.total > 0) ?? [here], i = siblings.indexOf(here);
		const next: Record<string, Node | null | undefined> = { ArrowUp: here.parent, ArrowDown: here.children.find((n) => n.total > 0), ArrowLeft: siblings[i - 1], ArrowRight: siblings[i + 1] };
		if (e.key in next) {
			const node = next[e.key] ?? here;
			setCursor(node);
			if (node === at.parent) setFocus(node);
		} else if (e.key === 'Enter') setFocus(here.parent ? here : null);
		else if (e.key === 'Backspace') setFocus(at.parent);
		else return;
		e.preventDefault();
		e.stopPropagation();
	};
	const told = cursor ?? null;
	return (
		<div class={`flame-area ${p.isBusy ? 'busy' : ''}`} ref={area}><div class="flame-scroll">
			<canvas ref={canvas} data-testid="flame" tabIndex={0} style={{ height: `${height}px` }} role="img"
				aria-label={`Flame graph. Arrows walk, Enter goes in, Backspace out. ${told ? `${told.text} ${duration(told.total)}` : ''}`} onKeyDown={onKey}
				onMouseMove={(e) => { const b = find(e), box = canvas.current!.getBoundingClientRect(); setHover(b ? { x: e.clientX - box.left, y: e.clientY - area.current!.getBoundingClientRect().top, node: b.node } : null); }}
				onMouseLeave={() => setHover(null)} onDblClick={(e) => { const b = find(e); if (b?.node.text) p.onName(b.node.text); }}
				onClick={(e) => { const b = find(e); if (b) { setFocus(b.node === focus ? null : b.node.parent ? b.node : null); setCursor(b.node); } }} /></div>
			{at !== root && <button class="reset" onClick={() => setFocus(null)}>Whole graph</button>}
			{hover && hover.node.text && (
				<div class="tooltip" style={{ top: `${hover.y + 18}px`, left: `${Math.max(0, Math.min(hover.x + 12, width - 260))}px` }}>
					<b>{hover.node.text}</b>
					<span>{duration(hover.node.total)} · {percent(hover.node.total / root.total)} of all</span>
					{!p.isTurned && <span>own time {duration(hover.node.self)}</span>}
					{p.isCompared && <span>{hover.node.base ? `before ${duration(hover.node.base)}, ${hover.node.total >= hover.node.base ? '+' : '−'}${duration(Math.abs(hover.node.total - hover.node.base))}` : 'not there before'}</span>}
					<span>{count(hover.node.count)} times</span>
				</div>
			)}
		</div>
	);
}
