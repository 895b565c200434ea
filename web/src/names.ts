// The texts of name numbers, fetched when they are first met, and their colours.
import type { NameRow, Source } from './api';
import { colorOf, css, inkOn, parseCss, pixel, type Rgb } from './color';

const BATCH = 1000;

export interface Name { text: string; table: string; category?: string; rgb: Rgb; css: string; pixel: number; ink: string }

export class Names {
	private known = new Map<number, Name>();
	private wanted = new Set<number>();
	private isAsking = false;
	private isDark = false;
	private byText = new Map<string, Name>();
	private groups: Array<[word: string, color: Rgb]> = [];

	constructor(private source: Source, private onNew: () => void) {}

	setDark(isDark: boolean) {
		this.isDark = isDark;
		for (const name of this.known.values()) this.paint(name);
	}
	/** name:colour, name:colour: what has the word in its name gets the colour, whatever it is. Words without a colour that is one are left out. */
	setGroups(text: string) {
		this.groups = text.split(/,(?![^(]*\))/).flatMap((part) => { // not at the commas of rgb(1, 2, 3)
			const at = part.lastIndexOf(':'), word = part.slice(0, at).trim().toLowerCase(), rgb = at > 0 ? parseCss(part.slice(at + 1).trim()) : null;
			return word && rgb ? [[word, rgb] as [string, Rgb]] : [];
		});
		for (const name of this.known.values()) this.paint(name);
		this.onNew();
	}
	private grouped(text: string): Rgb | null {
		if (!this.groups.length) return null;
		const low = text.toLowerCase();
		return this.groups.find(([word]) => low.includes(word))?.[1] ?? null;
	}
	/** Of a name that may have no number: a function of samples. */
	colorOfText(text: string): string {
		return css(this.rgbOfText(text));
	}
	inkOfText(text: string): string {
		return inkOn(this.rgbOfText(text));
	}
	private rgbOfText(text: string): Rgb {
		return this.byText.get(text)?.rgb ?? this.grouped(text) ?? colorOf(text, 'function', undefined, this.isDark);
	}
	private paint(name: Name) {
		name.rgb = this.grouped(name.text) ?? colorOf(name.text, name.table, name.category, this.isDark);
		name.css = css(name.rgb);
		name.pixel = pixel(name.rgb);
		name.ink = inkOn(name.rgb);
	}
	/** undefined: not known yet; onNew is called when it is. */
	get(id: number): Name | undefined {
		const name = this.known.get(id);
		if (!name) this.want(id);
		return name;
	}
	add(rows: NameRow[]) {
		for (const [id, text, table, category] of rows) {
			const name: Name = { text: text ?? '(unknown)', table, category, rgb: [0, 0, 0], css: '', pixel: 0, ink: '' };
			this.paint(name);
			this.known.set(id, name);
			this.byText.set(name.text, name);
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
		queueMicrotask(() => void this.ask());
	}
	/** Until nothing is wanted any more: more may be met while an answer is on its way. */
	private async ask() {
		try {
			while (this.wanted.size) {
				const ids = [...this.wanted];
				await this.load(ids);
				for (const id of ids) this.wanted.delete(id);
				this.onNew();
			}
		} catch {
			this.wanted.clear(); // asked for again with the next frame
		} finally {
			this.isAsking = false;
		}
	}
}
