// Hooks that the views share.
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { App, State } from './state';

/** The state, and a new look at it whenever it changes. */
export function useApp(app: App): State {
	const [, again] = useReducer((n: number) => n + 1, 0);
	useEffect(() => {
		let frame = 0; // many changes in a row are one look
		const stop = app.subscribe(() => { frame ||= requestAnimationFrame(() => { frame = 0; again(0); }); });
		again(0); // for what changed between the first look and now
		return () => { stop(); cancelAnimationFrame(frame); };
	}, [app]);
	return app.state;
}

/** What a promise comes to; asked for again when `keys` change. The last answer stays until the new one is there. */
export function useAnswer<T>(ask: () => Promise<T>, keys: unknown[], onError: (e: unknown) => void): { value: T | null; isBusy: boolean } {
	const [answer, setAnswer] = useState<T | null>(null);
	const [isBusy, setBusy] = useState(true);
	const turn = useRef(0);
	useEffect(() => {
		const mine = ++turn.current;
		setBusy(true);
		const timer = setTimeout(() => {
			ask().then((value) => { if (mine === turn.current) { setAnswer(value); setBusy(false); } },
				(error) => { if (mine === turn.current) { setBusy(false); onError(error); } });
		}, 60);
		return () => clearTimeout(timer);
	}, keys);
	return { value: answer, isBusy };
}

/** The size of an element as it changes. */
export function useSize<T extends HTMLElement>(): [preact.RefObject<T>, number, number] {
	const ref = useRef<T>(null);
	const [size, setSize] = useState<[number, number]>([0, 0]);
	useEffect(() => {
		const el = ref.current;
		if (!el) return;
		const look = () => setSize([el.clientWidth, el.clientHeight]);
		const observer = new ResizeObserver(look);
		observer.observe(el);
		look();
		return () => observer.disconnect();
	}, []);
	return [ref, size[0], size[1]];
}
