// SPDX-License-Identifier: MIT
// The panel beside the rows: what is selected, what lies between the cursors, what was found.

import { lengthOf, marksOf } from "./lanes.js";
import { bound, duration, instant } from "./time.js";

/** @param {string} name @param {any} [props] @param {...(Node|string)} inside */
export function element(name, props, ...inside) {
	const e = Object.assign(document.createElement(name), props || {});
	e.append(...inside);
	return e;
}

function row(cells, classes = []) {
	return element("tr", null, ...cells.map((c, i) => element("td", { className: classes[i] || "", colSpan: cells.length === 1 ? 2 : 1 }, c)));
}

const table = (...rows) => element("table", null, ...rows);
const heading = text => element("h2", null, text);
const order = pair => [pair.order, pair.order === "cannot tell" ? "maybe" : "sure"];
const nameOf = e => e.row.label + (e.now === undefined ? "" : e.now ? " ↑" : " ↓");

function selected(state, e) {
	const clock = state.session.clocks[e.row.stream.clock], map = clock.map, m = state.measured, parts = [];
	const what = e.now === undefined ? "" : e.now ? " rises" : " falls";
	parts.push(heading("Selected"), element("div", null, element("b", null, clock.name + " · " + e.row.label + what)),
		element("div", { className: "time" }, instant(map.time(e.tick)) + " s"),
		element("div", { className: "number" }, bound(e.half), " ", element("span", { className: "dim" }, e.half < 0 ? "not tied to the timeline" : "· " + clock.kind)));
	if (e.until !== undefined)
		parts.push(table(row(["lasts", lengthOf(e, map)], ["", "number"]), ...(marksOf(e.marks) ? [row([marksOf(e.marks)], ["maybe"])] : [])));
	if (e.fields)
		parts.push(heading(e.until === undefined ? "Fields" : "What it is"), element("div", { className: "fields" }, e.fields));
	if (e.half >= 0)
		parts.push(heading("What the bound is made of"), table(
			row(["clock map", duration(map.own(e.tick))], ["", "number"]), row(["what the capture cannot resolve", duration(e.capture)], ["", "number"]),
			...(map.source > 0 ? [row(["source of its pulses", duration(map.source)], ["", "number"])] : [])));
	if (m && m.pair)
		parts.push(heading("Measured"), table(row(["from " + m.from.row.clockName + " " + nameOf(m.from), duration(m.pair.ns, true)], ["", "number"]),
			row(["", bound(m.pair.bound)], ["", "number"]), row(["", order(m.pair)[0]], ["", order(m.pair)[1]])));
	if (state.near.length)
		parts.push(heading("Order of what is near"), table(...state.near.map(n => row([
			state.session.clocks[n.e.row.stream.clock].name + " · " + nameOf(n.e),
			n.pair ? duration(n.pair.ns, true) : "…", n.pair ? bound(n.pair.bound) : "", n.pair ? n.pair.order : ""],
			["", "number", "number dim", n.pair ? order(n.pair)[1] : ""]))));
	parts.push(heading("Clock " + clock.name), table(row(["tied", clock.verdict]),
		...(clock.rate_ppb === undefined || !(clock.used + clock.rejected) ? [] : [row(["rate", (clock.rate_ppb / 1000).toFixed(3) + " ± " + (clock.rate_bound_ppb / 1000).toFixed(3) + " ppm"], ["", "number"]),
			row(["observations", `${clock.used} of ${clock.used + clock.rejected}`], ["", "number"])]),
		...(clock.reason ? [row([clock.reason])] : [])));
	return parts;
}

const number = v => Math.abs(v) >= 1e5 || (v && Math.abs(v) < 1e-3) ? v.toExponential(3) : String(+v.toPrecision(5));

