// Flame graphs as trees of texts: from the server's list of paths, turned around to show who called what, or beside those of
// another run or stretch.
import type { Flame } from './api';

export interface Node {
	text: string; // '' of the root
	total: number;
	self: number;
	count: number;
	base: number; // what it is compared with has this much; 0 without
	baseSelf: number;
	depth: number;
	parent: Node | null;
	children: Node[];
	x: number; // where it begins, in units of the whole
}

function make(text: string, parent: Node | null): Node {
	return { text, total: 0, self: 0, count: 0, base: 0, baseSelf: 0, depth: parent ? parent.depth + 1 : 0, parent, children: [], x: 0 };
}

function arrange(node: Node, x: number) {
	node.x = x;
	node.children.sort((a, b) => b.total - a.total);
	for (const child of node.children) {
		arrange(child, x);
		x += child.total;
	}
}

export function topDown(flame: Flame, textOf: (name: number) => string): Node {
	const nodes: Node[] = [];
	for (const [parent, name, count, total] of flame.nodes) {
		const node = make(parent < 0 ? '' : textOf(name), parent < 0 ? null : nodes[parent]);
		node.total = node.self = total;
		node.count = count;
		if (node.parent) {
			node.parent.children.push(node);
			node.parent.self -= total;
		}
		nodes.push(node);
	}
	const root = nodes[0] ?? make('', null);
	for (const node of nodes) node.self = Math.max(0, node.self);
	arrange(root, 0);
	return root;
}

function childOf(at: Node, text: string): Node {
	let found = at.children.find((c) => c.text === text);
	if (!found) at.children.push(found = make(text, at));
	return found;
}

/** Trees added up. */
export function together(trees: Node[]): Node {
	const sum = make('', null);
	const add = (into: Node, from: Node) => {
		into.total += from.total;
		into.self += from.self;
		into.count += from.count;
		for (const child of from.children) add(childOf(into, child.text), child);
	};
	for (const tree of trees) add(sum, tree);
	arrange(sum, 0);
	return sum;
}

/** Names by their own time; beneath each, its callers. */
export function bottomUp(root: Node): Node {
	const turned = make('', null);
	const walk = (node: Node) => {
		if (node.parent && (node.self > 0 || node.baseSelf > 0)) {
			turned.total += node.self;
			turned.base += node.baseSelf;
			let at = turned;
			for (let n: Node | null = node; n?.parent; n = n.parent) {
				at = childOf(at, n.text);
				at.total += node.self;
				at.base += node.baseSelf;
				at.count += node.count;
			}
			at.self += node.self;
		}
		node.children.forEach(walk);
	};
	walk(root);
	turned.count = root.count;
	arrange(turned, 0);
	return turned;
}

/** Puts what another tree has beside each node; scale: of the other's times, so that wholes are alike. */
export function compare(node: Node, other: Node | undefined, scale: number) {
	node.base = (other?.total ?? 0) * scale;
	node.baseSelf = (other?.self ?? 0) * scale;
	const theirs = new Map(other?.children.map((c) => [c.text, c]));
	for (const child of node.children) {
		compare(child, theirs.get(child.text), scale);
		theirs.delete(child.text);
	}
	for (const gone of theirs.values()) {
		const child = make(gone.text, node);
		node.children.push(child);
		compare(child, gone, scale);
	}
}

export function depthOf(node: Node): number {
	return node.children.reduce((most, c) => c.total > 0 ? Math.max(most, depthOf(c)) : most, node.depth);
}

/** The time of nodes whose name is wanted, none counted inside another. */
export function matched(node: Node, isWanted: (text: string) => boolean): number {
	if (node.text && isWanted(node.text)) return node.total;
	return node.children.reduce((sum, c) => sum + matched(c, isWanted), 0);
}

export interface FlameRow { text: string; self: number; total: number; count: number; base: number }

/** Names with their own time, and their time with what they called, each stack counted once. */
export function tableOf(root: Node): FlameRow[] {
	const rows = new Map<string, FlameRow>();
	const walk = (node: Node, open: Set<string>) => {
		let row = rows.get(node.text);
		if (node.parent) {
			if (!row) rows.set(node.text, row = { text: node.text, self: 0, total: 0, count: 0, base: 0 });
			row.self += node.self;
			row.base += node.baseSelf;
			row.count += node.count;
			if (!open.has(node.text)) row.total += node.total;
		}
		const isFirst = node.parent && !open.has(node.text);
		if (isFirst) open.add(node.text);
		for (const child of node.children) walk(child, open);
		if (isFirst) open.delete(node.text);
	};
	walk(root, new Set());
	return [...rows.values()];
}
