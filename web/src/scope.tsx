// What numbers are of: the brushed stretch or the whole run, and the way back to the whole.
import { duration, tick } from './format';
import type { App } from './state';

export function ScopeNote({ app, whole = 'whole run' }: { app: App; whole?: string }) {
	const { brush } = app.state, back = <button class="plain" onClick={() => app.set({ brush: null })}>whole run</button>;
	if (!brush) return <>{whole}</>;
	if (!app.source.isLive) return <>{whole}: a report has no sums of stretches</>;
	return <>{duration(brush.to - brush.from)} from {tick(brush.from, 1e3)} · {back}</>;
}
