// Text for the clipboard; where there is none, the text itself is shown.
import type { App } from './state';

export async function copyText(app: App, text: string, said: string) {
	try {
		await navigator.clipboard.writeText(text);
		app.set({ notice: said });
	} catch {
		app.set({ notice: text });
	}
}
