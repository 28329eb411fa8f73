// SPDX-License-Identifier: MIT
// What the server tells, fetched as far as it is looked at.

import { ClockMap } from "./time.js";

const token = location.hash.slice(1).split("&")[0];
/** Number of the session in a folder, as in the address; null: there is only one, or none was chosen. */
export const chosen = new URLSearchParams(location.hash.slice(1)).get("session");

/** Of a page that was saved with its data: from..to ns, and where the answer to each request is. */
class Saved {
	/** @type {Record<string, [number, number]>} */
	index = {};

	/** @param {any} told @param {string} base64 */
	constructor(told, base64) {
		Object.assign(this, told);
		this.bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
	}

	/** @param {string} what @param {any} query */
	has(what, query) {
		return Object.hasOwn(this.index, what + "?" + new URLSearchParams(query));
	}

	/** @param {string} what @param {any} query */
	answer(what, query) {
		const at = this.index[what + "?" + new URLSearchParams(query)];
		if (!at)
			throw new Error("this file does not hold that; coeval view of the session does");
		return new Response(new Blob([this.bytes.subarray(at[0], at[0] + at[1])]).stream().pipeThrough(new DecompressionStream("deflate")));
	}
}

/** @type {any} */
export const saved = document.getElementById("saved") && new Saved(JSON.parse(document.getElementById("saved")?.textContent || ""), document.getElementById("bytes")?.textContent || "");

/** Whether there is an answer. */
const answered = (what, query) => !saved || saved.has(what, query);

/** Number that no maps have, as in save.c. */
const NO_MAPS = 4294967294;
/** What may be asked for together with others. */
const TOGETHER = ["cells", "records", "intervals", "messages", "pair", "area"], TOGETHER_MOST = 32;
/** @type {{request: string, done: (reply: Reply) => void, failed: (error: Error) => void}[]} */
let wanted = [];

/** A part of an answer. */
class Reply {
	/** @param {Uint8Array} bytes */
	constructor(bytes) {
		this.bytes = bytes;
	}

	async json() {
		return JSON.parse(new TextDecoder().decode(this.bytes));
	}

	async arrayBuffer() {
		return new Uint8Array(this.bytes).buffer;
	}
}

/** @param {string} what @param {any} query @param {string} method */
async function fetchOne(what, query, method) {
	const reply = await fetch("api/" + what + "?" + new URLSearchParams(chosen === null ? query : { ...query, session: chosen }), { method, headers: { "Coeval-Token": token } });
	if (!reply.ok)
		throw new Error((await reply.text()).trim() || reply.statusText);
	return reply;
}

/** All that is wanted now, since a browser takes a ms for each request. */
function fetchWanted() {
	while (wanted.length) {
		const list = wanted.splice(0, TOGETHER_MOST);
		fetchOne("many", { ask: list.map(w => w.request).join(";") }, "GET").then(async reply => {
			const buffer = await reply.arrayBuffer(), view = new DataView(buffer);
			for (let at = 0; at < buffer.byteLength;) {
				const wrong = view.getUint32(at, true), n = view.getUint32(at + 4, true), bytes = new Uint8Array(buffer, at + 8, n), w = list.shift();
				at += 8 + n;
				if (w)
					wrong ? w.failed(new Error(new TextDecoder().decode(bytes))) : w.done(new Reply(bytes));
			}
			list.forEach(w => w.failed(new Error("the answer ends too early")));
		}).catch(error => list.forEach(w => w.failed(error)));
	}
}

/** @param {string} what @param {any} [query] @param {string} [method] @returns {Promise<Response | Reply>} */
async function ask(what, query = {}, method = "GET") {
	if (saved)
		return saved.answer(what, query);
	if (!TOGETHER.includes(what))
		return fetchOne(what, query, method);
	return new Promise((done, failed) => {
		wanted.push({ request: what + "?" + Object.entries(query).map(([k, v]) => k + "=" + v).join("&"), done, failed });
		if (wanted.length === 1)
			queueMicrotask(fetchWanted);
	});
}

