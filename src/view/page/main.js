// SPDX-License-Identifier: MIT
// The page: what is looked at, keys, pointer, and the panel about what is selected.

import { CHANNELS, Session } from "./data.js";
import { AXIS, Canvas, HEAD, LANE, LEFT, OVERVIEW } from "./draw.js";
import { bound, duration, instant } from "./time.js";

const $ = id => document.getElementById(id);
const NEAR = 8, LEAST = 20, NEWS_MS = 150; // records that are compared with the selection; ns in a view

const state = {
	session: null, from: 0, to: 1, top: 0, groups: [], row: null, selected: null, near: [], unclear: [], measured: null,
	anchor: null, raw: false, quiet: false, follow: false, folded: new Set(), wiggle: null, views: [],
	blank: 0, waiting: 0, // streams of which nothing, or less than is wanted, was drawn
	links: [], // messages in view
	still: location.hash.split("&").includes("still"), // for a picture: nothing moves, and there may be no frames to wait for
	/** The map that is used now. */
	map(clock) {
		const map = state.raw ? clock.raw : clock.map, slide = state.wiggle ? state.wiggle.get(clock) : 0;
		return slide ? { time: t => map.time(t) + slide, at: ns => map.at(ns - slide), bound: t => map.bound(t) } : map;
	},
	/** Where a record is drawn now. */
	now(e) {
		return state.map(state.session.clocks[e.row.stream.clock]).time(e.tick);
	},
};
const canvas = new Canvas($("canvas"), state);

if (state.still) // a browser whose time is not real leaps over time in which nothing happens, although answers are on their way
	setInterval(() => document.body.dataset.ready === "yes" || later(), 10);

let frame = 0;
function later() {
	if (!frame && state.session)
		frame = (state.still ? setTimeout : requestAnimationFrame)(() => {
			frame = 0;
			layout();
			canvas.draw();
			compare();
			note();
		});
}

function complain(error) {
	$("message").textContent = error.message;
}

/* ---- rows ---- */

function arrange() {
	const colours = ["n0", "n1", "n2", "n3", "n4", "n5"];
	state.groups = state.session.clocks.map((clock, i) => {
		const streams = state.session.streams.filter(s => s.clock === i), rows = [];
		let quiet = 0;
		for (const stream of streams) {
			const several = streams.length > 1 ? stream.name + " " : "";
			const add = (row, track) => {
				if (state.quiet || !stream.used || stream.used.has(track))
					rows.push(row);
				else
					quiet++;
			};
			stream.lines.forEach((name, line) => add({ stream, name: name || "D" + line, line }, line));
			stream.channels.forEach((name, channel) => add({ stream, name: name || "A" + channel, channel }, CHANNELS + channel));
			stream.events.forEach((name, cls) => {
				if (stream.used && stream.used.has(stream.classes + cls))
					rows.push({ stream, name: several + name, class: cls });
			});
		}
		const folded = state.folded.has(clock.name);
		return { name: clock.name, clock, streams, rows: folded ? [] : rows, quiet, folded: folded ? rows.length : 0, colour: colours[i % colours.length] };
	});
	// what is selected is in rows of now
	const rows = visibleRows(), same = was => was && rows.find(r => r.stream === was.stream && r.name === was.name) || null;
	state.row = same(state.row);
	for (const e of [state.selected, state.anchor, ...state.near.map(n => n.e), ...state.unclear, ...(state.measured ? [state.measured.from, state.measured.to] : [])])
		if (e)
			e.row = same(e.row) || e.row;
	const names = $("names");
	names.replaceChildren(...state.groups.flatMap(g => g.rows.slice(0, 50)).slice(0, 500).map(r => new Option(r.name)));
}

/** What a stream has records of gets rows. */
function findTracks() {
	const level = 25;
	let changed = false;
	for (const stream of state.session.streams) {
		if ((stream.used && !stream.stale) || stream.last === undefined)
			continue;
		const { tiles, all } = stream.cells(level, 0, Math.floor(stream.last / 4 ** level));
		if (!all)
			continue;
		const used = new Set(tiles.flatMap(t => [...t.tile.track.keys()]));
		changed = changed || !stream.used || used.size !== stream.used.size;
		stream.used = used;
		stream.stale = false;
	}
	if (changed)
		arrange();
}