/** What a row adds up to between the cursors. */
function area(state) {
	const [a, b] = state.cursors, r = state.row, sums = state.area, parts = [], ns = b.ns - a.ns;
	const pair = a.e && b.e ? state.session.pair(a.e, b.e) : null;
	parts.push(heading("From cursor 1 to 2"), table(
		row(["distance", duration(pair ? pair.ns : ns, true)], ["", "number"]),
		row(["", pair ? bound(pair.bound) : "no record at " + (a.e ? "2" : b.e ? "1" : "either")], ["", "number dim"]),
		...(ns ? [row(["1 / distance", number(1e9 / Math.abs(ns)) + " Hz"], ["", "number"])] : []),
		...(pair ? [row(["2 is", order(pair)[0]], ["", order(pair)[1]])] : [])));
	if (!r || !sums)
		return parts;
	const s = Math.abs(ns) / 1e9, rows = [], what = r.line !== undefined ? "edges" : r.channel !== undefined ? "readings" : "events";
	rows.push(row([what, sums.count.toLocaleString("en") + (sums.bound < 0 ? "" : sums.maybe ? ` ± ${sums.maybe}` : "")], ["", "number"]));
	if (s && r.channel === undefined)
		rows.push(row(["a second", number(sums.count / s)], ["", "number"]));
	if (sums.high !== undefined && s)
		rows.push(row(["high", duration(sums.high) + (sums.bound < 0 ? "" : " ± " + duration(Math.min(2 * sums.bound, s * 1e9)))], ["", "number"]),
			row(["", (100 * sums.high / (s * 1e9)).toFixed(3) + " %"], ["", "number"]));
	if (sums.mean !== undefined)
		rows.push(row(["mean", number(sums.mean)], ["", "number"]), row(["least", number(sums.least)], ["", "number"]), row(["greatest", number(sums.greatest)], ["", "number"]));
	if (sums.integral !== undefined)
		rows.push(row(["over time (of watts: J)", number(sums.integral) + (sums.bound < 0 || sums.integral_bound === null ? "" : " ± " + sums.integral_bound.toPrecision(2))], ["", "number"]),
			...(sums.covered < .9999 ? [row(["between readings", (100 * sums.covered).toFixed(2) + " % of it"], ["", "number"])] : []));
	parts.push(heading(r.label + " between them"), table(...rows));
	if (sums.bound > 0)
		parts.push(element("p", { className: "dim" }, "its times: " + bound(sums.bound)));
	return parts;
}

function inView(r) {
	const s = r.sums, what = r.line !== undefined ? "edges" : r.channel === undefined ? "events" : "readings";
	return [heading("In view of " + r.label), table(
		...(s.count === undefined ? [] : [row([what, s.count.toLocaleString("en")], ["", "number"]), ...(s.ns > 0 ? [row(["a second", (s.count / (s.ns / 1e9)).toPrecision(4)], ["", "number"])] : [])]),
		...(s.share === undefined ? [] : [row(["high", (100 * s.share).toFixed(2) + " %"], ["", "number"])]),
		...(s.range ? [row(["least", s.range[0].toPrecision(6)], ["", "number"]), row(["greatest", s.range[1].toPrecision(6)], ["", "number"])] : []))];
}

const LISTED = 30;

/** Lists of places, each a button that goes there. */
function found(state, jump) {
	const f = state.session.found, parts = [], lists = new Map();
	for (const place of f.places)
		lists.set(place.of, [...(lists.get(place.of) || []), place]);
	for (const [of, places] of lists) {
		const all = state.unfolded.has(of), at = places.indexOf(state.place), from = all || at < LISTED ? 0 : at - 2;
		parts.push(heading(of + (places.length > 1 ? ` (${places.length})` : "")));
		const list = element("ol", { className: "places", start: from + 1 });
		for (const place of places.slice(from, all ? undefined : from + LISTED))
			list.append(element("li", null, element("button", { className: place === state.place ? "here" : place.bad ? "bad" : "", onclick: () => jump(place) },
				place.text, element("span", { className: "dim" }, " at " + instant(place.from) + " s"))));
		parts.push(list);
		if (!all && places.length > LISTED)
			parts.push(element("button", { className: "more", onclick: () => { state.unfolded.add(of); jump(null); } }, `all ${places.length}`));
	}
	for (const [of, text] of f.problems)
		parts.push(element("p", { className: "maybe" }, `${of}: ${text}`));
	if (f.width)
		parts.push(element("p", { className: "dim" }, `of what is shorter than ${duration(f.width)} only sums are kept`));
	if (f.done < 1)
		parts.push(element("p", { className: "dim" }, `looking for calls, losses and more: ${Math.round(100 * f.done)} %`));
	return parts;
}

/** Clocks whose times are not to be relied on. */
function clocks(state) {
	const bad = state.session.clocks.filter(c => c.verdict !== "good"), list = element("ul", { className: "places" });
	if (!bad.length || !state.session.estimator)
		return [];
	for (const c of bad.slice(0, LISTED))
		list.append(element("li", null, element("b", null, c.name), " ", element("span", { className: "maybe" }, c.verdict), c.reason ? ": " + c.reason : ""));
	return [heading(`Clocks that are not well tied (${bad.length})`), list, ...(bad.length > LISTED ? [element("p", { className: "dim" }, `and ${bad.length - LISTED} more`)] : [])];
}

