// A study of `sonde tune`: verdict, best and default, convergence, front, steps, what matters, trials.
import { useEffect, useState } from 'preact/hooks';
import { short } from './format';
import { Table, type Column } from './table';

type Value = number | string | boolean;
interface Trial { id: number; state: string; params: Record<string, Value>; values?: Record<string, number | null>; repeats: number; rungs?: Array<number | null> }
type Interval = { estimate: number; lo: number; hi: number; n: number; method: string };
export interface Study {
	study: string; seed: number; method: string; is_paired: boolean; is_running: boolean; is_interrupted: boolean; trials_wanted: number;
	done: number; cut: number; failed: number; verdict: string; gives_up: string | null; gain: string; ratio: Interval | null; unused_knob?: string;
	best: { id: number; params: Record<string, Value>; value: number | null; lo: number | null; hi: number | null } | null; default: Trial | null;
	objectives: Array<{ name: string; goal: 'minimize' | 'maximize' }>; importance: Record<string, number> | null;
	dependence: Record<string, Array<[Value, number | null, number | null, number | null]>> | null; front?: number[]; trials: Trial[];
}

export async function fetchStudy(): Promise<Study> {
	const response = await fetch('/api/study');
	if (!response.ok) throw new Error(`the study cannot be read: ${await response.text()}`);
	return await response.json() as Study;
}

const W = 640, H = 240, LEFT = 58, BOTTOM = 24;
const known = (v: number | null | undefined): v is number => v !== null && v !== undefined && isFinite(v);

/** Both axes of a picture; logarithmic where values span more than a factor of 20. */
function scale(values: number[], from: number, to: number) {
	let lo = Math.min(...values), hi = Math.max(...values);
	const isLog = lo > 0 && hi > 20 * lo, at = isLog ? Math.log : (v: number) => v;
	if (!(hi > lo)) { lo -= Math.abs(lo) * 0.1 + 1e-9; hi += Math.abs(hi) * 0.1 + 1e-9; }
	const place = (v: number) => from + (at(Math.min(Math.max(v, lo), hi)) - at(lo)) / (at(hi) - at(lo)) * (to - from);
	return { place, ticks: [0, 0.5, 1].map((s) => isLog ? lo * (hi / lo) ** s : lo + (hi - lo) * s) };
}

function Frame(p: { title: string; y: ReturnType<typeof scale>; left: string; right: string; width?: number; height?: number; children: preact.ComponentChildren }) {
	const height = p.height ?? H, width = p.width ?? W;
	return (
		<svg class="plot" role="img" viewBox={`0 0 ${width} ${height}`} aria-label={p.title}>
			{p.y.ticks.map((t) => <g><line class="grid" x1={LEFT} x2={width - 8} y1={p.y.place(t)} y2={p.y.place(t)} /><text x={LEFT - 6} y={p.y.place(t) + 4} text-anchor="end">{short(t)}</text></g>)}
			{p.children}
			<text x={LEFT} y={height - 6}>{p.left}</text><text x={width - 8} y={height - 6} text-anchor="end">{p.right}</text>
		</svg>
	);
}

const line = (points: Array<[number, number]>) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');

function Convergence({ s }: { s: Study }) {
	const { name, goal } = s.objectives[0], rows = s.trials.filter((t) => known(t.values?.[name]));
	if (!rows.length) return null;
	const y = scale(rows.map((t) => t.values![name]!), H - BOTTOM, 10), last = Math.max(2, s.trials.length);
	const x = (t: Trial) => LEFT + (s.trials.indexOf(t)) / (last - 1) * (W - LEFT - 12);
	let best = NaN;
	const steps: Array<[number, number]> = [];
	for (const t of rows) {
		const v = t.values![name]!, isBetter = !(goal === 'minimize' ? v >= best : v <= best);
		if (t.state !== 'done' || !isBetter) continue;
		if (steps.length) steps.push([x(t), y.place(best)]);
		steps.push([x(t), y.place(best = v)]);
	}
	if (steps.length) steps.push([W - 12, y.place(best)]);
	return (
		<div class="card" data-testid="convergence"><h2>Convergence</h2>
			<Frame title="convergence" y={y} left="trial 1" right={String(s.trials.length)}>
				<polyline class="line best" points={line(steps)} />
				{rows.map((t) => <circle class={`dot ${t.state}`} cx={x(t)} cy={y.place(t.values![name]!)} r={t.id === s.best?.id ? 6 : 3.5}><title>{`trial ${t.id}: ${short(t.values![name]!)}`}</title></circle>)}
			</Frame><p class="quiet">{name} of each trial, and the best so far{s.is_paired && '; each by the default’s'}</p></div>
	);
}

