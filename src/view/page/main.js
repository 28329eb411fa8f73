// SPDX-License-Identifier: MIT
// The page: what is looked at, keys, pointer, and the panel about what is selected.

import { CHANNELS, chosen, places, saved, Session } from "./data.js";
import { AXIS, Canvas, COLOURS, HEAD, LANE, LEFT, OVERVIEW } from "./draw.js";
import { laneAt, laneHeight, nextInterval, numbersOf, selectable } from "./lanes.js";
import { element, panel } from "./panel.js";
import { duration } from "./time.js";

/** @param {string} id @returns {any} */
const $ = id => document.getElementById(id);
const HEALTH_MS = 2000; // between looks at how nodes are
const NEAR = 8, LEAST = 20; // records that are compared with the selection; ns in a view

const state = {
	session: null, from: 0, to: 1, top: 0, groups: [], row: null, selected: null, awaited: null, near: [], unclear: [], measured: null,
	anchor: null, raw: false, quiet: false, follow: false, folded: new Set(), wiggle: null, views: [],
	blank: 0, waiting: 0, // streams of which nothing, or less than is wanted, was drawn
	links: [], // messages in view
	cursors: [null, null], area: null, // two times, each at a record or at none; what the row adds up to between them
	place: null, unfolded: new Set(), // of the lists of what was found
	notes: [], nodes: [],
	health: [], // of a collector's nodes
	look: null, // how rows are arranged; see plain()
	still: location.hash.split("&").includes("still"), // for a picture: nothing moves, and there may be no frames to wait for
	/** The map that is used now. */
	map(clock) {
		const map = state.raw ? clock.raw : clock.map, slide = state.wiggle ? state.wiggle.get(clock) : 0;
		return slide ? { time: t => map.time(t) + slide, at: ns => map.at(ns - slide), bound: t => map.bound(t), until: t => map.until(t) } : map;
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
			state.session.spent = 0;
			layout();
			canvas.draw();
			compare();
			note();
		});
}

/** @param {Error} error @param {boolean} [passes] it may be over with the next news */
function complain(error, passes) {
	$("message").textContent = error.message;
	$("message").dataset.passes = passes ? "yes" : "";
}

/* ---- rows ---- */

/** Rows as they come: none pinned, renamed, moved, ... */
const plain = () => ({ pins: [], names: {}, colours: {}, order: [], rows: [], buses: [], curves: {}, only: "", byName: false });
state.look = plain();

/** Identifies a row, whatever it is called now. */
const keyOf = row => row.clockName + "/" + row.name;

/** All rows of a clock; how many are left out as nothing happens in them. */
function rowsOf(clock, i, streams) {
	const rows = [], found = state.session.found.rows;
	let quiet = 0;
	const add = row => rows.push({ ...row, clockName: clock.name });
	if (streams.length) // intervals have no stream; any of the clock's tells the clock
		for (const lane of found)
			if (lane.clock === i && lane.n)
				add({ stream: streams[0], name: lane.name, lane });
	for (const stream of streams) {
		const several = streams.length > 1 ? stream.name + " " : "";
		const unless = (row, track) => state.quiet || !stream.used || stream.used.has(track) ? add(row) : quiet++;
		for (const bus of state.look.buses)
			if (bus.clock === clock.name && bus.stream === stream.name)
				add({ stream, name: bus.name, bus: bus.lines });
		stream.lines.forEach((name, line) => unless({ stream, name: name || "D" + line, line }, line));
		stream.channels.forEach((name, channel) => unless({ stream, name: name || "A" + channel, channel }, CHANNELS + channel));
		stream.events.forEach((name, cls) => {
			if (stream.used && stream.used.has(stream.classes + cls))
				add({ stream, name: several + name, class: cls });
		});
	}
	return { rows, quiet };
}

/** @param {any[]} list @param {string[]} order keys that come first, in this order @param {(x: any) => string} key */
function ordered(list, order, key) {
	const at = x => order.indexOf(key(x));
	return [...list.filter(x => at(x) >= 0).sort((a, b) => at(a) - at(b)), ...list.filter(x => at(x) < 0)];
}

