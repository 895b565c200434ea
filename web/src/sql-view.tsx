// Questions in SQL, read-only, with limits; see sonde-query(1).
import { useState } from 'preact/hooks';
import type { SqlAnswer } from './api';
import { copyText } from './copy';
import { count } from './format';
import type { App } from './state';
import { Table, type Column } from './table';
import { useApp } from './use';

const LIMIT = 1000;
const EXAMPLES: Array<[string, string]> = [
	['what there is', 'SELECT kind, name, meaning FROM tables WHERE "column" IS NULL'],
	['calls by time', 'SELECT call, count(*) AS n, sum(dur_ns) AS ns FROM calls GROUP BY call ORDER BY ns DESC LIMIT 20'],
	['99th percentiles', "SELECT * FROM quantile('io', 'dur_ns', 0.99, 'call')"],
	['functions', 'SELECT function, self_ns FROM functions LIMIT 20'],
];

type Row = SqlAnswer['rows'][0];

function csv(answer: SqlAnswer): string {
	const cell = (v: Row[0]) => v === null ? '' : /[",\n]/.test(String(v)) ? `"${String(v).replace(/"/g, '""')}"` : String(v);
	return [answer.columns, ...answer.rows].map((r) => r.map(cell).join(',')).join('\n');
}

export function SqlView({ app }: { app: App }) {
	const s = useApp(app);
	const [answer, setAnswer] = useState<SqlAnswer | null>(null), [said, setSaid] = useState(''), [isBusy, setBusy] = useState(false);
	const ask = async () => {
		setBusy(true);
		setSaid('');
		try {
			setAnswer(await app.source.sql(s.sql, LIMIT));
		} catch (error) {
			setSaid(String((error as Error).message));
		}
		setBusy(false);
	};
	const columns: Column<Row>[] = answer?.columns.map((title, i) => ({ title, key: `${i}`, isText: answer.rows.some((r) => typeof r[i] === 'string'),
		value: (r) => r[i] ?? '', show: (r) => r[i] === null ? <span class="quiet">null</span> : typeof r[i] === 'number' ? count(r[i] as number) : <span class="path" title={String(r[i])}>{r[i]}</span> })) ?? [];
	return (
		<div class="page">
			<div class="card">
				<textarea class="sql" data-testid="sql" rows={5} spellcheck={false} aria-label="SQL" placeholder="SELECT …" value={s.sql} onInput={(e) => app.set({ sql: e.currentTarget.value })}
					onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) void ask(); }} />
				<div class="toolbar"><button class="go" data-testid="sql-go" onClick={() => void ask()} disabled={isBusy || !s.sql.trim()}>{isBusy ? 'Asking…' : 'Run'}</button><span class="quiet">Ctrl + Enter · read-only, at most {count(LIMIT)} rows</span>
					{EXAMPLES.map(([title, text]) => <button class="plain" onClick={() => app.set({ sql: text })}>{title}</button>)}
					{answer && <button class="plain" onClick={() => void copyText(app, csv(answer), 'Copied as CSV.')}>Copy as CSV</button>}</div>
				{said && <p class="warn" role="alert" data-testid="sql-error">{said}</p>}
			</div>
			{answer && <div class="card answer" data-testid="sql-answer"><h2>{count(answer.rows.length)}{answer.is_all ? '' : '+'} rows</h2>
				<Table label="answer" rows={answer.rows} sort="" columns={columns} limit={200} empty="No rows." /></div>}
		</div>
	);
}
