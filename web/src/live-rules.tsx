// Rules and regulators with their states and why; what was done, newest first.
import { useState } from 'preact/hooks';
import { percent, short } from './format';
import type { Controller, JournalLine, RegulatorState, RuleState } from './live';

const TONES: Record<RuleState['state'], string> = { idle: 'quiet', pending: 'warn', firing: 'bad', cooling: 'warn' };
const WORDS: Record<RuleState['state'], string> = { idle: 'idle', pending: 'pending', firing: 'firing', cooling: 'cooling down' };
const truth = (v: boolean | null) => v === null ? 'unknown' : v ? 'true' : 'false';

function Rule({ rule }: { rule: RuleState }) {
	return (
		<li data-rule={rule.name} data-state={rule.state}>
			<h3><span class={`state ${TONES[rule.state]}`}>{WORDS[rule.state]}</span> {rule.name}<small>{rule.fired ? `fired ${rule.fired} time${rule.fired === 1 ? '' : 's'}` : 'has not fired'}</small></h3>
			<p><span class="quiet">when</span> <code>{rule.when}</code> <span class="quiet">is {truth(rule.condition)}</span></p>
			{rule.why && <p class="why" data-testid="why"><span class="quiet">because</span> {rule.why}</p>}
		</li>
	);
}

function Regulator({ r }: { r: RegulatorState }) {
	return (
		<li data-regulator={r.name}>
			<h3><span class={`state ${r.is_saturated ? 'bad' : 'good'}`}>{r.is_saturated ? 'no way left' : 'regulating'}</span> {r.name}
				<small>{r.value === null ? 'unknown' : short(Number(r.value.toPrecision(4)))}, wanted {short(r.target)}</small></h3>
			<p><span class="quiet">measure</span> <code>{r.measure}</code></p>
			{r.rungs.map((rung) => <p class="rung"><code>{rung.act}</code><span class="effort"><i style={{ width: `${Math.max(0, Math.min(1, rung.effort)) * 100}%` }} /></span>
				<span class="quiet">{percent(rung.effort)}{rung.value !== null ? `, now ${short(Number(rung.value.toPrecision(4)))}` : ''}</span></p>)}
		</li>
	);
}

export function Rules({ controller, onSwitch }: { controller: Controller | null; onSwitch: (isOn: boolean) => void }) {
	const [isSure, setSure] = useState(false);
	if (!controller) return <div class="card quiet" data-testid="rules">There are no rules: sonde live --rules FILE acts on these metrics.</div>;
	const { rules, regulators } = controller, isOff = controller.is_off;
	const press = () => {
		if (!isOff && !isSure) { setSure(true); return; }
		setSure(false);
		onSwitch(isOff);
	};
	return (
		<div class="card" data-testid="rules">
			<h2><span>Rules{controller.is_dry_run && <small class="warn">a dry run: nothing is done</small>}{isOff && <small class="warn">switched off: everything stands as it was</small>}</span>
				<button data-testid="switch" onClick={press} onBlur={() => setSure(false)}>{isOff ? 'Switch on' : isSure ? 'Put everything back?' : 'Switch off'}</button></h2>
			<ul class="plain-list rules">{rules.map((r) => <Rule rule={r} />)}{regulators.map((r) => <Regulator r={r} />)}</ul>
		</div>
	);
}

const clock = (time: string) => { const at = new Date(time); return isNaN(at.getTime()) ? time : at.toLocaleTimeString(); };
const RESULT: Record<string, string> = { done: 'good', failed: 'bad', refused: 'warn' };

export function Journal({ lines, hasController }: { lines: JournalLine[]; hasController: boolean }) {
	const [isAll, setAll] = useState(false), newest = [...lines].reverse(), few = isAll ? newest : newest.slice(0, 20);
	if (!hasController) return null;
	return (
		<div class="card" data-testid="journal">
			<h2>Journal</h2>
			{!lines.length && <p class="quiet">Nothing was done yet.</p>}
			<ul class="plain-list journal">{few.map((l) => (
				<li data-result={l.result}>
					<time title={l.time}>{clock(l.time)}</time>
					<span><b>{l.rule ?? 'controller'}</b> {l.action && <code>{l.action}</code>} <span class={RESULT[l.result ?? ''] ?? 'quiet'}>{l.result}</span>
						{l.before !== undefined && l.after !== undefined && <span class="quiet" title={l.place}> {l.before} → <b>{l.after}</b></span>}
						{l.message && <span class="warn"> {l.message}</span>}
						{l.why && <small>{l.why}</small>}</span>
				</li>))}</ul>
			{newest.length > few.length && <button class="more" onClick={() => setAll(true)}>{newest.length - few.length} more</button>}
		</div>
	);
}