/** The events of the server, again and again. @param {(told: any) => void} tell */
async function listen(tell) {
	for (let again = false;; again = true) {
		try {
			const reader = (await fetchOne("events", {}, "GET")).body.pipeThrough(new TextDecoderStream()).getReader();
			for (let text = "", piece; !(piece = await reader.read()).done;) {
				const events = (text + piece.value).split("\n\n");
				text = events.pop() || "";
				for (const event of events)
					if (event.startsWith("data: "))
						tell({ ...JSON.parse(event.slice(6)), again });
				again = false; // it may have been another server
			}
			tell({ problem: "coeval view has ended" });
		} catch (error) {
			tell({ problem: "coeval view does not answer: " + error.message });
		}
		await new Promise(done => setTimeout(done, 1000));
	}
}

/** The cells of a tile, column by column. */
class Tile {
	/** @param {ArrayBuffer} buffer @param {number} from first bucket @param {number} channels */
	constructor(buffer, from, channels) {
		const bytes = new Uint8Array(buffer), view = new DataView(buffer);
		let at = 0;
		const number = () => {
			let v = 0, unit = 1, byte;
			do {
				byte = bytes[at++];
				v += (byte & 127) * unit;
				unit *= 128;
			} while (byte & 128);
			return v;
		};
		/** Up to 64 lines, 32 in each. */
		const lines = () => {
			const v = [0, 0];
			for (let shift = 0, byte = 128; byte & 128; shift += 7) {
				byte = bytes[at++];
				for (let k = 0; k < 7; k++)
					if (byte >> k & 1 && shift + k < 64)
						v[shift + k >> 5] |= 1 << (shift + k & 31);
			}
			return v;
		};
		this.levels = lines();
		this.known = lines();
		this.gap = number();
		/** @type {Map<number, {bucket: number[], count: number[], ticks: number[], min: number[], max: number[], total: number[], after: number[]}>} */
		this.track = new Map();
		this.last = [...this.levels];
		let bucket = from;
		while (at < bytes.length) {
			bucket += number();
			/** @type {[number, any][]} */
			const touched = [];
			const has = lines();
			const add = (id, count, ticks) => {
				let t = this.track.get(id);
				if (!t)
					this.track.set(id, t = { bucket: [], count: [], ticks: [], min: [], max: [], total: [], after: [] });
				t.bucket.push(bucket);
				t.count.push(count);
				t.ticks.push(ticks);
				return t;
			};
			for (let line = 0; line < KINDS; line++)
				if (has[line >> 5] >> (line & 31) & 1) {
					const count = number();
					touched.push([line, add(line, count, number())]);
					if (count % 2)
						this.last[line >> 5] ^= 1 << (line & 31);
				}
			const head = number();
			for (let n = Math.floor(head / 2), id = KINDS; n--;) {
				id += number();
				const count = number(), t = add(id, count, id === GAPS ? number() : 0);
				if (id >= CHANNELS && id < CHANNELS + channels) {
					t.min.push(view.getFloat64(at, true));
					t.max.push(view.getFloat64(at + 8, true));
					t.total.push(view.getFloat64(at + 16, true));
					at += 24;
				}
			}
			if (head % 2) {
				this.last = lines();
				lines();
			}
			for (const [line, t] of touched)
				t.after.push(this.last[line >> 5] >> (line & 31) & 1);
		}
	}
}

export const KINDS = 64, GAPS = KINDS + 8, CHANNELS = KINDS + 10;
const TILE = 1024; // buckets
const KEEP = 3000; // tiles
const SPENT_MOST = 3; // ms of a frame, for reading tiles that nobody waits for

/** A stream: its tiles at any level, and its records. */
class Stream {
	clock = 0;
	leaf = 0;
	/** @type {number | undefined} */ first;
	/** @type {number | undefined} */ last;
	/** @type {string[]} */ channels = [];

	/** @param {Session} session @param {number} index @param {any} told */
	constructor(session, index, told) {
		Object.assign(this, told);
		this.session = session;
		this.index = index;
		this.classes = CHANNELS + told.channels.length;
	}

