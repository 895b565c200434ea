// Lanes painted as rows of pixels: one pixel row a lane in an ImageData, scaled to the lane's height when drawn. A view of any
// density costs the same few milliseconds, where a rectangle an event would take up to a second.
import { parse, pixel, type Palette, type Rgb } from './color';
import type { Names } from './names';
import { firstAfter, type LaneItems } from './slices';

export interface Look {
	from: number;
	nsPerPixel: number;
	names: Names;
	wanted: Set<number> | null; // names that stay bright while others fade; null: all
	palette: Palette;
}

function blend(a: Rgb, b: Rgb, part: number): number {
	const mix = (i: number) => Math.round(a[i] + (b[i] - a[i]) * part);
	return (255 << 24 | mix(2) << 16 | mix(1) << 8 | mix(0)) >>> 0;
}

export class Raster {
	readonly canvas = document.createElement('canvas');
	private image: ImageData | null = null;
	private pixels = new Uint32Array(0);
	width = 0;
	height = 0;
	private background: Rgb = [255, 255, 255];
	private unknown: Rgb = [200, 200, 200];
	private edge = 0;

	resize(width: number, height: number, palette: Palette) {
		this.background = parse(palette.background);
		this.unknown = palette.isDark ? [70, 78, 90] : [205, 210, 218];
		this.edge = pixel(this.background);
		if (!this.image || width !== this.width || height > this.height) {
			this.width = width;
			this.height = Math.max(height, 1);
			this.canvas.width = width;
			this.canvas.height = this.height;
			this.image = new ImageData(width, this.height);
			this.pixels = new Uint32Array(this.image.data.buffer);
		}
		this.pixels.fill(0);
	}
	commit(rows: number) {
		if (rows > 0) this.canvas.getContext('2d')!.putImageData(this.image!, 0, 0, 0, 0, this.width, rows);
	}
	/** States of a thread: on a CPU while it lives, but where they say otherwise. */
	paintStates(row: number, items: LaneItems, look: Look, life: [number, number]) {
		const x = (t: number) => Math.min(this.width, Math.max(0, Math.round((t - look.from) / look.nsPerPixel)));
		const running = parse(look.palette.running);
		this.pixels.fill(pixel(running), row * this.width + x(life[0]), row * this.width + x(life[1]));
		this.paint(row, items, look, running);
	}
	/** base: what a cell that is not all busy lets through; null: the background. */
	paint(row: number, items: LaneItems, look: Look, base: Rgb | null = null) {
		const at = row * this.width, width = this.width, p = this.pixels, scale = 1 / look.nsPerPixel;
		const until = look.from + width * look.nsPerPixel;
		let cellAt = -1, cellBusy = 0;
		for (let i = firstAfter(items, look.from); i < items.count && items.start[i] < until; i++) {
			const name = look.names.get(items.name[i]);
			const isFaded = !base && look.wanted !== null && !look.wanted.has(items.name[i]);
			const rgb = name?.rgb ?? this.unknown;
			let x0 = Math.floor((items.start[i] - look.from) * scale);
			let x1 = Math.ceil((items.end[i] - look.from) * scale);
			if (x0 < 0) x0 = 0;
			if (x1 <= x0) x1 = x0 + 1;
			if (x1 > width) x1 = width;
			if (items.isCell[i]) {
				const busy = items.busy[i];
				if (x0 === cellAt && busy <= cellBusy && !look.wanted) continue; // the busiest of a pixel is shown
				cellAt = x0;
				cellBusy = busy;
				const color = base ? blend(base, rgb, busy / 255) : blend(this.background, rgb, (isFaded ? 0.2 : 1) * (0.3 + 0.7 * busy / 255));
				for (let x = x0; x < x1; x++) p[at + x] = color;
				continue;
			}
			const color = isFaded ? blend(this.background, rgb, 0.2) : name ? name.pixel : pixel(rgb);
			p.fill(color, at + x0, at + x1);
			if (x1 - x0 >= 3 && x0 > 0 && !base) p[at + x0] = this.edge; // so that neighbours of one colour stay apart
		}
	}
	/** Samples: a tick each. */
	paintTicks(row: number, items: LaneItems, look: Look) {
		const at = row * this.width, scale = 1 / look.nsPerPixel, color = pixel(parse(look.palette.counter));
		const until = look.from + this.width * look.nsPerPixel;
		for (let i = firstAfter(items, look.from); i < items.count && items.start[i] < until; i++) {
			const x = Math.max(0, Math.floor((items.start[i] - look.from) * scale)), end = (items.end[i] - look.from) * scale;
			if (items.isCell[i] && items.end[i] - items.start[i] > items.bin) // a run of many
				for (let k = x; k < Math.min(this.width, end); k++) this.pixels[at + k] = color;
			else if (x < this.width) this.pixels[at + x] = color;
		}
	}
	/** Steps: two shades in turn. */
	paintSteps(row: number, items: LaneItems, look: Look) {
		const at = row * this.width, width = this.width, p = this.pixels, scale = 1 / look.nsPerPixel;
		const shades = look.palette.step.map((s) => pixel(parse(s)));
		const until = look.from + width * look.nsPerPixel;
		for (let i = firstAfter(items, look.from); i < items.count && items.start[i] < until; i++) {
			const x0 = Math.max(0, Math.floor((items.start[i] - look.from) * scale));
			const x1 = Math.min(width, Math.max(x0 + 1, Math.ceil((items.end[i] - look.from) * scale)));
			p.fill(shades[items.name[i] & 1], at + x0, at + x1);
		}
	}
}