function Front({ s, a, b }: { s: Study; a: string; b: string }) {
	const rows = s.trials.filter((t) => known(t.values?.[a]) && known(t.values?.[b]));
	if (!rows.length) return null;
	const y = scale(rows.map((t) => t.values![b]!), H - BOTTOM, 10), x = scale(rows.map((t) => t.values![a]!), LEFT, W - 12), on = new Set(s.front);
	const front = rows.filter((t) => on.has(t.id)).sort((p, q) => p.values![a]! - q.values![a]!);
	return (
		<div class="card" data-testid="front"><h2>{b} by {a}</h2>
			<Frame title={`${b} by ${a}`} y={y} left={short(x.ticks[0])} right={short(x.ticks[2])}>
				{s.objectives.length === 2 && <polyline class="line best" points={line(front.map((t) => [x.place(t.values![a]!), y.place(t.values![b]!)]))} />}
				{rows.map((t) => <circle class={`dot ${on.has(t.id) ? 'front' : 'dim'}`} cx={x.place(t.values![a]!)} cy={y.place(t.values![b]!)} r={on.has(t.id) ? 5 : 3}><title>{`trial ${t.id}`}</title></circle>)}
			</Frame><p class="quiet">{on.size} of {rows.length} trials: nothing is better in everything</p></div>
	);
}

function Curves({ s }: { s: Study }) {
	const rows = s.trials.filter((t) => t.rungs?.some(known)).slice(-60);
	if (!rows.length) return null;
	const longest = Math.max(2, ...rows.map((t) => t.rungs!.length)), y = scale(rows.flatMap((t) => t.rungs!.filter(known)), H - BOTTOM, 10);
	const x = (i: number) => LEFT + i / (longest - 1) * (W - LEFT - 12);
	const points = (t: Trial) => line(t.rungs!.map((v, i): [number, number | null] => [x(i), v]).filter((p): p is [number, number] => known(p[1])).map(([px, v]) => [px, y.place(v)]));
	return (
		<div class="card" data-testid="curves"><h2>Loss curves</h2>
			<Frame title="steps" y={y} left="step 1" right={String(2 ** (longest - 1))}>
				{rows.map((t) => <polyline class={`line thin ${t.id === s.best?.id ? 'best' : t.state}`} points={points(t)}><title>{`trial ${t.id}`}</title></polyline>)}
			</Frame><p class="quiet">best value of each trial after 1, 2, 4, 8, … steps</p></div>
	);
}

function Gain({ ratio }: { ratio: Interval }) {
	const far = Math.max(0.02, 1.15 * Math.max(Math.abs(1 - ratio.lo), Math.abs(1 - ratio.hi))), x = (v: number) => LEFT + (v - 1 + far) / (2 * far) * (W - LEFT - 12);
	return (
		<svg class="plot" role="img" viewBox={`0 0 ${W} 64`} aria-label="best by default" data-testid="gain">
			<line class="zero" x1={x(1)} x2={x(1)} y1="4" y2="44" /><line class="span" x1={x(ratio.lo)} x2={x(ratio.hi)} y1="24" y2="24" /><circle class="dot" cx={x(ratio.estimate)} cy="24" r="6" />
			<text x={x(1)} y="58" text-anchor="middle">default</text><text x={x(ratio.estimate)} y="14" text-anchor="middle">{`${ratio.estimate.toFixed(3)} [${ratio.lo.toFixed(3)}, ${ratio.hi.toFixed(3)}]`}</text>
		</svg>
	);
}

function Dependence({ name, rows, share }: { name: string; rows: Array<[Value, number | null, number | null, number | null]>; share: number }) {
	const width = 300, height = 130, all = rows.flatMap((r) => r.slice(1) as Array<number | null>).filter(known);
	if (all.length < 2) return null;
	const y = scale(all, height - BOTTOM, 8), x = (i: number) => LEFT + (rows.length < 2 ? 0.5 : i / (rows.length - 1)) * (width - LEFT - 12);
	const side = (k: 2 | 3) => rows.map((r, i): [number, number] => [x(i), y.place(r[k] ?? (k === 2 ? y.ticks[0] : y.ticks[2]))]);
	return (
		<figure class="small-plot"><figcaption>{name} <small>{(100 * share).toFixed(0)} %</small></figcaption>
			<Frame title={name} y={y} left={String(show(rows[0][0]))} right={String(show(rows[rows.length - 1][0]))} width={width} height={height}>
				<polygon class="band" points={line([...side(2), ...side(3).reverse()])} />
				<polyline class="line" points={line(rows.map((r, i): [number, number | null] => [x(i), r[1]]).filter((p): p is [number, number] => known(p[1])).map(([px, v]) => [px, y.place(v)]))} />
			</Frame></figure>
	);
}