function arrange() {
	const look = state.look, session = state.session, marked = new Set(state.groups.flatMap(g => g.rows).filter(r => r.marked).map(keyOf));
	const words = look.only.toLowerCase().split(/[\s,]+/).filter(Boolean), pinned = [];
	let groups = session.clocks.map((clock, i) => {
		const streams = session.streams.filter(s => s.clock === i), colour = look.colours[clock.name] || COLOURS[i % COLOURS.length], { rows, quiet } = rowsOf(clock, i, streams);
		for (const row of rows) {
			row.label = look.names[keyOf(row)] || row.name;
			row.colour = colour;
			row.h = row.lane ? laneHeight(row.lane) : LANE;
			row.marked = marked.has(keyOf(row));
			row.curve = look.curves[keyOf(row)];
		}
		const wanted = ordered(rows, look.rows, keyOf).filter(r => !words.length || words.some(w => (clock.name + " " + r.label).toLowerCase().includes(w)));
		pinned.push(...wanted.filter(r => look.pins.includes(keyOf(r))));
		const own = wanted.filter(r => !look.pins.includes(keyOf(r))), folded = state.folded.has(clock.name);
		return { name: look.names[clock.name] || clock.name, clock, streams, rows: folded ? [] : own, quiet: words.length ? 0 : quiet, folded: folded ? own.length : 0, colour, hidden: words.length && !own.length };
	});
	groups = ordered(groups, look.order, g => g.clock.name);
	state.nodes = groups;
	groups = groups.filter(g => !g.hidden);
	if (look.byName) {
		const byName = new Map();
		for (const row of groups.flatMap(g => g.rows))
			byName.set(row.label, [...(byName.get(row.label) || []), row]);
		groups = [...byName].map(([name, rows]) => ({ name, clock: null, streams: [], rows: state.folded.has(name) ? [] : rows, quiet: 0, folded: state.folded.has(name) ? rows.length : 0, colour: COLOURS[5] }));
	}
	if (pinned.length)
		groups.unshift({ name: "pinned", pinned: true, clock: null, streams: [], rows: ordered(pinned, look.pins, keyOf), quiet: 0, folded: 0, colour: COLOURS[5] });
	state.groups = groups;
	// what is selected is in rows of now
	const rows = visibleRows(), same = was => was && rows.find(r => r.stream === was.stream && keyOf(r) === keyOf(was) && !r.lane === !was.lane) || null;
	state.row = same(state.row);
	for (const e of [state.selected, state.anchor, ...state.near.map(n => n.e), ...state.unclear, ...state.cursors.map(c => c && c.e), ...(state.measured ? [state.measured.from, state.measured.to] : [])])
		if (e)
			e.row = same(e.row) || e.row;
	if (state.awaited)
		takeUp();
	const names = $("names");
	names.replaceChildren(...state.groups.flatMap(g => g.rows.slice(0, 50)).slice(0, 500).map(r => new Option(r.label)));
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
	findTracks();
	const top = OVERVIEW + AXIS + 6, place = (group, y) => {
		group.y = y;
		y += HEAD;
		for (const row of group.rows) {
			row.y = y;
			y += row.h;
		}
		group.h = y + 12 - group.y;
		return y + 12;
	};
	const first = state.groups[0] && state.groups[0].pinned ? place(state.groups[0], top) : top; // they stay where they are
	let y = first - state.top;
	for (const group of state.groups)
		if (!group.pinned)
			y = place(group, y);
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

/** What stays where it is when keys zoom: what is selected, if it is in view, else the middle. */
function middle() {
	const ns = state.selected ? state.now(state.selected) : NaN;
	return ns >= state.from && ns <= state.to ? ns : (state.from + state.to) / 2;
}

function zoom(factor, ns = middle()) {
	const all = state.session;
	if (factor > 1 && state.from <= all.from && state.to >= all.to)
		return; // all of it is there
	go(ns - (ns - state.from) * factor, ns + (state.to - ns) * factor);
}

const fit = () => {
	const all = state.session, room = (all.to - all.from) * .01 + LEAST;
	go(all.from - room, all.to + room, true);
};

/** What of @now is not as in @plain; null: nothing. */
function changes(now, plain) {
	const other = Object.keys(now).filter(k => JSON.stringify(now[k]) !== JSON.stringify(plain[k]));
	return other.length ? Object.fromEntries(other.map(k => [k, now[k]])) : null;
}

/** How well the clocks are tied, if that was saved, too. */
const report = () => document.getElementById("report");

/** The address holds what is looked at: written once nothing moves, as browsers do it slowly. */
function writeAddress() {
	const [token] = location.hash.slice(1).split("&"), e = state.selected;
	const parts = [token, ...(chosen === null ? [] : ["session=" + chosen]), "from=" + Math.round(state.from), "to=" + Math.round(state.to)];
	if (e)
		parts.push("at=" + [e.row.stream.index, e.row.name, e.tick].map(encodeURIComponent).join(","));
	const look = changes(state.look, plain());
	if (look)
		parts.push("look=" + encodeURIComponent(JSON.stringify(look)));
	if (state.folded.size)
		parts.push("folded=" + [...state.folded].map(encodeURIComponent).join(","));
	history.replaceState(null, "", "#" + parts.join("&"));
}

let writing = 0;
function note() {
	clearTimeout(writing);
	writing = setTimeout(writeAddress, state.still ? 0 : 150);
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
	if (e && state.anchor && state.anchor !== e) {
		state.measured = { from: state.anchor, to: e };
		$("message").textContent = "";
	}
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
	const [one, two] = state.cursors;
	state.area = one && two && state.row && !state.row.lane && !state.row.bus ? state.session.area(state.row, Math.min(one.ns, two.ns), Math.max(one.ns, two.ns)) || null : null;
	panel(state, $("side"), { jump, goTo, drop: dropNote });
}

/** The record of @row next to @tick. */
async function step(target, forward) {
	if (!target)
		return;
	if (target.lane)
		return stepLane(target, forward);
	const stream = target.stream, clock = state.session.clocks[stream.clock], map = state.map(clock);
	const e = state.selected && state.selected.row === target ? state.selected : null;
	let at = e ? e.tick : map.at((state.from + state.to) / 2);
	const matches = r => target.bus || target.channel !== undefined ? r[1] === (target.bus ? "edge" : "sample") && (target.bus || r[4] === target.channel) : target.line !== undefined ? r[1] === "edge" : target.class !== undefined && (r[1] === "event" || r[1] === "begin") && r[4] === target.class;
	// where the row changes next is found by levels of detail, from fine to coarse
	const tracks = tracksOf(target);
	for (let level = stream.leaf; level < 26; level++) {
		const width = 4 ** level, bucket = Math.floor(at / width), ahead = forward ? [bucket, bucket + 8] : [Math.max(0, bucket - 8), bucket];
		const tiles = await whole(() => stream.cells(level, ...ahead));
		for (const b of bucketsOf(tiles, tracks, b => b >= ahead[0] && b <= ahead[1], forward)) {
			const hit = await within(target, stream, b * width, (b + 1) * width, at, forward, matches, level);
			if (hit)
				return choose(target, hit, map);
		}
	}
}

/** Tracks of a row. */
function tracksOf(row) {
	return row.bus || [row.line !== undefined ? row.line : row.channel !== undefined ? CHANNELS + row.channel : row.stream.classes + row.class];
}

/** Buckets in which something happened to some tracks, in the order in which they are to be looked at. */
function bucketsOf(tiles, tracks, wanted, forward) {
	const found = new Set(tiles.flatMap(t => tracks.flatMap(track => t.tile.track.has(track) ? t.tile.track.get(track).bucket : [])).filter(wanted));
	return [...found].sort((a, b) => forward ? a - b : b - a);
}

/** The interval after or before what is selected, at its depth. */
async function stepLane(target, forward) {
	const clock = state.session.clocks[target.lane.clock], e = state.selected && state.selected.row === target ? state.selected : null;
	const hit = await nextInterval(state.session, target, e ? e.depth : target.lane.states && target.lane.depths > 1 ? 1 : 0, e ? e.tick : state.map(clock).at((state.from + state.to) / 2), forward);
	if (hit)
		come(selectable(hit, clock.map, state.session.found.names));
}

/** Select, and go there unless it is in view. */
function come(e) {
	const ns = state.now(e);
	select(e);
	if (ns < state.from || ns > state.to)
		go(ns - (state.to - state.from) / 2, ns + (state.to - state.from) / 2);
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
		const width = 4 ** (level - 1), tiles = await whole(() => stream.cells(level - 1, from / width, to / width - 1));
		for (const b of bucketsOf(tiles, tracksOf(target), b => b * width >= from && b * width < to, forward)) {
			const hit = await within(target, stream, b * width, (b + 1) * width, at, forward, matches, level - 1);
			if (hit)
				return hit;
		}
		return null;
	}
	const tiles = await whole(() => stream.records(from, to - 1));
	let best = null, before = null;
	const value = words => (target.bus || [target.line]).reduce((v, line) => v * 2 + (words[line >> 5] >>> (line & 31) & 1), 0), levels = target.line !== undefined || target.bus;
	for (const tile of tiles) {
		if (before === null && levels)
			before = value(tile.begin);
		for (const r of tile.records) {
			let hit = matches(r);
			if (levels && (r[1] === "edge" || r[1] === "state")) {
				const now = value(r.slice(4, 6));
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
	const e = { row: target, tick: hit.tick, ns: map.time(hit.tick), half: hit.half, capture: hit.capture };
	if (target.line !== undefined)
		e.now = hit.now;
	else
		e.fields = target.channel !== undefined ? String(hit.fields) : target.bus ? undefined : hit.fields;
	come(e);
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

async function find(words) {
	const text = words.trim(), time = /^-?[\d.]+(e-?\d+)?\s*(s|ms|us|µs|ns)?$/.exec(text), half = (state.to - state.from) / 2;
	if (!text)
		return;
	if (time) {
		const unit = { s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, ns: 1 }[time[2] || "s"], ns = parseFloat(text) * unit;
		return go(ns - half, ns + half, true);
	}
	const rows = visibleRows(), at = rows.indexOf(state.row) + 1, low = text.toLowerCase();
	const hit = [...rows.slice(at), ...rows.slice(0, at)].find(r => (r.clockName + " " + r.label).toLowerCase().includes(low));
	if (hit) {
		state.row = hit;
		show(hit);
		return step(hit, true);
	}
	const places = state.session.found.places, place = places.find(p => p.text.toLowerCase().includes(low) && (!state.place || p.from > state.place.from)) || places.find(p => p.text.toLowerCase().includes(low));
	if (place)
		return jump(place);
	// in the fields of events, from what is selected on, and then from the beginning
	const from = state.selected ? state.now(state.selected) + 1 : state.from;
	const told = ns => $("message").textContent = `looking for "${text.slice(0, 60)}": ${duration(ns - state.session.from)} …`;
	const event = await state.session.search(text, from, told) || await state.session.search(text, state.session.from, told);
	$("message").textContent = "";
	if (!event)
		return complain(new Error(`nothing is called "${text.slice(0, 60)}", and no event has it in its fields`));
	const [stream, cls, tick] = event, target = visibleRows().find(r => r.stream.index === stream && r.class === cls);
	if (target) {
		state.selected = { row: target, tick: tick - 1, half: -1 };
		show(target);
		await step(target, true);
	}
}

/* ---- places and notes ---- */

/** Go to a place of the lists; null: only draw them again. */
function jump(place) {
	if (!place)
		return later();
	state.place = place;
	const length = place.to - place.from, room = Math.max(length, (state.session.to - state.session.from) / 2000, 2000);
	go(place.from - room, place.to + room, true);
	const row = visibleRows().find(r => r.lane && r.lane.index === place.row), group = state.groups.find(g => g.clock && state.session.clocks.indexOf(g.clock) === place.clock);
	if (row) {
		state.row = row;
		show(row);
	} else if (group) {
		layout();
		if (group.y < OVERVIEW + AXIS || group.y > $("canvas").clientHeight - 2 * HEAD)
			state.top = Math.max(0, state.top + group.y - OVERVIEW - AXIS - 6);
		later();
	}
}

/** The next place, or the one before. */
function nextPlace(by) {
	const list = state.session.found.places, at = list.indexOf(state.place);
	if (!list.length)
		return complain(new Error(state.session.found.done < 1 ? "still looking" : "no losses and nothing else worth a look was found"), true);
	jump(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : (at + by + list.length) % list.length]);
}

/** What is looked at, without the secret, as it is in the address. */
const lookNow = () => location.hash.slice(1).split("&").slice(1).filter(p => !p.startsWith("session=")).join("&");

async function goTo(n) {
	if (n.look)
		return restore(new URLSearchParams(n.look));
	const room = Math.max(n.to - n.from, (state.to - state.from) / 2);
	go(n.from - room, n.to + room, true);
}

function say(words, value = "") {
	const dialog = $("ask");
	$("askWords").textContent = words;
	$("askText").value = value;
	dialog.showModal();
	$("askText").select();
	return new Promise(done => dialog.onclose = () => done(dialog.returnValue === "yes" ? $("askText").value.trim() : null));
}

const clampNs = ns => Math.round(Math.max(-9e15, Math.min(9e15, ns)));

async function addNote(view) {
	if (state.session.read_only)
		return complain(new Error("this view is read-only: nothing can be noted"));
	writeAddress();
	const look = view ? lookNow() : "", [a, b] = state.cursors, e = state.selected;
	const from = a && b ? Math.min(a.ns, b.ns) : e ? state.now(e) : (state.from + state.to) / 2, to = a && b ? Math.max(a.ns, b.ns) : from;
	const text = await say(view ? "Name of this view" : a && b ? "Note on what is between the cursors" : e ? "Note on what is selected" : "Note on the middle of the view");
	if (text)
		state.notes = await state.session.note({ clock: e ? e.row.stream.clock : state.row ? state.row.stream.clock : 0, text, from: clampNs(view ? state.from : from), to: clampNs(view ? state.to : to), look });
	later();
}

async function dropNote(n) {
	state.notes = await state.session.note({ drop: n.id });
	later();
}

/* ---- how rows are arranged ---- */

/** Change it; rows are made anew. */
function rearrange(change) {
	change(state.look);
	arrange();
	later();
}

const toggle = (list, key) => list.includes(key) ? list.filter(k => k !== key) : [...list, key];

/** Move the chosen row among its clock's, or its clock among clocks. */
function move(by, clock) {
	const r = state.row;
	if (!r)
		return;
	const group = state.groups.find(g => g.rows.includes(r)), keys = clock ? state.nodes.map(g => g.clock.name) : group.rows.map(keyOf), own = clock ? r.clockName : keyOf(r);
	const at = keys.indexOf(own), to = at + by;
	if (to < 0 || to >= keys.length)
		return;
	keys.splice(to, 0, ...keys.splice(at, 1));
	rearrange(look => clock ? look.order = keys : group.pinned ? look.pins = keys : look.rows = [...look.rows.filter(k => !keys.includes(k)), ...keys]);
}

async function rename() {
	const r = state.row;
	if (!r)
		return;
	const text = await say(`Another name for ${r.clockName} ${r.name} (nothing: its own)`, r.label);
	if (text !== null)
		rearrange(look => text && text !== r.name ? look.names = { ...look.names, [keyOf(r)]: text } : look.names = Object.fromEntries(Object.entries(look.names).filter(([k]) => k !== keyOf(r))));
}

function recolour() {
	const r = state.row;
	if (r)
		rearrange(look => look.colours = { ...look.colours, [r.clockName]: COLOURS[(COLOURS.indexOf(r.colour) + 1) % COLOURS.length] });
}

/** The next number among an event's fields as a curve; after the last one, events again. */
function curve() {
	const r = state.row, names = r && r.class !== undefined ? numbersOf(r.edges || []) : [];
	if (!names.length)
		return complain(new Error("choose a row of events that have numbers, and zoom in until they are told apart"), true);
	const next = names[names.indexOf(r.curve) + 1];
	rearrange(look => look.curves = next ? { ...look.curves, [keyOf(r)]: next } : Object.fromEntries(Object.entries(look.curves).filter(([k]) => k !== keyOf(r))));
}

/** The marked lines of a stream as a number; of a number, its lines again. */
async function bus() {
	const r = state.row;
	if (r && r.bus)
		return rearrange(look => look.buses = look.buses.filter(b => !(b.clock === r.clockName && b.stream === r.stream.name && b.name === r.name)));
	const marked = visibleRows().filter(m => m.marked && m.line !== undefined), one = marked[0];
	if (marked.length < 2 || marked.length > 52 || marked.some(m => m.stream !== one.stream))
		return complain(new Error("mark two or more lines of one stream by the space bar, the highest bit first in the list"));
	const name = await say("Name of this number", marked.map(m => m.label).join(" "));
	if (!name)
		return;
	for (const m of marked)
		m.marked = false;
	rearrange(look => look.buses = [...look.buses, { clock: one.clockName, stream: one.stream.name, name, lines: marked.map(m => m.line) }]);
}

/* ---- cursors ---- */

let pointer = null; // where it is, over the rows

/** Put a cursor where the pointer is, or at what is selected; it snaps to a record that is near. */
function cursor(i) {
	const e = state.selected, p = pointer;
	let at = null;
	if (p) {
		const row = visibleRows().find(r => p.y >= r.y && p.y < r.y + r.h), near = row && nearest(row, p.x, p.y, 10);
		at = near ? { e: near, ns: state.now(near) } : { e: null, ns: canvas.ns(p.x) };
		if (row)
			state.row = row;
	} else {
		at = e ? { e, ns: state.now(e) } : { e: null, ns: (state.from + state.to) / 2 };
	}
	state.cursors[i] = at;
	later();
}

/** What can be selected of a row, within so many pixels. */
function nearest(row, x, y, most) {
	if (row.lane) {
		const hit = laneAt(row, x, y);
		return hit && !hit.i.n ? selectable(hit.i, state.session.clocks[row.lane.clock].map, state.session.found.names) : null;
	}
	let best = null;
	for (const e of row.edges || [])
		if (!best || Math.abs(canvas.x(state.now(e)) - x) < Math.abs(canvas.x(state.now(best)) - x))
			best = e;
	return best && Math.abs(canvas.x(state.now(best)) - x) < most ? best : null;
}

/** Scroll a row into view. */
function show(target) {
	layout();
	const pinned = state.groups[0] && state.groups[0].pinned ? state.groups[0] : null, top = pinned ? pinned.y + pinned.h : OVERVIEW + AXIS + 6, h = $("canvas").clientHeight;
	if (pinned && pinned.rows.includes(target))
		return later();
	if (target.y < top + HEAD)
		state.top += target.y - top - HEAD;
	else if (target.y + target.h > h)
		state.top += target.y + target.h - h;
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
		if (!state.anchor && !state.selected)
			return complain(new Error("select what to measure from first"), true);
		state.anchor = state.anchor ? null : state.selected;
		complain(new Error(state.anchor ? `measuring from ${state.anchor.row.clockName} ${state.anchor.row.label}: select the other end` : ""), true);
		state.measured = null;
		later();
	},
	u: wiggle,
	c: () => state.row && fold(state.look.byName ? state.row.label : state.row.clockName),
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
	1: () => cursor(0), 2: () => cursor(1), n: () => nextPlace(1), b: () => nextPlace(-1),
	p: () => state.row && rearrange(look => look.pins = toggle(look.pins, keyOf(state.row))),
	e: rename, k: recolour, g: () => rearrange(look => look.byName = !look.byName), h: bus, j: curve,
	" ": () => {
		if (state.row)
			state.row.marked = !state.row.marked;
		nextRow(1);
	},
	y: () => report() && report().classList.toggle("away"),
	i: () => addNote(false), v: () => addNote(true), o: () => $("side").querySelector("button")?.focus(),
	"\\": () => $("only").focus(),
	"/": () => $("find").focus(), "?": () => {
		$("help").showModal();
		$("help").scrollTop = 0; // its button has the focus, and is at the end
	},
	Escape: () => {
		$("message").textContent = "";
		state.anchor = state.measured = state.place = null;
		state.cursors = [null, null];
		report()?.classList.add("away");
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
	const all = state.groups.filter(g => !g.pinned).map(g => g.clock ? g.clock.name : g.name), any = state.folded.size > 0;
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
		if (event.key === "Enter" && event.target.id === "find")
			find(event.target.value).catch(complain);
		if (event.target.id !== "askText" && (event.key === "Enter" || event.key === "Escape"))
			$("canvas").focus();
		return;
	}
	if (event.ctrlKey || event.metaKey || $("help").open || $("ask").open)
		return;
	if (event.shiftKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
		event.preventDefault();
		return move(event.key === "ArrowUp" ? -1 : 1, event.altKey);
	}
	if (event.altKey || (event.target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter")))
		return;
	const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
	if (act && state.session) {
		event.preventDefault();
		Promise.resolve(act()).catch(complain);
	}
});
$("only").addEventListener("input", () => rearrange(look => look.only = $("only").value));

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
$("canvas").addEventListener("pointerleave", () => pointer = null);
$("canvas").addEventListener("pointermove", event => {
	pointer = event.offsetX > LEFT && event.offsetY > OVERVIEW + AXIS ? { x: event.offsetX, y: event.offsetY } : null;
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
	const pinned = state.groups[0] && state.groups[0].pinned ? state.groups[0] : null, at = pinned && y < pinned.y + pinned.h ? pinned : state.groups.find(g => !g.pinned && y >= g.y && y < g.y + g.h);
	if (!at)
		return;
	if (y < at.y + HEAD && x < LEFT)
		return at.pinned || fold(at.clock ? at.clock.name : at.name);
	const target = at.rows.find(r => y >= r.y && y < r.y + r.h);
	state.row = target || state.row;
	if (!target)
		return later();
	const hit = x > LEFT && nearest(target, x, y, 40), many = target.lane && laneAt(target, x, y);
	if (hit)
		return select(hit);
	if (many) // several that cannot be told apart
		return go(canvas.ns(many.x - 30), canvas.ns(many.end + 30), true);
	if (target.edges === null && !target.lane && x > LEFT)
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

/** Something is new. @param {any} told */
async function hear(told) {
	const s = state.session, was = s.found.version, noted = s.noted;
	if (told.problem)
		return complain(new Error(told.problem), true);
	if ($("message").dataset.passes)
		complain(new Error(""));
	const news = await s.hear(told);
	if (news === 2)
		await reopen();
	if (!news && state.session.noted === noted)
		return;
	if (state.session.found.version !== was)
		arrange();
	if (state.session.noted !== noted)
		state.notes = await state.session.notes().catch(() => state.notes);
	const e = state.selected, map = e && state.session.clocks[e.row.stream.clock].map;
	if (e && told.maps !== undefined)
		e.half = map.bound(e.tick) < 0 ? -1 : map.bound(e.tick) + (e.capture || 0);
	describe();
	if (state.follow)
		go(state.session.to - (state.to - state.from) * .95, state.session.to + (state.to - state.from) * .05);
	later();
}

/** Clocks came or were tied anew: the same part of it is looked at. */
async function reopen() {
	const session = new Session(later, complain);
	await session.open(state.session);
	await session.look();
	const e = state.selected, row = e ? e.row : state.row; // of now: it took a while
	if (row)
		state.awaited = { name: row.name, clock: row.clockName, e };
	state.session = session;
	state.measured = state.anchor = state.place = null;
	state.cursors = [null, null];
	state.wiggle = null;
	state.row = null;
	state.selected = null;
	arrange();
}

/** What was selected before clocks came is selected again, once its row is there: that may take until its tiles, or findings, have come. */
function takeUp() {
	const { name, clock, e } = state.awaited, row = visibleRows().find(r => r.name === name && r.clockName === clock);
	if (state.row || state.selected) // something else was chosen
		state.awaited = null;
	if (!row || !state.awaited)
		return;
	state.awaited = null;
	state.row = row;
	if (e)
		choose(row, { ...e, half: -1 }, state.session.clocks[row.stream.clock].map); // until it is looked at again: the bound may be another
}

function describe() {
	const s = state.session, good = s.clocks.filter(c => c.verdict === "good").length;
	document.title = s.path + " - Coeval";
	$("session").textContent = s.path;
	const grows = s.streams.some(t => t.grows), live = s.live, silent = live.silent.size;
	$("facts").textContent = `${s.clocks.length} ${s.clocks.length === 1 ? "clock" : "clocks"} · ${duration(s.to - s.from)}` +
		(grows ? " · being captured; L follows" : "") + (grows && live.settled !== null && live.stored !== null ? ` · final up to ${duration(live.stored - live.settled)} ago` : "") +
		(grows && live.waits ? ` · waiting for what ties ${live.waits}` : "") + (grows && silent ? ` · ${silent} silent` : "") + (live.problem ? " · " + live.problem : "");
	$("tie").textContent = s.estimator ? `${s.estimator}, reference ${s.reference}` : "not synchronised";
	$("clocks").textContent = s.estimator ? `${good} of ${s.clocks.length} clocks good` : "";
}

/** Look at what an address, or a saved view, says. @param {URLSearchParams} held */
async function restore(held) {
	const look = held.get("look"), folded = held.get("folded"), view = () => (held.has("from") || held.has("to")) &&
		go(held.has("from") ? +held.get("from") : state.from, held.has("to") ? +held.get("to") : state.to);
	try {
		state.look = look ? { ...plain(), ...JSON.parse(look) } : plain();
	} catch {
		complain(new Error("the address does not say how rows are arranged"));
	}
	$("only").value = state.look.only;
	state.folded = new Set(folded ? folded.split(",").map(decodeURIComponent) : []);
	arrange();
	view();
	if (held.has("at")) {
		const [stream, name, tick] = held.get("at").split(",").map(decodeURIComponent);
		const want = () => visibleRows().find(r => r.stream.index === +stream && r.name === name);
		for (let tries = 0; tries < 100 && !want(); tries++)
			await new Promise(done => setTimeout(done, 30));
		if (want()) {
			state.row = want();
			state.selected = { row: want(), tick: +tick - 1, half: -1, depth: 0 };
			await step(want(), true);
			view();
		}
	}
	if (held.has("select"))
		await selectFirst(held.get("select"));
}

async function begin() {
	const held = new URLSearchParams(location.hash.slice(1).split("&").slice(1).join("&"));
	const session = new Session(later, complain);
	if (matchMedia("(prefers-color-scheme: dark)").matches)
		document.documentElement.dataset.theme = "dark";
	if (chosen === null) {
		const all = await places();
		if (all.folder)
			return chooseSession(all);
	}
	await session.open();
	state.session = session;
	if (state.still || saved)
		await session.look(true);
	state.notes = await session.notes().catch(error => (complain(error), [])); // what can be seen is seen without them
	arrange();
	describe();
	fit();
	state.views = [];
	await restore(held);
	if (saved)
		return tellSaved(held);
	if (session.collected)
		await lookAfter();
	if (!state.still) {
		Session.follow(hear);
		if (session.collected)
			setInterval(lookAfter, HEALTH_MS);
	}
}

/** How the nodes are, whether or not anything comes of them. */
async function lookAfter() {
	state.health = await state.session.health().catch(() => state.health);
	later();
}

/** Which of the sessions in a folder to look at. @param {{folder: string, sessions: string[]}} all */
function chooseSession(all) {
	const dialog = $("sessions"), [token] = location.hash.slice(1).split("&");
	document.title = all.folder + " - Coeval";
	$("folder").textContent = "Sessions in " + all.folder;
	$("sessionList").replaceChildren(...all.sessions.map((path, i) => {
		const button = element("button", { type: "button", onclick: () => {
			location.hash = "#" + token + "&session=" + i;
			location.reload();
		} }, path);
		return element("li", null, button);
	}));
	dialog.oncancel = event => event.preventDefault();
	dialog.showModal();
	document.body.dataset.ready = "yes";
}

/** What of the session this file holds. @param {URLSearchParams} held */
function tellSaved(held) {
	const less = [];
	if (report()) {
		const close = element("button", { onclick: () => report().classList.add("away") }, "Timeline (Esc; Y comes back)");
		close.id = "toTimeline";
		report().prepend(close);
	}
	if (!held.has("from"))
		go(saved.from - (saved.to - saved.from) * .01, saved.to + (saved.to - saved.from) * .01);
	if (saved.to - saved.from < (state.session.to - state.session.from) * .999)
		less.push(`only ${duration(saved.to - saved.from)} of ${duration(state.session.to - state.session.from)}`);
	if (saved.whole < saved.streams)
		less.push(`single records of ${saved.whole} of ${saved.streams} streams; others in parts of ${duration(saved.cell_ns)}`);
	if (!saved.rows)
		less.push("calls and other intervals not in full detail");
	$("facts").textContent += less.length ? " · in this file: " + less.join("; ") : " · all of it in this file";
}

// For the console, and for tests.
globalThis.coeval = Object.assign(state, { canvas, go });
begin().catch(complain);
