// SPDX-License-Identifier: MIT
// Rows of intervals: calls, what threads did, checks, tasks, energies. And lines read together, as a number.

import { bound, duration } from "./time.js";

export const STRIP = 12, DEPTH = 15, DEPTHS_MOST = 14;
/** Marks, as the server tells them. */
const MADE_UP = 1, LOSS = 2, BAD = 4, UNSURE = 8, AWAY = 16;

/** Height of a row of intervals. @param {any} lane */
export const laneHeight = lane => 8 + (lane.states ? STRIP : 0) + DEPTH * Math.min(DEPTHS_MOST, Math.max(lane.states ? 0 : 1, lane.depths - (lane.states ? 1 : 0)));

/** Top and height of a depth within a row. */
function slot(lane, depth) {
	if (lane.states)
		return depth ? [4 + STRIP + (depth - 1) * DEPTH, DEPTH - 2] : [4, STRIP - 3];
	return [4 + depth * DEPTH, DEPTH - 2];
}

/** What a told interval is. @param {any} row @param {any[]} told */
export function intervalOf(row, told) {
	const [depth, begin, end, name, marks] = told;
	return told.length === 9 ? { row, depth, tick: begin, until: end, name, marks, n: told[5], longest: told[6], longestNs: told[7], share: told[8] } :
		{ row, depth, tick: begin, until: end, name, marks, half: told[5], apart: told[6] };
}

/** For selecting: as a record that begins there. @param {any} i @param {any} map of its clock @param {string[]} names */
export function selectable(i, map, names) {
	const own = map.bound(i.tick), half = i.n || own < 0 ? own : i.half;
	return { row: i.row, tick: i.tick, until: i.until, depth: i.depth, ns: map.time(i.tick), half, apart: i.n ? -1 : i.apart, marks: i.marks,
		capture: half < 0 || own < 0 ? 0 : Math.max(0, Math.ceil(half - own)),
		fields: i.n ? `${i.n} in all, at most ${duration(i.longestNs)} long (${names[i.longest]}); ${Math.round(100 * i.share)} % of their time or more: ${names[i.name]}` : names[i.name] };
}

const golden = name => Math.round(name * 137.508) % 360;

/**
 * Draw what is in view of a row of intervals, and note where it is.
 * @param {any} canvas @param {any} row @param {string} colour
 * @returns {boolean} whether all of it was there
 */
export function drawLane(canvas, row, colour) {
	const g = canvas.g, s = canvas.state, lane = row.lane, clock = s.session.clocks[lane.clock], dark = document.documentElement.dataset.theme === "dark";
	const { list, all } = s.session.intervals(lane, ...canvas.known(clock), canvas.pixel), map = s.map(clock), names = s.session.found.names;
	let words = 0;
	row.boxes = [];
	for (const told of list) {
		const i = intervalOf(row, told), [top, tall] = slot(lane, i.depth), x = canvas.x(map.time(i.tick)), end = canvas.x(map.time(i.until));
		if (i.depth - (lane.states ? 1 : 0) >= DEPTHS_MOST || end < canvas.left - 50 || x > canvas.w + 50)
			continue;
		const y = row.y + top, w = Math.max(1.4, end - x), strip = lane.states && i.depth === 0, a = Math.max(canvas.left - 2, x), shown = Math.min(canvas.w + 2, x + w) - a;
		row.boxes.push({ i, x, end: x + w, y, tall });
		if (strip && i.marks & AWAY) {
			g.fillStyle = canvas.alpha(colour, i.n ? .32 : .18);
			g.fillRect(a, i.n ? y : y + tall / 2 - 1, shown, i.n ? tall : 2);
		} else if (strip) {
			g.fillStyle = canvas.alpha(colour, i.n ? .85 : .65);
			g.fillRect(a, y, shown, tall);
		} else {
			g.fillStyle = i.marks & BAD ? canvas.colour.sel : i.marks & UNSURE ? canvas.colour.maybe : i.marks & AWAY ? canvas.colour.faint :
				`hsl(${golden(i.name)} ${dark ? "42% 36%" : "62% 80%"})`;
			g.fillRect(a, y, Math.max(1, shown - (shown > 3 ? 1 : 0)), tall);
			if (i.marks & (MADE_UP | LOSS) && shown > 2)
				canvas.hatch(a, y, shown, tall, canvas.colour.dim);
		}
		// where it begins and ends is known to within this
		const wide = i.half / canvas.pixel;
		if (!i.n && wide > 2.5 && wide < 1e4 && !s.raw) {
			g.strokeStyle = canvas.alpha(canvas.colour.ink, .55);
			g.lineWidth = 1;
			for (const at of [x, end])
				canvas.line([at - wide, y + tall], [at + wide, y + tall]);
		}
		if (shown > 26 && !(strip && !(i.marks & AWAY)) && words++ < 1500) {
			const text = i.n ? `${i.n} × ${names[i.name]}${i.share < .995 ? ", …" : ""}` : names[i.name];
			canvas.fitted(text, a + 4, y + tall - (strip ? 1 : 3), shown - 6, canvas.colour.ink, strip ? canvas.small : canvas.label);
		}
	}
	row.sums = null;
	return all;
}

/** The interval at a point. @param {any} row @param {number} x @param {number} y */
export function laneAt(row, x, y) {
	let best = null;
	for (const b of row.boxes || [])
		if (y >= b.y - 1 && y <= b.y + b.tall + 2 && x >= b.x - 3 && x <= b.end + 3 && (!best || Math.abs(x - (b.x + b.end) / 2) < Math.abs(x - (best.x + best.end) / 2)))
			best = b;
	return best;
}