const show = (v: Value | undefined) => v === undefined ? '–' : typeof v === 'number' ? short(v) : String(v);

function Best({ s }: { s: Study }) {
	if (!s.best) return null;
	const names = Object.keys({ ...s.default?.params, ...s.best.params }), objective = s.objectives[0].name;
	return (
		<div class="card" data-testid="best"><h2>{s.objectives.length > 1 ? `Best for ${objective}, and default` : 'Best and default'}</h2>
			<div class="table-wrap"><table aria-label="best and default"><thead><tr><th class="text">parameter</th><th>default</th><th>best</th><th>matters</th></tr></thead><tbody>
				{names.map((n) => <tr><td class="text">{n}</td><td>{show(s.default?.params[n])}</td><td>{s.default?.params[n] === s.best!.params[n] ? show(s.best!.params[n]) : <b>{show(s.best!.params[n])}</b>}</td><td>{s.importance?.[n] === undefined ? '–' : `${(100 * s.importance[n]).toFixed(0)} %`}</td></tr>)}
			</tbody></table></div>
			<p>expected {objective}{s.is_paired && ' (by the default’s)'}: <b>{known(s.best.value) ? short(s.best.value) : '–'}</b>{known(s.best.lo) && known(s.best.hi) && ` [${short(s.best.lo)}, ${short(s.best.hi)}]`} · trial {s.best.id}</p>
			{s.ratio && known(s.ratio.lo) && known(s.ratio.hi) && <><Gain ratio={s.ratio} /><p class="quiet">best by default, 95 % of {s.ratio.n} pairs ({s.ratio.method})</p></>}
		</div>
	);
}

function Trials({ s }: { s: Study }) {
	const metrics = [...new Set(s.trials.flatMap((t) => Object.keys(t.values ?? {})))], params = [...new Set(s.trials.flatMap((t) => Object.keys(t.params)))];
	const columns: Column<Trial>[] = [
		{ title: 'trial', key: 'id', value: (t) => t.id }, { title: 'state', key: 'state', isText: true, value: (t) => t.state },
		...metrics.map((m): Column<Trial> => ({ title: m, key: `m:${m}`, value: (t) => t.values?.[m] ?? Infinity, show: (t) => known(t.values?.[m]) ? short(t.values![m]!) : '–' })),
		...params.map((n): Column<Trial> => ({ title: n, key: `p:${n}`, value: (t) => { const v = t.params[n]; return typeof v === 'boolean' ? Number(v) : v ?? ''; }, show: (t) => show(t.params[n]) })),
	];
	return <div class="card" data-testid="trials"><h2>Trials</h2><Table label="trials" rows={s.trials} sort="id" limit={100} columns={columns} rowClass={(t) => t.id === s.best?.id ? 'best' : t.state} /></div>;
}

export function StudyPage({ first }: { first: Study }) {
	const [s, set] = useState(first);
	useEffect(() => {
		if (!s.is_running) return;
		const timer = setTimeout(() => void fetchStudy().then((next) => set(next), () => set({ ...s })), 2000);
		return () => clearTimeout(timer);
	}, [s]);
	const names = s.objectives.map((o) => o.name), pairs = names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));
	const byShare = Object.entries(s.dependence ?? {}).sort(([a], [b]) => (s.importance?.[b] ?? 0) - (s.importance?.[a] ?? 0));
	return (
		<><header><b class="logo">sonde</b><span class="run-name">{s.study}</span>{s.is_running && <span class="live">running: {s.trials.length} of {s.trials_wanted}</span>}</header>
			<main class="page study">
				<div class="card hero"><h2 data-testid="verdict">{s.verdict}</h2>
					{s.gives_up && <p class="warn" data-testid="gives-up">{s.gives_up}</p>}{s.unused_knob && <p class="warn">no run has read the knob {s.unused_knob}</p>}
					<p class="quiet">{s.done} trials done, {s.cut} cut, {s.failed} failed · seed {s.seed} · method {s.method}{s.is_paired && ' · each trial beside the best so far'}{s.is_interrupted && ' · interrupted'}</p></div>
				<div class="columns"><Best s={s} /><Convergence s={s} />{pairs.map(([a, b]) => <Front s={s} a={a} b={b} />)}<Curves s={s} /></div>
				{byShare.length > 0 && <div class="card" data-testid="dependence"><h2>What each parameter does</h2><p class="quiet">the expected {names[0]} when the others are averaged over, 95 % around it; the share of the variance that the parameter explains alone</p>
					<div class="small-plots">{byShare.map(([name, rows]) => <Dependence name={name} rows={rows} share={s.importance?.[name] ?? 0} />)}</div></div>}
				<Trials s={s} />
			</main></>
	);
}