	/**
	 * What is there of buckets from..to of a level; what is not is fetched, unless only what is @here is wanted.
	 * @param {number} level @param {number} from @param {number} to @param {boolean} [here]
	 */
	cells(level, from, to, here) {
		const tiles = [];
		let all = true;
		for (let i = Math.floor(Math.max(0, from) / TILE); i <= Math.floor(to / TILE); i++) {
			const query = { stream: this.index, level, from: i * TILE, to: i * TILE + TILE - 1 };
			const tile = this.session.get(`c${this.index}/${level}/${i}`, here || !answered("cells", query) ? null : async () =>
				this.session.inTurn((await ask("cells", query)).arrayBuffer(), bytes => new Tile(bytes, i * TILE, this.channels.length)));
			if (tile)
				tiles.push({ from: i * TILE, to: (i + 1) * TILE, tile });
			else if (answered("cells", query))
				all = false;
		}
		return { tiles, all };
	}

	/** The finest level from @level on that there is in the middle of from..to. @param {number} level @param {number} from @param {number} to */
	finest(level, from, to) {
		const map = this.session.clocks[this.clock].map;
		const middle = saved ? Math.max(this.first, Math.min(this.last, map.at(Math.max(saved.from, Math.min(saved.to, map.time((from + to) / 2)))))) : 0;
		for (; saved && level < 25; level++) {
			const i = Math.floor(middle / 4 ** level / TILE);
			if (saved.has("cells", { stream: this.index, level, from: i * TILE, to: i * TILE + TILE - 1 }))
				break;
		}
		return level;
	}

	/** Ticks of a tile of records. */
	get span() {
		return 4 ** (this.leaf + 1);
	}

	/** Records of ticks from..to, by tile. @param {number} from @param {number} to */
	records(from, to) {
		const tiles = [], span = this.span;
		let all = true;
		for (let i = Math.floor(Math.max(0, from) / span); i <= Math.floor(to / span); i++) {
			const query = { stream: this.index, from: i * span, to: (i + 1) * span - 1 };
			const tile = this.session.get(`r${this.index}/${i}`, answered("records", query) ? async () => (await ask("records", query)).json() : null);
			if (tile)
				tiles.push({ from: i * span, to: (i + 1) * span, ...tile });
			else if (answered("records", query))
				all = false;
		}
		return { tiles, all };
	}
}

/** Lists of places, what matters most first; others after them. */
const LISTS = ["violations", "losses", "what fits no path", "cannot tell", "much longer than usual"];
const rank = place => LISTS.includes(place.of) ? LISTS.indexOf(place.of) : LISTS.length;

/** The sessions in a folder: their paths. */
export const places = async () => saved ? { folder: "", sessions: [] } : (await ask("places")).json();

export class Session {
	version = 0;
	maps = 0;
	noted = 0;
	/** Whether its clocks are nodes' that a collector takes in, which have a health. */
	collected = false;
	/** Of a capture: times before which all is final, and stored, ns; who is waited for; clocks that fell silent; what is wrong. */
	live = { settled: null, stored: null, waits: "", silent: new Set(), problem: "" };
	/** @type {any[]} */ clocks = [];
	/** @type {any[]} */ streams = [];

	/** @param {() => void} changed called when something was fetched @param {(error: Error) => void} failed */
	constructor(changed, failed) {
		this.changed = changed;
		this.failed = failed;
		/** @type {Map<string, any>} */
		this.kept = new Map();
		this.asked = new Set();
		this.spent = 0; // ms of this frame
		this.hurry = true;
		/** @type {{version: number, done: number, rows: any[], names: string[], places: any[], problems: string[][], width: number}} */
		this.found = { version: 0, done: 0, rows: [], names: [], places: [], problems: [], width: 0 };
	}