/**
 * The interval after (before) @tick in a row, at a depth: looked for in wider and wider parts, then within what is told as one.
 * @param {any} session @param {any} row @param {number} depth @param {number} tick @param {boolean} forward
 */
export async function nextInterval(session, row, depth, tick, forward) {
	const map = session.clocks[row.lane.clock].map, whole = session.to - session.from;
	const look = async (from, to, width) => {
		const found = (await session.askIntervals(row.lane, Math.floor(from), Math.ceil(to), Math.max(1, Math.floor(width)))).map(t => intervalOf(row, t))
			.filter(i => i.depth === depth && (forward ? i.tick > tick : i.tick < tick));
		return forward ? found[0] : found[found.length - 1];
	};
	for (let span = Math.max(1000, whole / 4096); span < 8 * whole + 1e4; span *= 4) {
		const at = map.time(tick);
		let from = forward ? at : at - span, to = forward ? at + span : at, width = span / 256, last = null;
		for (let deep = 0; deep < 40; deep++) {
			const i = await look(from, to, width);
			if (!i)
				break;
			if (!i.n || (last && i.tick === last.tick && i.until === last.until))
				return i; // one, or more than can be told apart
			last = i;
			from = map.time(i.tick) - 1;
			to = map.time(i.until) + 1;
			width = Math.max(1, (to - from) / 256);
		}
	}
	return null;
}

/** About an interval, for the panel. @param {any} e */
export const lengthOf = (e, map) => duration(map.time(e.until) - map.time(e.tick)) + " " + bound(e.apart);

/** Words for its marks. @param {number} marks */
export const marksOf = marks => [marks & MADE_UP && "an end was not seen", marks & LOSS && "records were lost in it"].filter(Boolean).join("; ");

/** Names of the numbers among the fields of events. @param {any[]} events */
export const numbersOf = events => [...new Set(events.flatMap(e => [...(e.fields || "").matchAll(/(\w+) = -?\d/g)].map(m => m[1])))];

/** A number that events carry, from one to the next. @param {any} canvas @param {any} row @param {string} colour */
export function drawCurve(canvas, row, colour) {
	const g = canvas.g, s = canvas.state, find = new RegExp(`\\b${row.curve} = (-?\\d[\\d.e+-]*)`), points = [];
	for (const e of row.edges) {
		const m = find.exec(e.fields || "");
		if (m)
			points.push([canvas.x(e.ns), +m[1]]);
	}
	const seen = points.filter((p, i) => p[0] <= canvas.w && (i + 1 === points.length || points[i + 1][0] >= canvas.left));
	if (!seen.length)
		return;
	const low = seen.reduce((a, p) => Math.min(a, p[1]), Infinity), high = seen.reduce((a, p) => Math.max(a, p[1]), -Infinity);
	const y = v => row.y + row.h - 4 - (high > low ? (v - low) / (high - low) : .5) * (row.h - 8);
	g.strokeStyle = colour;
	g.lineWidth = 1.4;
	canvas.line(...seen.flatMap((p, i) => i ? [[p[0], y(seen[i - 1][1])], [p[0], y(p[1])]] : [[p[0], y(p[1])]]), [Math.min(canvas.w, canvas.x(Math.min(s.to, s.session.to))), y(seen[seen.length - 1][1])]);
	row.unit = [low, high];
}

/** Lines together, as a number: the first is its highest bit. @param {any} canvas @param {any} row @param {any} seen @param {string} colour */
export function drawBus(canvas, row, seen, colour) {
	const g = canvas.g, top = row.y + 5, h = row.h - 10, parts = [];
	const value = r => row.bus.reduce((v, line) => v * 2 + (r[line >> 5] >>> (line & 31) & 1), 0);
	let last = null;
	row.edges = [];
	for (const tile of seen.records) {
		if (last === null)
			parts.push([seen.stream.first, last = value(tile.begin)]);
		for (const r of tile.records) {
			if (r[1] !== "edge" && r[1] !== "state")
				continue;
			const now = value(r.slice(4));
			if (now === last)
				continue;
			parts.push([r[0], last = now]);
			row.edges.push({ row, tick: r[0], ns: seen.map.time(r[0]), half: canvas.state.raw ? -1 : r[2], capture: r[3], fields: "0x" + now.toString(16) });
		}
	}
	parts.push([seen.stream.last, last]);
	canvas.sum(row, seen, row.edges.filter(e => e.ns >= canvas.state.from && e.ns < canvas.state.to).length);
	g.strokeStyle = colour;
	g.lineWidth = 1.3;
	for (let k = 0; k + 1 < parts.length; k++) {
		const a = canvas.x(seen.map.time(parts[k][0])), b = canvas.x(seen.map.time(parts[k + 1][0]));
		if (b < canvas.left || a > canvas.w)
			continue;
		g.fillStyle = canvas.alpha(colour, .12);
		g.fillRect(a, top, b - a, h);
		g.strokeRect(a, top, b - a, h);
		const from = Math.max(a, canvas.left);
		if (Math.min(b, canvas.w) - from > 22)
			canvas.fitted("0x" + parts[k][1].toString(16), from + 4, top + h - 4, Math.min(b, canvas.w) - from - 6, canvas.colour.ink, canvas.label);
	}
}