function layout() {
	let y = OVERVIEW + AXIS + 6 - state.top;
	findTracks();
	for (const group of state.groups) {
		group.y = y;
		y += HEAD;
		for (const row of group.rows) {
			row.y = y;
			y += LANE;
		}
		y += 12;
		group.h = y - group.y;
	}
	const most = Math.max(0, y + state.top - $("canvas").clientHeight);
	if (state.top > most) {
		state.top = most;
		layout();
	}
}

const visibleRows = () => state.groups.flatMap(g => g.rows);

/* ---- the view ---- */

function go(from, to, keep) {
	const all = state.session, room = (all.to - all.from) * .02 + LEAST;
	const span = Math.max(LEAST, Math.min(to - from, all.to - all.from + 2 * room));
	from = Math.max(all.from - room - span / 2, Math.min(from, all.to + room - span / 2));
	if (keep)
		state.views.push([state.from, state.to]);
	state.from = from;
	state.to = from + span;
	later();
}

function zoom(factor, ns = (state.from + state.to) / 2) {
	go(ns - (ns - state.from) * factor, ns + (state.to - ns) * factor);
}

const fit = () => {
	const all = state.session, room = (all.to - all.from) * .01 + LEAST;
	go(all.from - room, all.to + room, true);
};

/** The address holds what is looked at. */
function note() {
	const [token] = location.hash.slice(1).split("&"), e = state.selected;
	const parts = [token, "from=" + Math.round(state.from), "to=" + Math.round(state.to)];
	if (e)
		parts.push("at=" + [e.row.stream.index, e.row.name, e.tick].map(encodeURIComponent).join(","));
	history.replaceState(null, "", "#" + parts.join("&"));
	const halves = state.session.clocks.map(c => c.map.bound(c.map.at((state.from + state.to) / 2))), known = halves.filter(b => b >= 0);
	const words = ["1 px = " + duration(canvas.pixel)];
	if (known.length)
		words.push("bounds here " + duration(Math.min(...known)) + " … " + duration(Math.max(...known)));
	if (known.length < halves.length)
		words.push(`${halves.length - known.length} of ${halves.length} clocks not tied`);
	if (state.raw)
		words.push("clocks as they came");
	$("scale").textContent = words.join(" · ");
	document.body.dataset.ready = state.waiting ? "" : "yes";
}

/* ---- what is selected ---- */

function select(e) {
	state.selected = e;
	state.row = e ? e.row : state.row;
	state.near = [];
	state.unclear = [];
	if (e && state.anchor && state.anchor !== e)
		state.measured = { from: state.anchor, to: e };
	later();
}

/** Records on other clocks that are near, with their distances by the library. */
function compare() {
	const e = state.selected, m = state.measured;
	if (e && e.capture !== undefined) {
		const px = canvas.pixel, others = [];
		for (const group of state.groups)
			for (const row of group.rows)
				for (const o of row.edges || [])
					if (o.row.stream.clock !== e.row.stream.clock && Math.abs(o.ns - e.ns) < 400 * px)
						others.push(o);
		others.sort((a, b) => Math.abs(a.ns - e.ns) - Math.abs(b.ns - e.ns));
		state.near = others.slice(0, NEAR).map(o => ({ e: o, pair: state.session.pair(e, o) }));
		const unclear = state.near.filter(n => n.pair && n.pair.order === "cannot tell").map(n => n.e);
		if (unclear.length !== state.unclear.length || unclear.some((u, i) => u.tick !== state.unclear[i].tick)) {
			state.unclear = unclear;
			later();
		}
	}
	if (m && !m.pair) {
		m.pair = state.session.pair(m.from, m.to);
		if (m.pair)
			later();
	}
	panel();
}

