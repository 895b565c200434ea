// A table that sorts by its columns.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

export interface Column<T> {
	title: string;
	key: string;
	value: (row: T) => number | string; // what it sorts by
	show?: (row: T) => ComponentChildren;
	bar?: (row: T) => number; // 0..1, drawn behind
	isText?: boolean;
}

export function Table<T>(props: { columns: Column<T>[]; rows: T[]; sort: string; limit?: number; onRow?: (row: T) => void; label: string; empty?: string; rowClass?: (row: T) => string }) {
	const [sort, setSort] = useState({ key: props.sort, isUp: false });
	const [isAll, setAll] = useState(false);
	const column = props.columns.find((c) => c.key === sort.key) ?? props.columns[0];
	const rows = useMemo(() => {
		if (!sort.key) return props.rows; // as they came
		const sign = sort.isUp ? 1 : -1;
		return [...props.rows].sort((a, b) => {
			const x = column.value(a), y = column.value(b);
			return sign * (x < y ? -1 : x > y ? 1 : 0);
		});
	}, [props.rows, sort, column]);
	const limit = isAll ? rows.length : props.limit ?? 50;
	if (!rows.length) return <p class="quiet">{props.empty ?? 'Nothing here.'}</p>;
	return (
		<div class="table-wrap">
			<table aria-label={props.label}>
				<thead>
					<tr>
						{props.columns.map((c) => (
							<th class={c.isText ? 'text' : ''} aria-sort={c.key === sort.key ? (sort.isUp ? 'ascending' : 'descending') : 'none'}>
								<button onClick={() => setSort({ key: c.key, isUp: c.key === sort.key ? !sort.isUp : !!c.isText })}>
									{c.title}{c.key === sort.key ? (sort.isUp ? ' ↑' : ' ↓') : ''}
								</button>
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.slice(0, limit).map((row) => (
						<tr class={`${props.onRow ? 'link' : ''} ${props.rowClass?.(row) ?? ''}`} tabIndex={props.onRow ? 0 : undefined} onClick={() => props.onRow?.(row)}
							onKeyDown={(e) => { if (e.key === 'Enter') props.onRow?.(row); }}>
							{props.columns.map((c) => (
								<td class={c.isText ? 'text' : ''}>
									{c.bar && <span class="bar" style={{ width: `${Math.max(0, Math.min(1, c.bar(row))) * 100}%` }} />}
									<span class="over">{c.show ? c.show(row) : c.value(row)}</span>
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
			{rows.length > limit && <button class="more" onClick={() => setAll(true)}>{rows.length - limit} more</button>}
		</div>
	);
}

export function Chip(props: { color: string; text: string; note?: string }) {
	return <span class="chip"><i style={{ background: props.color }} />{props.text}{props.note && <small>{props.note}</small>}</span>;
}
