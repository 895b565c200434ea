// The ruler: where its ticks are, and what they say.
import { palette } from './color';
import { duration, tick } from './format';
import type { App } from './state';

export const AXIS = 28;
export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** The axis above the tracks, on a canvas of its own. */
export function drawAxis(app: App, canvas: HTMLCanvasElement, width: number) {
	const ratio = window.devicePixelRatio || 1, colors = palette(app.state.isDark), c = canvas.getContext('2d')!;
	if (canvas.width !== Math.round(width * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = AXIS * ratio; }
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	c.fillStyle = colors.background;
	c.fillRect(0, 0, width, AXIS);
	const { from, to } = app.state.window, step = gridStep(from, to, width), perPixel = (to - from) / width;
	c.font = FONT;
	c.textBaseline = 'middle';
	for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
		const x = Math.round((t - from) / perPixel);
		c.fillStyle = colors.line;
		c.fillRect(x, AXIS - 7, 1, 7);
		c.fillStyle = colors.faint;
		c.fillText(tick(t, step), x + 4, AXIS / 2 - 1);
	}
	const b = app.state.brush;
	if (b) {
		const x0 = (b.from - from) / perPixel, x1 = (b.to - from) / perPixel;
		c.fillStyle = colors.shade;
		c.fillRect(x0, 0, x1 - x0, AXIS);
		const text = duration(b.to - b.from), w = c.measureText(text).width + 12;
		const middle = Math.min(width - w / 2, Math.max(w / 2, (x0 + x1) / 2));
		c.fillStyle = colors.accent;
		c.beginPath();
		c.roundRect(middle - w / 2, 5, w, 17, 8);
		c.fill();
		c.fillStyle = colors.isDark ? '#0c1016' : '#fff';
		c.fillText(text, middle - w / 2 + 6, 14);
	}
}

export function gridStep(from: number, to: number, width: number): number {
	const rough = (to - from) / Math.max(1, width / 110);
	if (rough > 30e9) for (const minutes of [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720, 1440]) if (minutes * 60e9 >= rough) return minutes * 60e9;
	const power = 10 ** Math.floor(Math.log10(rough));
	for (const m of [1, 2, 5, 10]) if (power * m >= rough) return power * m;
	return power * 10;
}

const widths = new Map<string, number>();

const ELLIPSIS = 11; // pixels

/** As much of the text as fits. */
export function fit(c: CanvasRenderingContext2D, text: string, room: number): string {
	let w = widths.get(text);
	if (w === undefined) {
		w = c.measureText(text).width;
		if (widths.size > 5000) widths.clear();
		widths.set(text, w);
	}
	if (w <= room) return text;
	const n = Math.floor(text.length * (room - ELLIPSIS) / w);
	return n < 2 ? '' : `${text.slice(0, n)}…`;
}