/** @param {string} name @param {any} [props] @param {...(Node|string)} inside */
function element(name, props, ...inside) {
	const e = Object.assign(document.createElement(name), props || {});
	e.append(...inside);
	return e;
}

function row(cells, classes = []) {
	return element("tr", null, ...cells.map((c, i) => element("td", { className: classes[i] || "", colSpan: cells.length === 1 ? 2 : 1 }, c)));
}

let told = "";
function panel() {
	const e = state.selected, side = $("side"), m = state.measured, parts = [];
	const key = JSON.stringify([e && [e.row.name, e.row.stream.index, e.tick], state.near.map(n => [n.e.tick, n.pair]), m && [m.from.tick, m.to.tick, m.pair], state.raw, state.row && [state.row.name, state.row.sums]]);
	if (key === told)
		return;
	told = key;
	if (!e) {
		parts.push(element("h2", null, "Nothing selected"), element("p", { className: "dim" }, "Click an edge or an event, or press . for the next one in the row. ? tells all keys."));
	} else {
		const clock = state.session.clocks[e.row.stream.clock], map = clock.map, what = e.now === undefined ? "" : e.now ? " rises" : " falls";
		parts.push(element("h2", null, "Selected"), element("div", null, element("b", null, clock.name + " · " + e.row.name + what)),
			element("div", { className: "time" }, instant(clock.map.time(e.tick)) + " s"),
			element("div", { className: "number" }, bound(e.half), " ", element("span", { className: "dim" }, e.half < 0 ? "not tied to the timeline" : "· " + clock.kind)));
		if (e.fields)
			parts.push(element("h2", null, "Fields"), element("div", { className: "fields" }, e.fields));
		if (e.half >= 0)
			parts.push(element("h2", null, "What the bound is made of"), element("table", null,
				row(["clock map", duration(map.own(e.tick))], ["", "number"]), row(["what the capture cannot resolve", duration(e.capture)], ["", "number"]),
				...(map.source > 0 ? [row(["source of its pulses", duration(map.source)], ["", "number"])] : [])));
		if (m && m.pair)
			parts.push(element("h2", null, "Measured"), element("table", null, row(["from " + m.from.row.name, duration(m.pair.ns, true)], ["", "number"]),
				row(["", bound(m.pair.bound)], ["", "number"]), row(["", m.pair.order], ["", m.pair.order === "cannot tell" ? "maybe" : "sure"])));
		if (state.near.length)
			parts.push(element("h2", null, "Order of what is near"), element("table", null, ...state.near.map(n => row([
				state.session.clocks[n.e.row.stream.clock].name + " · " + n.e.row.name + (n.e.now === undefined ? "" : n.e.now ? " ↑" : " ↓"),
				n.pair ? duration(n.pair.ns, true) : "…", n.pair ? bound(n.pair.bound) : "", n.pair ? n.pair.order : ""],
				["", "number", "number dim", n.pair && n.pair.order === "cannot tell" ? "maybe" : "sure"]))));
		parts.push(element("h2", null, "Clock " + clock.name), element("table", null, row(["tied", clock.verdict]),
			...(clock.rate_ppb === undefined ? [] : [row(["rate", (clock.rate_ppb / 1000).toFixed(3) + " ± " + (clock.rate_bound_ppb / 1000).toFixed(3) + " ppm"], ["", "number"]),
				row(["observations", `${clock.used} of ${clock.used + clock.rejected}`], ["", "number"])]),
			...(clock.reason ? [row([clock.reason])] : [])));
	}
	if (state.row && state.row.sums) {
		const s = state.row.sums, what = state.row.line !== undefined ? "edges" : state.row.class !== undefined ? "events" : "readings";
		parts.push(element("h2", null, "In view of " + state.row.name), element("table", null,
			...(s.count === undefined ? [] : [row([what, s.count.toLocaleString("en")], ["", "number"]), ...(s.ns > 0 ? [row(["a second", (s.count / (s.ns / 1e9)).toPrecision(4)], ["", "number"])] : [])]),
			...(s.share === undefined ? [] : [row(["high", (100 * s.share).toFixed(2) + " %"], ["", "number"])]),
			...(s.range ? [row(["least", s.range[0].toPrecision(6)], ["", "number"]), row(["greatest", s.range[1].toPrecision(6)], ["", "number"])] : [])));
	}
	side.replaceChildren(...parts);
}