	/** @param {Session} [before] the same at an earlier time: what is as it was is taken from it */
	async open(before) {
		Object.assign(this, await (await ask("session")).json());
		const same = i => before && before.clocks[i] && before.clocks[i].name === this.clocks[i].name && before.clocks[i].map.name === this.clocks[i].map && before.clocks[i].reference_ns === this.clocks[i].reference_ns;
		const maps = this.clocks.every((c, i) => same(i)) ? [] : (await (await ask("maps", { since: NO_MAPS })).json()).clocks;
		this.clocks.forEach((c, i) => {
			const name = c.map;
			c.map = same(i) ? before.clocks[i].map : new ClockMap(maps[i], c.group ? -1 : c.reference_ns);
			c.map.name = name;
			c.raw = c.map.raw();
		});
		this.streams = this.streams.map((s, i) => new Stream(this, i, s));
		for (const [i, s] of this.streams.entries()) {
			const was = before && before.streams[i], base = name => name.split(" ")[0];
			if (!was || was.name !== s.name || was.clock !== s.clock || before.clocks[was.clock].name !== this.clocks[s.clock].name)
				continue;
			const counted = base(before.clocks[was.clock].map.name) === base(this.clocks[s.clock].map.name); // from the same tick
			s.used = was.used;
			s.stale = was.last !== s.last || !counted;
			for (const [key, tile] of counted ? before.kept : []) // records have bounds, which may be others
				if (key.startsWith(`c${i}/`))
					this.kept.set(key, tile);
			if (s.stale)
				this.forget(i, was.last === undefined ? 0 : was.last, s.span);
		}
	}

	/**
	 * Read what arrived a few ms a frame, so that moving stays smooth; at once, if rows wait for it.
	 * @template T @param {Promise<ArrayBuffer>} coming @param {(bytes: ArrayBuffer) => T} read @returns {Promise<T>}
	 */
	async inTurn(coming, read) {
		const bytes = await coming;
		while (!this.hurry && this.spent > SPENT_MOST)
			await new Promise(done => setTimeout(done, 5));
		const began = performance.now(), made = read(bytes);
		this.spent += performance.now() - began;
		return made;
	}

	/** What @make (or nothing) gives, or nothing until it is there. @param {string} key @param {(() => Promise<any>) | null} make */
	get(key, make) {
		const have = this.kept.get(key);
		if (have !== undefined) {
			this.kept.delete(key); // the least recently used are first
			this.kept.set(key, have);
			return have;
		}
		if (make && !this.asked.has(key)) {
			this.asked.add(key);
			make().then(got => {
				this.kept.set(key, got);
				for (const old of this.kept.keys()) {
					if (this.kept.size <= KEEP)
						break;
					this.kept.delete(old);
				}
				this.changed();
			}, error => {
				this.kept.set(key, null);
				this.failed(error);
			}).finally(() => this.asked.delete(key));
		}
		return undefined;
	}

	/**
	 * Take in what is new. @param {any} told as news.h has it
	 * @returns {Promise<number>} 0 nothing that is drawn, 1 something, 2 the session has to be opened again
	 */
	async hear(told) {
		if (told.version > this.version || told.again)
			return 2;
		if (told.noted !== undefined)
			this.noted = told.noted;
		for (const [index, first, last] of told.streams || []) {
			const stream = this.streams[index], from = stream.last === undefined ? 0 : stream.last;
			if (last === stream.last)
				continue;
			stream.stale = true;
			stream.first = first;
			stream.last = last;
			this.forget(index, from, stream.span);
			this.to = Math.max(this.to, this.clocks[stream.clock].map.time(last));
		}
		if (told.maps !== undefined && told.maps !== this.maps)
			await this.tieAgain();
		if (told.live) { // after the maps: what is called final is drawn by those that are
			const [settled, stored, waits, silent, problem] = told.live;
			this.live = { settled, stored, waits, silent: new Set(silent), problem };
		}
		if (told.found) {
			this.found.done = told.found[1];
			if (told.found[0] !== this.found.version)
				await this.look();
		}
		return told.streams || told.live || told.maps || told.found ? 1 : 0;
	}

