// Who sent how much to whom.
import type { NetworkPair } from './api';
import { bytes, count } from './format';
import { Table } from './table';

const NAMES_MAX = 24;

export interface MatrixData { names: string[]; bytes: number[][] }

/** The ends with most bytes, and what went between them. */
export function matrixOf(pairs: NetworkPair[]): MatrixData {
	const sums = new Map<string, number>();
	for (const p of pairs) for (const end of [p.source, p.destination]) sums.set(end, (sums.get(end) ?? 0) + p.bytes);
	const names = [...sums].sort((a, b) => b[1] - a[1]).slice(0, NAMES_MAX).map(([name]) => name).sort();
	const table = names.map(() => names.map(() => 0));
	for (const p of pairs) {
		const i = names.indexOf(p.source), k = names.indexOf(p.destination);
		if (i >= 0 && k >= 0) table[i][k] += p.bytes;
	}
	return { names, bytes: table };
}

/** From row to column; and the pairs themselves, those with most bytes first. */
export function Communication({ pairs }: { pairs: NetworkPair[] }) {
	const most = Math.max(1, ...pairs.map((p) => p.bytes));
	return (
		<div class="card" data-testid="network"><h2>Who talked to whom<span class="quiet">bytes from row to column</span></h2>
			<Matrix matrix={matrixOf(pairs)} />
			<Table label="pairs" rows={pairs} sort="bytes" limit={10} columns={[
				{ title: 'from', key: 'source', isText: true, value: (p) => p.source, show: (p) => <span class="path">{p.source} → {p.destination}</span> },
				{ title: 'bytes', key: 'bytes', value: (p) => p.bytes, show: (p) => bytes(p.bytes), bar: (p) => p.bytes / most },
				{ title: 'packets', key: 'packets', value: (p) => p.packets, show: (p) => count(p.packets) },
				{ title: 'flows', key: 'flows', value: (p) => p.flows, show: (p) => count(p.flows) },
			]} /></div>
	);
}

export function Matrix({ matrix }: { matrix: MatrixData }) {
	const most = Math.max(1, ...matrix.bytes.flat());
	return (
		<div class="table-wrap"><table class="matrix" aria-label="bytes from row to column">
			<thead><tr><th />{matrix.names.map((n) => <th>{n}</th>)}</tr></thead>
			<tbody>{matrix.bytes.map((row, i) => <tr><th>{matrix.names[i]}</th>{row.map((b, k) => <td title={b ? `${count(b)} bytes from ${matrix.names[i]} to ${matrix.names[k]}` : undefined}><span class="heat" style={{ opacity: 0.75 * Math.sqrt(b / most) }} /><span class="over">{b ? bytes(b) : ''}</span></td>)}</tr>)}</tbody>
		</table></div>
	);
}
