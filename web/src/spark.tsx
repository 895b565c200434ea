// A small line of the newest values: the last is at the right edge, a gap is a gap.
const WIDTH = 120, HEIGHT = 24, LOOKS_MIN = 30; // a line of few looks is not stretched over the whole width

/** The path of the values between the lowest and the highest, or 0 where all are positive and the range holds it. */
export function sparkPath(values: Array<number | null>, low: number, high: number): string {
	const step = WIDTH / (Math.max(values.length, LOOKS_MIN) - 1), left = WIDTH - (values.length - 1) * step, range = high - low || 1;
	let path = '', isDown = false;
	values.forEach((v, i) => {
		if (v == null || !isFinite(v)) { isDown = false; return; }
		path += `${isDown ? 'L' : 'M'}${(left + i * step).toFixed(1)} ${(HEIGHT - 2 - (v - low) / range * (HEIGHT - 4)).toFixed(1)}`;
		isDown = true;
	});
	return path;
}

export function Spark({ values, label, floor = 0, show }: { values: Array<number | null>; label: string; floor?: number | null; show?: (v: number) => string }) {
	const known = values.filter((v): v is number => v != null && isFinite(v));
	if (known.length < 2) return <span class="spark" />;
	const low = Math.min(...known, floor ?? Infinity), high = Math.max(...known);
	const words = show ? `${show(Math.min(...known))} to ${show(high)}` : '';
	return (
		<svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}, last ${known.length} s: ${words}`} preserveAspectRatio="none">
			<title>{`last ${known.length} s: ${words}`}</title>
			<path d={sparkPath(values, low, high)} />
		</svg>
	);
}