	/** Times of clocks are others from some tick on. */
	async tieAgain() {
		const told = await (await ask("maps", { since: this.maps })).json();
		this.maps = told.maps;
		told.clocks.forEach((map, i) => {
			const clock = this.clocks[i];
			if (!clock) // it came just now: the next event says so
				return;
			const from = map.knots.length > 1 ? map.knots[0][0] : 0;
			clock.map = clock.map.changed(map);
			clock.raw = clock.map.raw();
			for (const [index, stream] of this.streams.entries())
				if (stream.clock === i)
					this.forget(index, from, stream.span, true);
		});
		for (const key of this.kept.keys()) // distances and sums
			if (key[0] === "p" || key[0] === "a")
				this.kept.delete(key);
		this.from = Infinity;
		this.to = -Infinity;
		for (const stream of this.streams)
			if (stream.last !== undefined) {
				const map = this.clocks[stream.clock].map;
				this.from = Math.min(this.from, map.time(stream.first));
				this.to = Math.max(this.to, map.time(stream.last));
			}
		if (this.from > this.to)
			this.from = this.to = 0;
	}

	/** Tiles of a stream from a tick on; or only those of records, which have times. @param {boolean} [records] */
	forget(index, tick, span, records) {
		for (const key of this.kept.keys()) {
			const [what, level, tile] = key.split("/");
			const end = what === "c" + index && !records ? (+tile + 1) * TILE * 4 ** +level : what === "r" + index ? (+level + 1) * span : -1;
			if (end > tick)
				this.kept.delete(key);
		}
	}

	/** Messages that were sent from..to, by tiles of about that length. */
	messages(from, to) {
		let all = true;
		const found = [], query = (i, span) => ({ version: this.found.version, from: i * span, to: (i + 1) * span });
		if (!this.found.version)
			return { list: [], all: true };
		let span = 2 ** Math.ceil(Math.log2(to - from));
		for (let more = 0; saved && more < 30 && !saved.has("messages", query(Math.floor(to / span), span)); more++)
			span *= 2;
		for (let i = Math.floor(from / span); i <= Math.floor(to / span); i++) {
			const tile = this.get(`m${this.found.version}/${span}/${i}`, answered("messages", query(i, span)) ? async () => (await ask("messages", query(i, span))).json() : null);
			if (tile)
				found.push(...tile.messages || []);
			else if (tile === undefined && answered("messages", query(i, span)))
				all = false;
		}
		return { list: found, all };
	}

	/** Told intervals of a row in a part of the timeline, in parts of about two pixels. @returns {{list: any[][], all: boolean}} */
	intervals(lane, from, to, pixel) {
		const list = [], had = new Set(), query = (i, width) => ({ version: this.found.version, row: lane.index, from: i * 256 * width, to: (i + 1) * 256 * width, width });
		let all = true, level = Math.max(0, Math.round(Math.log(2 * pixel) / Math.log(4)));
		const there = l => saved.has("intervals", query(Math.floor(Math.max(saved.from, Math.min(saved.to, (from + to) / 2)) / (256 * 4 ** l)), 4 ** l));
		if (saved) {
			const levels = [...Array(31).keys()];
			level = [...levels.slice(level), ...levels.slice(0, level).reverse()].find(there) ?? level;
		}
		const width = 4 ** level, span = 256 * width;
		for (let i = Math.floor(from / span); i <= Math.floor(to / span); i++) {
			const has = answered("intervals", query(i, width));
			const tile = this.get(`i${this.found.version}/${lane.index}/${level}/${i}`, has ? () => this.askIntervals(lane, i * span, (i + 1) * span, width) : null);
			if (tile === undefined && has)
				all = false;
			for (const t of tile || []) { // a long one is in several tiles
				const key = t[0] + "/" + t[1] + "/" + t[2];
				if (!had.has(key))
					list.push(t);
				had.add(key);
			}
		}
		return { list, all };
	}