/** How much is wrong with a node: what is silent first, then what lags, is refused, or has a wide bound. */
function trouble(n) {
	const seen = n.bound_ns === undefined ? 0 : n.bound_ns === null ? 30 : Math.log10(1 + n.bound_ns);
	return (n.state === "silent" ? 1e6 : 0) + (n.refused ? 1e5 : 0) + (n.dropped_bytes ? 1e4 : 0) + 100 * Math.log10(1 + (n.backlog_bytes || 0)) + 10 * Math.log10(1 + (n.gaps || 0)) + seen;
}

function size(bytes) {
	return bytes === undefined ? "" : bytes < 1e3 ? bytes + " B" : bytes < 1e6 ? (bytes / 1e3).toFixed(0) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
}

/** How the nodes of a collector's session are, the worst first. */
function nodes(state) {
	if (!state.health || !state.health.length)
		return [];
	const bad = state.health.filter(n => n.state === "silent").length, list = [...state.health].sort((a, b) => trouble(b) - trouble(a));
	const body = list.map(n => row([n.node,
		n.state === "silent" && n.silent_s > 0 ? "silent " + (n.silent_s < 120 ? Math.round(n.silent_s) + " s" : Math.round(n.silent_s / 60) + " min") : n.state,
		size(n.backlog_bytes),
		n.bound_ns === undefined ? "" : n.bound_ns === null ? "not tied" : "± " + duration(n.bound_ns),
		n.beacons === undefined ? "" : n.beacons.toLocaleString("en"),
		n.gaps ? n.gaps.toLocaleString("en") : ""],
		["", n.state === "silent" ? "bad" : n.why ? "maybe" : "dim", "number", "number", "number", "number"]));
	for (const [i, tr] of body.entries())
		if (list[i].why)
			tr.title = list[i].why;
	return [heading(`Nodes (${list.length}${bad ? `, ${bad} silent` : ""})`),
		element("table", { className: "nodes" }, row(["node", "", "backlog", "bound", "beacons", "gaps"], ["dim", "dim", "dim number", "dim number", "dim number", "dim number"]), ...body)];
}

/** Notes and saved views. */
function notes(state, act) {
	if (!state.notes.length)
		return [];
	const list = element("ol", { className: "places" });
	for (const n of state.notes)
		list.append(element("li", null, element("button", { onclick: () => act.goTo(n) }, (n.look ? "view: " : "") + n.text, element("span", { className: "dim" }, n.look ? "" : " at " + instant(n.from) + " s")),
			...(state.session.read_only ? [] : [element("button", { className: "drop", title: "remove it", ariaLabel: "remove " + n.text, onclick: () => act.drop(n) }, "×")])));
	return [heading("Notes and saved views"), list];
}

let told = "";

/** Draw it again if it would be another. @param {any} state @param {HTMLElement} side @param {{jump: (place: any) => void, goTo: (note: any) => void, drop: (note: any) => void}} act */
export function panel(state, side, act) {
	const e = state.selected, m = state.measured, f = state.session.found, parts = [];
	const key = JSON.stringify([e && [e.row.label, e.row.stream.index, e.tick, e.until, e.half], state.near.map(n => [n.e.tick, n.pair]), m && [m.from.tick, m.to.tick, m.pair], state.raw,
		state.row && [state.row.label, state.row.sums], state.cursors.map(c => c && c.ns), state.area, f.version, f.done, state.session.version, state.session.maps, state.place && state.place.from, [...state.unfolded], state.notes, state.health,
		state.cursors[0] && state.cursors[1] && state.cursors[0].e && state.cursors[1].e ? state.session.pair(state.cursors[0].e, state.cursors[1].e) : 0]);
	if (key === told)
		return;
	told = key;
	if (e)
		parts.push(...selected(state, e));
	if (state.cursors[0] && state.cursors[1])
		parts.push(...area(state));
	if (!e && !parts.length)
		parts.push(heading("Nothing selected"), element("p", { className: "dim" }, "Click an edge, a call or an event, or press . for the next one in the row. ? tells all keys."));
	if (state.row && state.row.sums && !(state.cursors[0] && state.cursors[1]))
		parts.push(...inView(state.row));
	parts.push(...notes(state, act), ...(e ? [] : nodes(state)), ...(e ? [] : clocks(state)), ...found(state, act.jump));
	const focus = document.activeElement && side.contains(document.activeElement) ? document.activeElement.textContent : null;
	side.replaceChildren(...parts);
	if (focus) // what has the keyboard keeps it
		for (const b of side.querySelectorAll("button"))
			if (b.textContent === focus) {
				b.focus();
				break;
			}
}
