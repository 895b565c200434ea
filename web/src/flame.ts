// Flame graphs as trees: from the server's list of paths, or turned around to show who called what.
import type { Flame } from './api';

export interface Node {
	name: number; // 0: the root
	total: number;
	self: number;
	count: number;
	depth: number;
	parent: Node | null;
	children: Node[];
	x: number; // share of the whole where it begins
}

function make(name: number, parent: Node | null): Node {
	return { name, total: 0, self: 0, count: 0, depth: parent ? parent.depth + 1 : 0, parent, children: [], x: 0 };
}

function arrange(node: Node, x: number) {
	node.x = x;
	node.children.sort((a, b) => b.total - a.total);
	for (const child of node.children) {
		arrange(child, x);
		x += child.total;
	}
}

export function topDown(flame: Flame): Node {
	const nodes: Node[] = [];
	for (const [parent, name, count, total] of flame.nodes) {
		const node = make(name, parent < 0 ? null : nodes[parent]);
		node.total = node.self = total;
		node.count = count;
		if (node.parent) {
			node.parent.children.push(node);
			node.parent.self -= total;
		}
		nodes.push(node);
	}
	const root = nodes[0] ?? make(0, null);
	for (const node of nodes) node.self = Math.max(0, node.self);
	arrange(root, 0);
	return root;
}

/** Names by their own time; beneath each, its callers. */
export function bottomUp(root: Node): Node {
	const turned = make(0, null);
	const child = (at: Node, name: number) => {
		let found = at.children.find((c) => c.name === name);
		if (!found) at.children.push(found = make(name, at));
		return found;
	};
	const walk = (node: Node) => {
		if (node.parent && node.self > 0) {
			turned.total += node.self;
			let at = turned;
			for (let n: Node | null = node; n?.parent; n = n.parent) {
				at = child(at, n.name);
				at.total += node.self;
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

export function depthOf(node: Node): number {
	return node.children.reduce((most, c) => Math.max(most, depthOf(c)), node.depth);
}

/** The time of nodes whose name is wanted, none counted inside another. */
export function matched(node: Node, wanted: Set<number>): number {
	if (wanted.has(node.name)) return node.total;
	return node.children.reduce((sum, c) => sum + matched(c, wanted), 0);
}
