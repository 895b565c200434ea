// Numbers for people.

const UNITS: Array<[number, string]> = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

/** Three significant digits and a unit: 12.3 ms. */
export function duration(ns: number): string {
	if (!isFinite(ns)) return '–';
	const size = Math.abs(ns);
	if (size >= 60e9) {
		const minutes = Math.floor(size / 60e9), seconds = (size - minutes * 60e9) / 1e9;
		if (minutes >= 60) return `${ns < 0 ? '-' : ''}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
		return `${ns < 0 ? '-' : ''}${minutes} min ${seconds.toFixed(1)} s`;
	}
	for (const [unit, name] of UNITS)
		if (size >= unit) return `${digits(ns / unit)} ${name}`;
	return size === 0 ? '0 ns' : `${digits(ns)} ns`;
}

function digits(x: number): string {
	const size = Math.abs(x);
	if (Number.isInteger(x) && size < 1000) return String(x);
	return x.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** A time with as many digits as a grid of `step` needs. */
export function tick(ns: number, step: number): string {
	if (step >= 60e9) {
		const minutes = Math.round(ns / 60e9);
		return minutes && minutes % 60 === 0 && step >= 600e9 ? `${minutes / 60} h` : Math.abs(minutes) > 60 ? `${Math.trunc(minutes / 60)} h ${Math.abs(minutes % 60)} min` : `${minutes} min`;
	}
	const size = Math.max(Math.abs(ns), step);
	const [unit, name] = UNITS.find(([u]) => size >= u * 0.999) ?? UNITS[3];
	const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
	return `${(ns / unit).toFixed(places)} ${name}`;
}

/** The whole number of nanoseconds, grouped. */
export function exact(ns: number): string {
	return `${Math.round(ns).toLocaleString('en-US')} ns`;
}

export function count(n: number): string {
	return n.toLocaleString('en-US');
}

export function short(n: number): string {
	for (const [unit, name] of [[1e9, ' G'], [1e6, ' M'], [1e4, ' k']] as Array<[number, string]>)
		if (Math.abs(n) >= unit) return `${digits(n / (name === ' k' ? 1e3 : unit))}${name}`;
	return Number.isInteger(n) ? String(n) : n.toPrecision(3);
}

export function bytes(n: number): string {
	const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
	let i = 0;
	while (Math.abs(n) >= 1024 && i < names.length - 1) { n /= 1024; i++; }
	return `${i ? digits(n) : n} ${names[i]}`;
}

/** A value of a counter in its unit; a rate is a second's. */
export function quantity(v: number, unit: string | null | undefined, isRate: boolean): string {
	if (unit === 'ns') return isRate ? percent(v / 1e9) : duration(v);
	if (unit === 'bytes') return bytes(Math.round(v)) + (isRate ? '/s' : '');
	return short(v) + (isRate ? '/s' : '');
}

export function percent(ratio: number): string {
	if (!isFinite(ratio)) return '–';
	const p = ratio * 100;
	return `${p >= 10 || p === 0 ? p.toFixed(0) : p >= 1 ? p.toFixed(1) : p.toFixed(2)} %`;
}