/** The record of @row next to @tick. */
async function step(target, forward) {
	if (!target)
		return;
	const stream = target.stream, clock = state.session.clocks[stream.clock], map = state.map(clock);
	const e = state.selected && state.selected.row === target ? state.selected : null;
	let at = e ? e.tick : map.at((state.from + state.to) / 2);
	const matches = r => target.line !== undefined ? r[1] === "edge" : target.class !== undefined && (r[1] === "event" || r[1] === "begin") && r[4] === target.class;
	// where the row changes next is found by levels of detail, from fine to coarse
	const track = target.line !== undefined ? target.line : stream.classes + target.class;
	for (let level = stream.leaf; level < 26; level++) {
		const width = 4 ** level, bucket = Math.floor(at / width), ahead = forward ? [bucket, bucket + 8] : [Math.max(0, bucket - 8), bucket];
		const tiles = await whole(() => stream.cells(level, ...ahead));
		const found = tiles.flatMap(t => t.tile.track.has(track) ? t.tile.track.get(track).bucket : []).filter(b => b >= ahead[0] && b <= ahead[1]);
		if (!forward)
			found.reverse();
		for (const b of found) {
			const hit = await within(target, stream, b * width, (b + 1) * width, at, forward, matches, level);
			if (hit)
				return choose(target, hit, map);
		}
	}
}

/** Waits until what @look asks for is there. */
async function whole(look) {
	for (let tries = 0; tries < 200; tries++) {
		const got = look();
		if (got.all)
			return got.tiles;
		await new Promise(done => setTimeout(done, 15));
	}
	return [];
}

/** The first record of a row after (before) @at among ticks [from, to). */
async function within(target, stream, from, to, at, forward, matches, level) {
	if (level > stream.leaf + 1) { // too many records: go down
		const width = 4 ** (level - 1), track = target.line !== undefined ? target.line : stream.classes + target.class;
		const tiles = await whole(() => stream.cells(level - 1, from / width, to / width - 1));
		const found = tiles.flatMap(t => t.tile.track.has(track) ? t.tile.track.get(track).bucket : []).filter(b => b * width >= from && b * width < to);
		for (const b of forward ? found : found.reverse()) {
			const hit = await within(target, stream, b * width, (b + 1) * width, at, forward, matches, level - 1);
			if (hit)
				return hit;
		}
		return null;
	}
	const tiles = await whole(() => stream.records(from, to - 1));
	let best = null, before = null;
	for (const tile of tiles) {
		const word = target.line >> 5, bit = target.line & 31;
		if (before === null && target.line !== undefined)
			before = tile.begin[word] >>> bit & 1;
		for (const r of tile.records) {
			let hit = matches(r);
			if (target.line !== undefined && (r[1] === "edge" || r[1] === "state")) {
				const now = r[4 + word] >>> bit & 1;
				hit = hit && now !== before;
				before = now;
			}
			if (!hit || (forward ? r[0] <= at : r[0] >= at))
				continue;
			if (forward)
				return hitOf(r, before);
			best = hitOf(r, before);
		}
	}
	return best;
}

const hitOf = (r, now) => ({ tick: r[0], now, half: r[2], capture: r[3], fields: r[5] });

function choose(was, hit, map) {
	const target = visibleRows().find(r => r.stream === was.stream && r.name === was.name) || was;
	const ns = map.time(hit.tick), e = { row: target, tick: hit.tick, ns, half: hit.half, capture: hit.capture };
	if (target.line !== undefined)
		e.now = hit.now;
	else
		e.fields = hit.fields;
	select(e);
	if (ns < state.from || ns > state.to)
		go(ns - (state.to - state.from) / 2, ns + (state.to - state.from) / 2);
}

