// Who sent how much to whom, when a summary knows.
import type { Summary } from './api';
import { bytes } from './format';

export interface MatrixData { names: string[]; bytes: number[][] }

/** From the network part of a summary: pairs with source, destination and bytes. */
export function matrixOf(summary: Summary | null): MatrixData | null {
	const network = summary?.network as { pairs?: Array<{ source: string; destination: string; bytes: number }> } | undefined;
	if (!network?.pairs?.length) return null;
	const names = [...new Set(network.pairs.flatMap((p) => [p.source, p.destination]))].slice(0, 40);
	const table = names.map(() => names.map(() => 0));
	for (const p of network.pairs) {
		const i = names.indexOf(p.source), k = names.indexOf(p.destination);
		if (i >= 0 && k >= 0) table[i][k] += p.bytes;
	}
	return { names, bytes: table };
}

export function Matrix({ matrix }: { matrix: MatrixData }) {
	const most = Math.max(1, ...matrix.bytes.flat());
	return (
		<div class="table-wrap"><table class="matrix" aria-label="bytes from row to column">
			<thead><tr><th />{matrix.names.map((n) => <th>{n}</th>)}</tr></thead>
			<tbody>{matrix.bytes.map((row, i) => <tr><th>{matrix.names[i]}</th>{row.map((b) => <td><span class="heat" style={{ opacity: Math.sqrt(b / most) }} /><span class="over">{b ? bytes(b) : ''}</span></td>)}</tr>)}</tbody>
		</table></div>
	);
}
