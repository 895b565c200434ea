// What numbers are of: the brushed stretch or the whole run, and the way back to the whole.
import { count, duration, tick } from './format';
import type { App } from './state';

/** Which threads, when it is not all of them. */
export function OfThreads({ app }: { app: App }) {
	const { brush } = app.state;
	if (!brush?.threads) return null;
	return <> of {brush.threads.length === 1 ? '1 thread' : `${count(brush.threads.length)} threads`} · <button class="plain" data-testid="all-threads" onClick={() => app.set({ brush: { from: brush.from, to: brush.to } })}>all threads</button></>;
}

export function ScopeNote({ app, whole = 'whole run' }: { app: App; whole?: string }) {
	const { brush } = app.state, back = <button class="plain" onClick={() => app.set({ brush: null })}>whole run</button>;
	if (!brush) return <>{whole}</>;
	if (!app.source.isLive) return <>{whole}: a report has no sums of stretches</>;
	return <>{duration(brush.to - brush.from)} from {tick(brush.from, 1e3)}<OfThreads app={app} /> · {back}</>;
}
