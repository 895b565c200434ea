// What is in view as a picture: the canvas with its labels and its ruler, on the page's background.
import { palette } from './color';
import type { App } from './state';

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

function drawText(c: CanvasRenderingContext2D, text: string, x: number, y: number, room: number) {
	let shown = text;
	while (shown.length > 1 && c.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
	c.fillText(shown, x, y);
}

/** Everything that the page shows of a view, drawn anew at the screen's resolution. */
export function picture(app: App): HTMLCanvasElement | null {
	const canvases = [...document.querySelectorAll<HTMLCanvasElement>('main canvas')].filter((c) => c.width && c.height);
	const main = document.querySelector('main');
	if (!canvases.length || !main) return null;
	const box = main.getBoundingClientRect(), ratio = devicePixelRatio || 1, colors = palette(app.state.isDark);
	const out = document.createElement('canvas'), c = out.getContext('2d')!;
	const bottom = Math.max(...canvases.map((k) => k.getBoundingClientRect().bottom));
	out.width = box.width * ratio;
	out.height = Math.ceil((bottom - box.top) * ratio);
	c.scale(ratio, ratio);
	c.fillStyle = colors.background;
	c.fillRect(0, 0, box.width, bottom - box.top);
	for (const k of canvases) {
		const b = k.getBoundingClientRect();
		c.drawImage(k, b.left - box.left, b.top - box.top, b.width, b.height);
	}
	c.font = FONT;
	c.textBaseline = 'middle';
	c.fillStyle = colors.text;
	for (const row of main.querySelectorAll<HTMLElement>('.gutter .row')) {
		const b = row.getBoundingClientRect(), label = row.querySelector<HTMLElement>('b, span');
		if (!label || b.top < box.top) continue;
		const l = label.getBoundingClientRect();
		drawText(c, label.textContent ?? '', l.left - box.left, l.top - box.top + l.height / 2, b.right - l.left - 8);
	}
	return out;
}

export function savePng(app: App) {
	const canvas = picture(app);
	if (!canvas) { app.set({ notice: 'There is no picture in this view: open the timeline, the flame graph or a chart.' }); return; }
	canvas.toBlob((blob) => {
		if (!blob) return;
		const a = document.createElement('a');
		a.href = URL.createObjectURL(blob);
		a.download = `${app.name || 'sonde'}-${app.state.tab}.png`;
		a.click();
		setTimeout(() => URL.revokeObjectURL(a.href), 1000);
	});
}