/* ---- uncertainty, shown ---- */

let sliding = 0;
function wiggle() {
	if (sliding || state.wiggle) {
		clearInterval(sliding);
		sliding = 0;
		state.wiggle = null;
		return later();
	}
	const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
	sliding = setInterval(() => {
		state.wiggle = new Map(state.session.clocks.map(c => {
			const b = c.map.bound(c.map.at((state.from + state.to) / 2));
			return [c, b < 0 ? 0 : c.kind === "proven" ? (2 * Math.random() - 1) * b : normal() * b / 3.2905];
		}));
		later();
	}, 400);
}

/* ---- finding ---- */

function find(words) {
	const text = words.trim(), time = /^-?[\d.]+(e-?\d+)?\s*(s|ms|us|µs|ns)?$/.exec(text);
	if (time) {
		const unit = { s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, ns: 1 }[time[2] || "s"], ns = parseFloat(text) * unit, half = (state.to - state.from) / 2;
		return go(ns - half, ns + half, true);
	}
	const rows = visibleRows(), at = rows.indexOf(state.row) + 1, low = text.toLowerCase();
	const name = r => (r.stream.session.clocks[r.stream.clock].name + " " + r.name).toLowerCase();
	const hit = [...rows.slice(at), ...rows.slice(0, at)].find(r => name(r).includes(low));
	if (!hit)
		return complain(new Error(`nothing is called "${text.slice(0, 60)}"`));
	state.row = hit;
	show(hit);
	step(hit, true);
}

/** Scroll a row into view. */
function show(target) {
	const top = OVERVIEW + AXIS + 6, h = $("canvas").clientHeight;
	layout();
	if (target.y < top + HEAD)
		state.top += target.y - top - HEAD;
	else if (target.y + LANE > h)
		state.top += target.y + LANE - h;
	state.top = Math.max(0, state.top);
	later();
}

/* ---- hands ---- */

const keys = {
	w: () => zoom(.7), s: () => zoom(1 / .7), a: () => shift(-1 / 6), d: () => shift(1 / 6), f: fit,
	ArrowLeft: () => shift(-1 / 6), ArrowRight: () => shift(1 / 6),
	ArrowUp: () => nextRow(-1), ArrowDown: () => nextRow(1),
	",": () => step(state.row || visibleRows()[0], false), ".": () => step(state.row || visibleRows()[0], true),
	"[": otherEnd, "]": otherEnd,
	z: () => state.views.length && go(...state.views.pop()),
	m: () => {
		state.anchor = state.anchor ? null : state.selected;
		state.measured = null;
		later();
	},
	u: wiggle,
	c: () => state.row && fold(state.session.clocks[state.row.stream.clock].name),
	x: () => fold(null),
	l: () => {
		state.follow = !state.follow;
		later();
	},
	q: () => {
		state.quiet = !state.quiet;
		arrange();
		later();
	},
	r: () => {
		state.raw = !state.raw;
		later();
	},
	t: () => {
		document.documentElement.dataset.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
		later();
	},
	"/": () => $("find").focus(), "?": () => $("help").showModal(),
	Escape: () => {
		$("message").textContent = "";
		state.anchor = state.measured = null;
		select(null);
	},
};
keys["+"] = keys.w;
keys["-"] = keys.s;

/** From one end of a message to the other. */
async function otherEnd() {
	const e = state.selected, at = (m, k) => e && m[k] === e.row.stream.index && m[k + 1] === e.row.class && m[k + 3] === e.tick;
	const sent = state.links.find(m => at(m, 0)), got = state.links.find(m => at(m, 4)), end = sent ? sent.slice(4) : got ? got.slice(0, 4) : null;
	const target = end && visibleRows().find(r => r.stream.index === end[0] && r.class === end[1]);
	if (!target)
		return;
	state.row = target;
	state.selected = { row: target, tick: end[3] - 1, half: -1 };
	show(target);
	await step(target, true);
}