	async askIntervals(lane, from, to, width) {
		for (let got; saved && !saved.has("intervals", { version: this.found.version, row: lane.index, from, to, width });) { // as fine as they are there
			got = this.intervals(lane, from, to, width / 2);
			if (got.all)
				return got.list.sort((a, b) => a[1] - b[1]);
			await new Promise(done => setTimeout(done, 10));
		}
		return (await (await ask("intervals", { version: this.found.version, row: lane.index, from, to, width })).json()).list || [];
	}

	/**
	 * Calls @hear with what is new for as long as the page is there, one after the other. Of the pages of a browser that look at one
	 * session only one asks, since browsers have few connections for a host, and tells the others.
	 * @param {(told: any) => Promise<void>} hear
	 */
	static follow(hear) {
		const name = "coeval " + token + " " + chosen, others = new BroadcastChannel(name);
		let last = Promise.resolve();
		const inTurn = told => last = last.then(() => hear(told)).catch(error => hear({ problem: error.message }));
		others.onmessage = event => inTurn(event.data);
		navigator.locks.request(name, () => listen(told => {
			others.postMessage(told);
			inTurn(told);
		}));
	}

	/** What analyses found, if it is newer than what is known. @param {boolean} [wait] until there is anything @returns {Promise<boolean>} */
	async look(wait) {
		if (saved && this.found.version)
			return false;
		const told = await (await ask("found", { have: this.found.version, ...(wait && !saved ? { wait: 1 } : {}) })).json(), was = this.found;
		this.found.done = told.done;
		if (told.version === was.version)
			return false;
		this.found = { ...told,
			rows: told.rows.map(([of, name, clock, depths, states, n, rank], index) => ({ of, name, clock, depths, states, n, rank, index })).sort((a, b) => a.rank - b.rank),
			places: told.found.map(([of, text, clock, row, from, to, bad]) => ({ of, text, clock, row, from, to, bad })).sort((a, b) => rank(a) - rank(b)) };
		return true;
	}

	/** Sums of a row between two times; nothing until they are there. */
	area(row, from, to) {
		const track = row.line !== undefined ? row.line : row.channel !== undefined ? CHANNELS + row.channel : row.class !== undefined ? row.stream.classes + row.class : -1;
		if (track < 0 || saved)
			return null;
		const query = { stream: row.stream.index, track, from: Math.round(from), to: Math.round(to) };
		return this.get("a" + Object.values(query).join("/") + "/" + row.stream.last, async () => (await ask("area", query)).json());
	}

	/** The first event from @ns on whose text has @words, looked for as far as it takes. @param {(ns: number) => void} at told how far */
	async search(words, ns, at) {
		for (let from = Math.floor(ns); !saved;) {
			const told = await (await ask("search", { words, from })).json();
			if (!told.more)
				return told.hit;
			at(from = told.more);
		}
	}

	/** How the nodes are whose sessions are collected. */
	async health() {
		return (await (await ask("nodes")).json()).nodes;
	}

	async notes() {
		return (await (await ask("notes")).json()).annotations;
	}

	/** Add a note; or, with its number alone, remove it. */
	async note(note) {
		return (await (await ask("note", note, "POST")).json()).annotations;
	}

	/** Distance of two records, with its bound and order. */
	pair(a, b) {
		if (saved) { // the library tells it more tightly
			const of = e => { const half = this.clocks[e.row.stream.clock].map.bound(e.tick); return half < 0 ? -1 : half + (e.capture || 0); };
			const ns = this.clocks[b.row.stream.clock].map.time(b.tick) - this.clocks[a.row.stream.clock].map.time(a.tick), bound = of(a) < 0 || of(b) < 0 ? -1 : of(a) + of(b);
			return { ns, bound, order: bound < 0 || Math.abs(ns) <= bound ? "cannot tell" : ns > 0 ? "after" : "before" };
		}
		const query = { clock: a.row.stream.clock, tick: a.tick, capture: a.capture, clock2: b.row.stream.clock, tick2: b.tick, capture2: b.capture };
		return this.get("p" + Object.values(query).join("/"), async () => (await ask("pair", query)).json());
	}
}
