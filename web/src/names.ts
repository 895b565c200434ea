// The texts of name numbers, fetched when they are first met, and their colours.
import type { NameRow, Source } from './api';
import { colorOf, css, pixel, type Rgb } from './color';

const BATCH = 1000;

export interface Name { text: string; table: string; category?: string; rgb: Rgb; css: string; pixel: number }

export class Names {
	private known = new Map<number, Name>();
	private wanted = new Set<number>();
	private isAsking = false;
	private isDark = false;

	constructor(private source: Source, private onNew: () => void) {}

	setDark(isDark: boolean) {
		this.isDark = isDark;
		for (const name of this.known.values()) this.paint(name);
	}
	private paint(name: Name) {
		name.rgb = colorOf(name.text, name.table, name.category, this.isDark);
		name.css = css(name.rgb);
		name.pixel = pixel(name.rgb);
	}
	/** undefined: not known yet; onNew is called when it is. */
	get(id: number): Name | undefined {
		const name = this.known.get(id);
		if (!name) this.want(id);
		return name;
	}
	add(rows: NameRow[]) {
		for (const [id, text, table, category] of rows) {
			const name: Name = { text: text ?? '(unknown)', table, category, rgb: [0, 0, 0], css: '', pixel: 0 };
			this.paint(name);
			this.known.set(id, name);
			this.wanted.delete(id);
		}
	}
	async load(ids: number[]): Promise<void> {
		const missing = [...new Set(ids)].filter((id) => !this.known.has(id));
		for (let i = 0; i < missing.length; i += BATCH) this.add(await this.source.names(missing.slice(i, i + BATCH)));
	}
	/** Ids whose text holds this, among those met. */
	matching(text: string): Set<number> {
		const wanted = text.toLowerCase();
		const ids = new Set<number>();
		if (wanted) for (const [id, name] of this.known) if (name.text.toLowerCase().includes(wanted)) ids.add(id);
		return ids;
	}
	private want(id: number) {
		this.wanted.add(id);
		if (this.isAsking) return;
		this.isAsking = true;
		queueMicrotask(async () => {
			try {
				await this.load([...this.wanted]);
				this.wanted.clear();
				this.onNew();
			} catch {
				this.wanted.clear(); // asked for again with the next frame
			} finally {
				this.isAsking = false;
			}
		});
	}
}