/** Fold or unfold the rows of a clock; null: of all, or none if any is. */
function fold(name) {
	const all = state.session.clocks.map(c => c.name), any = state.folded.size > 0;
	if (name === null)
		state.folded = new Set(any ? [] : all);
	else if (!state.folded.delete(name))
		state.folded.add(name);
	arrange();
	later();
}

function shift(share) {
	const d = (state.to - state.from) * share;
	go(state.from + d, state.to + d);
}

function nextRow(by) {
	const rows = visibleRows(), at = rows.indexOf(state.row);
	state.row = rows[Math.max(0, Math.min(rows.length - 1, at + by))] || null;
	if (state.row)
		show(state.row);
}

addEventListener("keydown", event => {
	if (event.target instanceof HTMLInputElement) {
		if (event.key === "Enter")
			find(event.target.value);
		if (event.key === "Enter" || event.key === "Escape")
			$("canvas").focus();
		return;
	}
	if (event.ctrlKey || event.metaKey || event.altKey || $("help").open)
		return;
	const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
	if (act && state.session) {
		event.preventDefault();
		act();
	}
});

$("canvas").addEventListener("wheel", event => {
	event.preventDefault();
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
		return shift((event.deltaX || event.deltaY) / 800);
	if (event.offsetX < LEFT) {
		state.top = Math.max(0, state.top + event.deltaY);
		return later();
	}
	zoom(Math.exp(event.deltaY / 400), canvas.ns(event.offsetX));
}, { passive: false });

let drag = null;
$("canvas").addEventListener("pointerdown", event => {
	drag = { x: event.offsetX, y: event.offsetY, from: state.from, to: state.to, top: state.top, moved: false, mark: event.shiftKey };
	$("canvas").setPointerCapture(event.pointerId);
});
$("canvas").addEventListener("pointermove", event => {
	if (!drag)
		return;
	drag.moved = drag.moved || Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 3;
	if (!drag.moved || drag.mark)
		return;
	if (drag.y < OVERVIEW)
		return overviewTo(event.offsetX);
	const d = (drag.x - event.offsetX) * (drag.to - drag.from) / (canvas.w - LEFT);
	state.top = Math.max(0, drag.top + drag.y - event.offsetY);
	go(drag.from + d, drag.to + d);
});
$("canvas").addEventListener("pointerup", event => {
	const d = drag;
	drag = null;
	if (!d)
		return;
	if (d.moved && d.mark) {
		const a = canvas.ns(Math.min(d.x, event.offsetX)), b = canvas.ns(Math.max(d.x, event.offsetX));
		return go(a, b, true);
	}
	if (d.moved)
		return;
	if (event.offsetY < OVERVIEW)
		return overviewTo(event.offsetX);
	pick(event.offsetX, event.offsetY);
});

function overviewTo(x) {
	const all = state.session, ns = all.from + (x - LEFT) / (canvas.w - LEFT - 12) * (all.to - all.from), half = (state.to - state.from) / 2;
	go(ns - half, ns + half);
}

/** What is nearest to a point, if it is near. Where records cannot be told apart, zoom in there. */
function pick(x, y) {
	const group = state.groups.find(g => y >= g.y && y < g.y + HEAD);
	if (group && x < LEFT)
		return fold(group.name);
	const target = visibleRows().find(r => y >= r.y && y < r.y + LANE);
	state.row = target || state.row;
	if (!target)
		return later();
	let best = null;
	for (const e of target.edges || [])
		if (!best || Math.abs(canvas.x(state.now(e)) - x) < Math.abs(canvas.x(state.now(best)) - x))
			best = e;
	if (best && Math.abs(canvas.x(state.now(best)) - x) < 40)
		return select(best);
	if (target.edges === null && x > LEFT)
		zoom(.2, canvas.ns(x));
	later();
}

// At once, since what is shown meanwhile is stretched.
new ResizeObserver(() => {
	if (state.session) {
		layout();
		canvas.draw();
	}
	later();
}).observe($("main"));

/* ---- begin ---- */

