// The compact answer of /api/slices (src/serve/run-api-slices.c says what the bytes are).

const MAGIC = 0x32434c53;
const UNITS = 8; // of a bin
const SLICE = 0, RUN = 2; // kinds of items; 1 is a cell

/** The items of one lane as columns; times in nanoseconds. busy is 255 for a slice, less or equal for a cell. */
export interface LaneItems {
	lane: number;
	from: number;
	to: number; // until here the lane is known
	bin: number;
	count: number;
	start: Float64Array;
	end: Float64Array;
	name: Uint32Array;
	busy: Uint8Array;
	isCell: Uint8Array;
}

class Bytes {
	constructor(private view: DataView, public at: number) {}
	varint(): number {
		let v = 0, scale = 1;
		for (;;) {
			const byte = this.view.getUint8(this.at++);
			v += (byte & 0x7f) * scale;
			if (byte < 0x80) return v;
			scale *= 128;
		}
	}
	u8(): number { return this.view.getUint8(this.at++); }
}

function decodeLane(view: DataView, at: number, from: number, unit: number): [LaneItems, number] {
	const lane = view.getUint32(at, true), count = view.getUint32(at + 4, true), bytes = view.getUint32(at + 8, true);
	const items: LaneItems = {
		lane, from, to: from, bin: unit * UNITS, count,
		start: new Float64Array(count), end: new Float64Array(count), name: new Uint32Array(count),
		busy: new Uint8Array(count), isCell: new Uint8Array(count),
	};
	const b = new Bytes(view, at + 12);
	let units = 0;
	for (let i = 0; i < count; i++) {
		const head = b.varint(), kind = head % 4;
		units += (head - kind) / 4;
		items.start[i] = from + units * unit;
		if (kind === SLICE) {
			items.busy[i] = 255;
			units += b.varint();
		} else {
			units = (Math.floor(units / UNITS) + (kind === RUN ? b.varint() : 1)) * UNITS;
			items.busy[i] = b.u8();
		}
		items.isCell[i] = kind === SLICE ? 0 : 1;
		items.name[i] = b.varint();
		items.end[i] = from + units * unit;
	}
	return [items, at + 12 + bytes];
}

export function decodeSlices(buffer: ArrayBuffer): LaneItems[] {
	const view = new DataView(buffer);
	if (view.byteLength < 24 || view.getUint32(0, true) !== MAGIC) throw new Error('these are no slices');
	const lanes = view.getUint32(4, true);
	const from = Number(view.getBigInt64(8, true)), unit = Number(view.getBigInt64(16, true));
	const out: LaneItems[] = [];
	let at = 24;
	for (let i = 0; i < lanes; i++) {
		const [items, next] = decodeLane(view, at, from, unit);
		out.push(items);
		at = next;
	}
	return out;
}

/** The number of the first item that ends after t. */
export function firstAfter(items: LaneItems, t: number): number {
	let low = 0, high = items.count;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (items.end[middle] <= t) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** The item at t, or the nearest within the slack; -1: none. */
export function itemAt(items: LaneItems, t: number, slack: number): number {
	const i = firstAfter(items, t);
	if (i < items.count && items.start[i] <= t) return i;
	const after = i < items.count ? items.start[i] - t : Infinity;
	const before = i > 0 ? t - items.end[i - 1] : Infinity;
	if (Math.min(after, before) > slack) return -1;
	return after <= before ? i : i - 1;
}
