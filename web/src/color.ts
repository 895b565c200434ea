// Colours by name: the same name has the same colour in every view. Calls have the colour of their category.

export interface Palette {
	isDark: boolean;
	background: string; panel: string; line: string; text: string; faint: string; accent: string; hit: string;
	grid: string; stripe: string; counter: string; counterFill: string; mark: string; step: [string, string]; shade: string; series: string[]; arrow: string; more: string; less: string; running: string;
}

const light: Palette = {
	isDark: false, background: '#ffffff', panel: '#f6f7f9', line: '#e3e6eb', text: '#1c2430', faint: '#6b7686',
	accent: '#2f6fde', hit: '#e8590c', grid: '#eef0f4', stripe: '#fafbfc', counter: '#2f6fde', counterFill: 'rgba(47,111,222,.16)',
	mark: '#c2410c', step: ['#d7e3f8', '#bfd2f3'], shade: 'rgba(47,111,222,.13)',
	series: ['#4f86e6', '#e8863c', '#2fa58e', '#c2497a'], arrow: 'rgba(60,72,92,.55)', more: '#d9534f', less: '#3f7fd6', running: '#7cc29a',
};
const dark: Palette = {
	isDark: true, background: '#12161d', panel: '#191f28', line: '#2a323e', text: '#dfe5ee', faint: '#8893a4',
	accent: '#6ea0ff', hit: '#ff9d5c', grid: '#1d242e', stripe: '#151a22', counter: '#6ea0ff', counterFill: 'rgba(110,160,255,.18)',
	mark: '#ff9d5c', step: ['#26364f', '#31466a'], shade: 'rgba(110,160,255,.17)',
	series: ['#6ea0ff', '#f09a57', '#4cc3a9', '#e57aa4'], arrow: 'rgba(190,202,222,.5)', more: '#e8716c', less: '#6ea0ff', running: '#2f7d56',
};

export function palette(isDark: boolean): Palette {
	return isDark ? dark : light;
}

// Hues that stay apart from each other at low saturation; calls keep to the cool greys and greens.
const HUES = [212, 28, 152, 268, 340, 52, 188, 232, 8, 96, 300, 172, 40, 250, 320, 128];
const CATEGORY: Record<string, [hue: number, saturation: number]> = {
	data: [174, 45], open: [36, 55], meta: [205, 18], dir: [90, 25], sync: [356, 55], map: [262, 28], stdio: [190, 32],
	net: [224, 55], process: [320, 35], aio: [160, 40], libc: [214, 10],
};

const STATE: Record<string, [hue: number, saturation: number, lightness: number]> = {
	preempted: [32, 80, -10], disk: [356, 60, -12], sleep: [214, 14, 4], wait: [214, 18, 2], stopped: [280, 40, -6], traced: [280, 40, -6], ended: [214, 5, 8],
};

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return Math.imul(h, 2246822519) >>> 0;
}

function hsl(h: number, s: number, l: number): [number, number, number] {
	s /= 100; l /= 100;
	const a = s * Math.min(l, 1 - l);
	const f = (n: number) => {
		const k = (n + h / 30) % 12;
		return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};
	return [f(0), f(8), f(4)];
}

export type Rgb = [number, number, number];

export function colorOf(text: string, table: string, category: string | undefined, isDark: boolean): Rgb {
	const h = hash(text);
	if (table === 'state') {
		const [hue, saturation, lightness] = STATE[text] ?? [214, 8, 0];
		return hsl(hue, saturation, (isDark ? 34 : 82) + lightness);
	}
	if (table === 'call') {
		const [hue, saturation] = CATEGORY[category ?? ''] ?? [214, 10];
		const shift = (h >>> 8) % 9 - 4;
		return hsl(hue, saturation, (isDark ? 36 : 74) + shift);
	}
	const hue = HUES[h % HUES.length] + (h >>> 12) % 13 - 6;
	const shift = (h >>> 20) % 9 - 4;
	return isDark ? hsl((hue + 360) % 360, 38, 42 + shift) : hsl((hue + 360) % 360, 58, 77 + shift);
}

export function css([r, g, b]: Rgb): string {
	return `rgb(${r},${g},${b})`;
}

/** What is readable on it. */
export function inkOn([r, g, b]: Rgb): string {
	return 0.299 * r + 0.587 * g + 0.114 * b < 140 ? '#f2f5fa' : '#182230';
}

export function pixel([r, g, b]: Rgb): number {
	return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

export function parse(hex: string): Rgb {
	const v = parseInt(hex.slice(1), 16);
	return [v >> 16, v >> 8 & 255, v & 255];
}

let scratch: CanvasRenderingContext2D | null = null;

/** Any colour that CSS knows; null: it is none. */
export function parseCss(text: string): Rgb | null {
	if (!CSS.supports('color', text)) return null;
	scratch ??= document.createElement('canvas').getContext('2d');
	if (!scratch) return null;
	scratch.fillStyle = '#000';
	scratch.fillStyle = text;
	return /^#[0-9a-f]{6}$/.test(scratch.fillStyle) ? parse(scratch.fillStyle) : null;
}