/** The first record in view of CLOCK/ROW. */
async function selectFirst(name) {
	const want = () => visibleRows().find(r => state.session.clocks[r.stream.clock].name + "/" + r.name === name);
	for (let tries = 0; tries < 100 && !want(); tries++)
		await new Promise(done => setTimeout(done, 30));
	const target = want();
	if (!target)
		return complain(new Error(`nothing is called "${name.slice(0, 60)}"`));
	const from = state.from, to = state.to;
	state.row = target;
	state.selected = { row: target, tick: state.map(state.session.clocks[target.stream.clock]).at(from), half: -1 };
	await step(target, true);
	go(from, to);
}

/** Looks for news as long as the session grows, and now and then whether it does. */
async function watch() {
	for (;;) {
		const grows = state.session.streams.some(s => s.grows);
		await new Promise(done => setTimeout(done, document.hidden ? 2000 : grows ? NEWS_MS : 1000));
		let news = 0;
		try {
			news = await state.session.news();
			if (news === 2)
				await reopen();
		} catch (error) {
			if (!$("message").textContent)
				complain(new Error("coeval view does not answer: " + error.message));
			continue;
		}
		if ($("message").textContent.startsWith("coeval view does not answer"))
			$("message").textContent = "";
		if (news)
			describe();
		if (news && state.follow)
			go(state.session.to - (state.to - state.from) * .95, state.session.to + (state.to - state.from) * .05);
		if (news)
			later();
	}
}

/** Clocks came or were tied anew: the same part of it is looked at. */
async function reopen() {
	const session = new Session(later, complain), row = state.row, e = state.selected;
	await session.open();
	state.session = session;
	state.measured = state.anchor = null;
	state.wiggle = null;
	state.row = null;
	state.selected = null;
	arrange();
	const again = row && visibleRows().find(r => r.name === row.name && session.clocks[r.stream.clock].name === row.stream.session.clocks[row.stream.clock].name);
	state.row = again || null;
	if (again && e)
		choose(again, { ...e, half: -1 }, session.clocks[again.stream.clock].map); // until it is looked at again: the bound may be another
}

function describe() {
	const s = state.session, good = s.clocks.filter(c => c.verdict === "good").length;
	document.title = s.path + " - Coeval";
	$("session").textContent = s.path;
	$("facts").textContent = `${s.clocks.length} ${s.clocks.length === 1 ? "clock" : "clocks"} · ${duration(s.to - s.from)}` +
		(s.streams.some(t => t.grows) ? " · being captured; L follows" : "");
	$("tie").textContent = s.estimator ? `${s.estimator}, reference ${s.reference}` : "not synchronised";
	$("clocks").textContent = s.estimator ? `${good} of ${s.clocks.length} clocks good` : "";
}

async function begin() {
	const held = new URLSearchParams(location.hash.slice(1).split("&").slice(1).join("&"));
	const session = new Session(later, complain);
	if (matchMedia("(prefers-color-scheme: dark)").matches)
		document.documentElement.dataset.theme = "dark";
	await session.open();
	state.session = session;
	arrange();
	describe();
	fit();
	state.views = [];
	const restore = () => (held.has("from") || held.has("to")) &&
		go(held.has("from") ? +held.get("from") : state.from, held.has("to") ? +held.get("to") : state.to);
	restore();
	if (held.has("at")) {
		const [stream, name, tick] = held.get("at").split(",").map(decodeURIComponent);
		const want = () => visibleRows().find(r => r.stream.index === +stream && r.name === name);
		for (let tries = 0; tries < 100 && !want(); tries++)
			await new Promise(done => setTimeout(done, 30));
		if (want()) {
			state.row = want();
			state.selected = { row: want(), tick: +tick - 1, half: -1 };
			await step(want(), true);
			restore();
		}
	}
	if (held.has("select"))
		await selectFirst(held.get("select"));
	if (!state.still)
		watch();
}

// For the console, and for tests.
globalThis.coeval = Object.assign(state, { canvas, go });
begin().catch(complain);
