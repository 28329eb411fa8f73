// SPDX-License-Identifier: MIT
// Rows on the canvas.

import { CHANNELS, GAPS, KINDS, saved } from "./data.js";
import { drawBus, drawCurve, drawLane } from "./lanes.js";
import { bound, duration, lower, units } from "./time.js";

export const LEFT = 184, OVERVIEW = 104, AXIS = 30, HEAD = 28, LANE = 26;
const SANS = 'px system-ui, "DejaVu Sans", sans-serif', MONO = 'px ui-monospace, "DejaVu Sans Mono", monospace';
/** Of clocks, in turn. */
export const COLOURS = ["n0", "n1", "n2", "n3", "n4", "n5"];
const NEARBY = 300; // pixels
/** A stream with more records in view, or over more tiles of them, is drawn by its sums. */
const RECORDS_MOST = 2500, TILES_MOST = 24;
/** Half-widths of 99.9 % in standard deviations. */
const SIGMAS = 3.2905;

const erf = z => {
	const t = 1 / (1 + .3275911 * Math.abs(z));
	const y = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - .284496736) * t + .254829592) * t * Math.exp(-z * z);
	return z < 0 ? -y : y;
};
/** Logarithms of small numbers. */
const LOGS = 4096, logs = Float32Array.from({ length: LOGS }, (_, i) => Math.log1p(i));
const chance = z => .5 * (1 + erf(z / Math.SQRT2));

/** @param {string} hex */
function rgb(hex) {
	const v = parseInt(hex.slice(1), 16);
	return [v >> 16, v >> 8 & 255, v & 255];
}

/** @param {string} hex @param {number} a */
function alpha(hex, a) {
	const v = parseInt(hex.slice(1), 16);
	return `rgba(${v >> 16},${v >> 8 & 255},${v & 255},${a})`;
}

export class Canvas {
	/** @param {HTMLCanvasElement} canvas @param {any} state */
	constructor(canvas, state) {
		this.canvas = canvas;
		this.g = canvas.getContext("2d", { alpha: false });
		this.state = state;
		this.colour = {};
		this.theme = "";
		this.sums = new WeakMap();
		this.above = this.below = new Uint32Array(0); // of columns
		this.next = new Int16Array(0);
		/** @type {Map<string, number>} */
		this.widths = new Map(); // of words
	}

	get left() {
		return LEFT;
	}

	alpha(colour, a) {
		return alpha(colour, a);
	}

	get label() {
		return "11" + SANS;
	}

	get small() {
		return "9" + SANS;
	}

	/** What is in view of a clock, as ns of the synchronised timeline. */
	known(clock) {
		const map = this.state.map(clock);
		return [clock.map.time(map.at(this.state.from)), clock.map.time(map.at(this.state.to))];
	}

	/** Theme and size may have changed. */
	fit() {
		const ratio = devicePixelRatio || 1, theme = document.documentElement.dataset.theme || "light";
		if (theme !== this.theme) {
			const style = getComputedStyle(document.documentElement);
			for (const name of ["ink", "dim", "faint", "paper", "panel", "line", "grid", "sel", "maybe", "maybe-paper", "sure", ...COLOURS])
				this.colour[name] = style.getPropertyValue("--" + name).trim();
			this.theme = theme;
		}
		this.w = this.canvas.clientWidth;
		this.h = this.canvas.clientHeight;
		const w = Math.floor(this.w * ratio), h = Math.floor(this.h * ratio);
		if (this.canvas.width !== w || this.canvas.height !== h) { // dear, even if it stays as large as it is
			this.canvas.width = w;
			this.canvas.height = h;
		}
		this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.g.imageSmoothingEnabled = false;
		// what is made pixel by pixel: one picture is drawn much faster than thousands of bars
		const wide = Math.max(1, Math.ceil(this.w - LEFT)), tall = Math.max(1, Math.ceil(this.h - OVERVIEW - AXIS));
		if (!this.pixels || this.pixels.width !== wide || this.pixels.height !== tall) {
			const image = new ImageData(wide, tall);
			this.pixels = { image, width: wide, height: tall, data32: new Uint32Array(image.data.buffer) };
			this.picture = new OffscreenCanvas(wide, tall);
		}
		this.pixels.data32.fill(0);
		this.drawn = false;
	}

	/** What was made pixel by pixel. */
	put() {
		const g = this.picture.getContext("2d", { willReadFrequently: true });
		if (!this.drawn)
			return;
		g.putImageData(this.pixels.image, 0, 0);
		this.g.drawImage(this.picture, LEFT, OVERVIEW + AXIS);
		this.pixels.data32.fill(0);
		this.drawn = false;
	}

	x(ns) {
		const s = this.state;
		return LEFT + (ns - s.from) / (s.to - s.from) * (this.w - LEFT);
	}

	ns(x) {
		const s = this.state;
		return s.from + (x - LEFT) / (this.w - LEFT) * (s.to - s.from);
	}

	/** ns of a pixel. */
	get pixel() {
		return (this.state.to - this.state.from) / (this.w - LEFT);
	}

	text(words, x, y, colour, font) {
		this.g.font = font;
		this.g.fillStyle = colour;
		this.g.fillText(words, x, y);
	}

	/** Width of words, which is dear to measure. */
	width(words, font) {
		const key = font + words;
		let w = this.widths.get(key);
		if (w === undefined) {
			this.g.font = font;
			if (this.widths.size > 5000)
				this.widths.clear();
			this.widths.set(key, w = this.g.measureText(words).width);
		}
		return w;
	}

	/** Words cut to a width. */
	fitted(words, x, y, width, colour, font) {
		if (this.width(words, font) > width) {
			while (words.length > 1 && this.width(words + "…", font) > width)
				words = words.slice(0, Math.ceil(words.length * .9) - 1);
			words += "…";
		}
		this.text(words, x, y, colour, font);
	}

	line(...points) {
		this.g.beginPath();
		points.forEach(([x, y], i) => i ? this.g.lineTo(x, y) : this.g.moveTo(x, y));
		this.g.stroke();
	}

	hatch(x, y, w, h, colour) {
		const g = this.g;
		g.save();
		g.beginPath();
		g.rect(x, y, w, h);
		g.clip();
		g.fillStyle = alpha(colour, .12);
		g.fillRect(x, y, w, h);
		g.strokeStyle = alpha(colour, .8);
		g.lineWidth = 1;
		g.beginPath();
		for (let k = Math.floor((x - h) / 6) * 6; k < x + w; k += 6) {
			g.moveTo(k, y + h);
			g.lineTo(k + h, y);
		}
		g.stroke();
		g.restore();
	}

	/* ---- a row ---- */

	/** Level at which a bucket is at most a pixel, and its buckets in view. */
	level(stream, map) {
		const ticks = Math.max(1, map.at(this.state.from + this.pixel) - map.at(this.state.from));
		return Math.max(0, Math.min(25, Math.floor(Math.log(ticks) / Math.log(4))));
	}

	/**
	 * What is to be drawn of a stream: cells, or records where they can be told apart. Fetched once for all of its rows.
	 * @param {any} stream
	 */
	look(stream) {
		const clock = this.state.session.clocks[stream.clock], map = this.state.map(clock);
		const from = map.at(this.state.from), to = map.at(this.state.to), level = stream.finest(this.level(stream, map), from, to);
		const late = stream.last === undefined || to < stream.first || from > stream.last + 1;
		const seen = { stream, clock, map, level, from, to, cells: [], records: null, all: true, blank: false };
		if (late)
			return seen;
		const width = 4 ** level, cells = (l, a, z, here) =>
			stream.cells(l, Math.floor(Math.max(a, stream.first) / 4 ** l), Math.floor(Math.min(z, stream.last) / 4 ** l), here);
		const c = cells(level, from, to, false);
		seen.cells = c.tiles;
		seen.all = c.all;
		for (let l = level + 1; !c.all && l < level + 4; l++) { // coarser ones meanwhile
			const coarse = cells(l, from, to, true);
			if (!coarse.all)
				continue;
			seen.cells = coarse.tiles;
			seen.level = l;
			return seen;
		}
		seen.blank = !c.all;
		if (c.all && !this.state.still) { // what may be next
			cells(level, from - (to - from) / 2, to + (to - from) / 2, false);
			cells(Math.min(25, level + 1), from - (to - from) / 2, to + (to - from) / 2, false);
		}
		if (c.all && (to - from) / stream.span < TILES_MOST && this.number(c.tiles, from / width, to / width) < RECORDS_MOST) {
			const r = stream.records(from, Math.min(to, stream.last));
			seen.all = r.all;
			if (r.all && r.tiles.length && !r.tiles.some(t => t.more))
				seen.records = r.tiles;
		}
		return seen;
	}

	/** Records in buckets from..to. */
	number(tiles, from, to) {
		let n = 0;
		for (const { tile } of tiles)
			for (const t of tile.track.values())
				for (let i = lower(t.bucket, Math.floor(from)); i < t.bucket.length && t.bucket[i] <= to; i++)
					n += t.count[i];
		return n;
	}

	/** Where the buckets of a stream begin, in pixels from the left: one for all of its rows. @param {any} seen */
	places(seen) {
		if (seen.places)
			return seen.places;
		const width = 4 ** seen.level, first = Math.max(0, Math.floor(Math.max(seen.from, seen.stream.first) / width) - 1);
		const n = Math.max(0, Math.ceil(Math.min(seen.to, seen.stream.last + 1) / width) - first + 3), at = new Float64Array(n);
		const start = this.state.from, scale = (this.w - LEFT) / (this.state.to - start);
		for (let i = 0; i < n;) { // the map is a line from here to its next knot
			const tick = (first + i) * width, last = Math.min(n, i + Math.max(1, Math.floor((seen.map.until(tick) - tick) / width) + 1));
			const a = (seen.map.time(tick) - start) * scale, z = (seen.map.time((first + last - 1) * width) - start) * scale, each = last - i > 1 ? (z - a) / (last - 1 - i) : 0;
			for (let k = i; k < last; k++)
				at[k] = a + (k - i) * each;
			i = last;
		}
		return seen.places = { first, at };
	}

	/** More edges than can be told apart: how many is shade, the share of time high is height. */
	shade(row, seen, colour) {
		const bottom = row.y + LANE - 5, h = LANE - 11, n = Math.ceil(this.w - LEFT), width = 4 ** seen.level;
		const count = new Float32Array(n), high = new Float32Array(n), word = row.line >> 5, bit = row.line & 31;
		const { first: base, at: begins } = this.places(seen), end = begins.length - 1;
		const place = tick => (seen.map.time(tick) - this.state.from) / (this.state.to - this.state.from) * (this.w - LEFT);
		const beginOf = bucket => begins[Math.max(0, Math.min(end, bucket - base))];
		/** High for a share of p..q, pixels. */
		const hold = (p, q, share) => {
			if (!share || q <= 0 || p >= n)
				return;
			const last = Math.min(n - 1, Math.floor(q));
			let z = Math.max(0, Math.floor(p));
			if (z === last) {
				high[z] += share * (q - Math.max(p, z));
				return;
			}
			high[z] += share * (z + 1 - Math.max(p, z));
			while (++z < last)
				high[z] += share;
			high[last] += share * Math.min(1, q - last);
		};
		let total = 0, most = 1;
		for (const { from, to, tile } of seen.cells) {
			const t = tile.track.get(row.line);
			let i = t ? lower(t.bucket, Math.floor(seen.from / width) - 1) : 0, at = beginOf(from);
			let level = t && i ? t.after[i - 1] : tile.levels[word] >> bit & 1;
			for (; t && i < t.bucket.length; i++) {
				const bucket = t.bucket[i];
				if (bucket * width > seen.to)
					break;
				const p = beginOf(bucket), q = beginOf(bucket + 1), z = Math.floor(p);
				if (level)
					hold(at, p, level);
				hold(p, q, t.ticks[i] / width);
				if (z >= 0 && z < n) {
					total += t.count[i];
					if ((count[z] += t.count[i]) > most)
						most = count[z];
				}
				level = t.after[i];
				at = q;
			}
			if (level)
				hold(at, place(Math.min(to * width, seen.to, seen.stream.last + 1)), level);
		}
		this.columns(count, high, most, colour, Math.round(bottom - h) - OVERVIEW - AXIS, h, Math.max(0, Math.floor(place(seen.stream.first))), Math.min(n, Math.ceil(place(seen.stream.last + 1))));
		row.count = count;
		let all = 0;
		for (let z = 0; z < n; z++)
			all += Math.min(1, high[z]);
		this.sum(row, seen, total, all);
	}

	/** Columns begin..end of a shaded row, made line by line. */
	columns(count, high, most, colour, top, h, begin, end) {
		const [red, green, blue] = rgb(colour), solid = red | green << 8 | blue << 16, empty = solid | 41 << 24, scale = .3 / Math.log1p(most), pixels = this.pixels, wide = pixels.width, data = pixels.data32;
		const first = Math.max(0, -top), last = Math.min(h, pixels.height - top) - 1;
		if (last < first || end <= begin)
			return;
		const above = this.above.length >= wide ? this.above : this.above = new Uint32Array(wide), below = this.below.length >= wide ? this.below : this.below = new Uint32Array(wide);
		const next = this.next.length >= wide ? this.next : this.next = new Int16Array(wide), heads = new Int16Array(h + 1).fill(-1); // columns by where they are filled
		for (let z = begin; z < end; z++) {
			const tall = high[z] > 1 ? h : high[z] * h, c = count[z];
			if (c) {
				const shade = .1 + scale * (c < LOGS ? logs[c] : Math.log1p(c));
				above[z] = solid | 255 * shade + .5 << 24;
				below[z] = solid | 255 * (.25 * shade + .75) + .5 << 24;
			} else {
				above[z] = 0;
				below[z] = empty;
			}
			const y = tall > .3 ? Math.max(first, h - tall + .5 | 0) : h; // filled from here down
			next[z] = heads[y];
			heads[y] = z;
		}
		const line = above.subarray(begin, end);
		for (let y = first, at = (top + first) * wide + begin; y <= last; y++, at += wide) {
			for (let z = heads[y]; z >= 0; z = next[z])
				above[z] = below[z];
			data.set(line, at);
		}
		for (let z = begin, at = (top + last) * wide; last === h - 1 && z < end; z++)
			if (!(data[at + z] >>> 24 > 90))
				data[at + z] = solid | 90 << 24; // the line's own level
		this.drawn = true;
	}

	/** What is in view of a row: how many, and of a line for how many pixels it is high. */
	sum(row, seen, count, high) {
		const from = Math.max(this.state.from, seen.map.time(seen.stream.first)), to = Math.min(this.state.to, seen.map.time(seen.stream.last));
		row.sums = { count, ns: Math.max(0, to - from), share: high === undefined || to <= from ? undefined : Math.min(1, high * this.pixel / (to - from)) };
	}

	/** Edges of a line among records: tick, level behind it, half-width, what of it the capture could not resolve. */
	edges(row, seen) {
		const word = row.line >> 5, bit = row.line & 31, edges = [];
		let level = null;
		for (const tile of seen.records) {
			if (level === null)
				level = tile.begin[word] >>> bit & 1;
			for (const r of tile.records) {
				if (r[1] !== "edge" && r[1] !== "state")
					continue;
				const now = r[4 + word] >>> bit & 1;
				if (now !== level && r[1] === "edge")
					edges.push([r[0], now, this.state.raw ? -1 : r[2], r[3]]);
				level = now;
			}
		}
		return { edges, first: seen.records.length ? seen.records[0].begin[word] >>> bit & 1 : 0 };
	}

	/** Edges that can be told apart: the height is the chance that the line is high. */
	wave(row, seen, colour) {
		const g = this.g, bottom = row.y + LANE - 5, h = LANE - 11, px = this.pixel;
		const { edges, first } = this.edges(row, seen);
		const points = [], marks = [], boxes = [];
		const begin = Math.max(LEFT, this.x(seen.map.time(seen.stream.first))), end = Math.min(this.w, this.x(seen.map.time(seen.stream.last)));
		let level = first, shown = first, high = 0, inside = 0, at = begin; // shown: the level at the end of the view
		if (begin > this.w)
			return;
		row.edges = [];
		points.push([begin, level]);
		for (const [tick, now, half, capture] of edges) {
			const ns = seen.map.time(tick), x = this.x(ns), wide = half / px;
			row.edges.push({ row, tick, ns, half, capture, now });
			if (x >= LEFT && x < this.w) {
				inside++;
				high += level ? x - at : 0;
				at = x;
			}
			if (x < this.w)
				shown = now;
			if (x < LEFT - 400 && wide < 400) {
				points.length = 0;
				points.push([begin, now]);
			} else if (wide < 1.2 || wide > 1e5) {
				points.push([x, level], [x, now]);
			} else if (seen.clock.kind === "proven") {
				points.push([x - wide, level], [x - wide, 0], [x + wide, 0], [x + wide, now]);
				boxes.push([x - wide, 2 * wide]);
			} else {
				for (let k = -28; k <= 28; k++) {
					const p = chance(1.12 * k / 28 * SIGMAS);
					points.push([x + 1.12 * k / 28 * wide, now ? p : 1 - p]);
				}
			}
			if (wide > 2.5 && x > LEFT && x < this.w)
				marks.push([x, wide]);
			level = now;
		}
		points.push([end, level]);
		this.sum(row, seen, inside, high + (shown ? Math.max(0, end - at) : 0));
		g.beginPath();
		g.moveTo(points[0][0], bottom);
		for (const p of points)
			g.lineTo(p[0], bottom - p[1] * h);
		g.lineTo(points[points.length - 1][0], bottom);
		g.closePath();
		g.fillStyle = alpha(colour, .16);
		g.fill();
		g.strokeStyle = colour;
		g.lineWidth = 1.6;
		g.lineJoin = "round";
		this.line(...points.map(p => [p[0], bottom - p[1] * h]));
		for (const [x, w] of boxes) {
			this.hatch(x, bottom - h, w, h, colour);
			g.strokeStyle = colour;
			g.strokeRect(x, bottom - h, w, h);
		}
		for (const [x, w] of marks) {
			const y = bottom + 3.5;
			g.lineWidth = 1.3;
			g.strokeStyle = g.fillStyle = colour;
			this.line([x - w, y], [x + w, y]);
			this.line([x - w, y - 2.5], [x - w, y + 2.5]);
			this.line([x + w, y - 2.5], [x + w, y + 2.5]);
			g.beginPath();
			g.arc(x, y, 2.3, 0, 7);
			g.fill();
		}
	}

	/** Columns of how many of some tracks there are. */
	density(row, seen, tracks, colour) {
		const g = this.g, bottom = row.y + LANE - 5, h = LANE - 9, n = Math.ceil(this.w - LEFT), width = 4 ** seen.level;
		const count = new Float32Array(n);
		for (const t of seen.cells.flatMap(({ tile }) => tracks.map(track => tile.track.get(track)))) {
			for (let i = t ? lower(t.bucket, Math.floor(seen.from / width) - 1) : 0; t && i < t.bucket.length; i++) {
				const z = Math.floor(this.x(seen.map.time(t.bucket[i] * width)) - LEFT);
				if (z >= n)
					break;
				if (z >= 0)
					count[z] += t.count[i];
			}
		}
		const most = Math.log1p(count.reduce((a, b) => Math.max(a, b), 1));
		for (let z = 0; z < n; z++)
			if (count[z]) {
				const tall = h * (.35 + .65 * Math.log1p(count[z]) / most);
				g.fillStyle = alpha(colour, .75);
				g.fillRect(LEFT + z, bottom - tall, 1, tall);
			}
		row.count = count;
		this.sum(row, seen, count.reduce((a, b) => a + b, 0));
	}

	/** Events one by one, with their fields where there is room. */
	events(row, seen, colour) {
		const g = this.g, middle = row.y + LANE / 2;
		row.edges = [];
		for (const tile of seen.records)
			for (const r of tile.records)
				if ((r[1] === "event" || r[1] === "begin") && r[4] === row.class) {
					const ns = seen.map.time(r[0]);
					row.edges.push({ row, tick: r[0], ns, half: this.state.raw ? -1 : r[2], capture: r[3], fields: r[5] });
				}
		this.sum(row, seen, row.edges.filter(e => e.ns >= this.state.from && e.ns < this.state.to).length);
		if (row.curve)
			return drawCurve(this, row, colour);
		row.edges.forEach((e, i) => {
			const x = this.x(e.ns), next = i + 1 < row.edges.length ? this.x(row.edges[i + 1].ns) : this.w, wide = e.half / this.pixel;
			if (x < LEFT - 300 || x > this.w)
				return;
			g.strokeStyle = g.fillStyle = colour;
			g.lineWidth = 1.6;
			this.line([x, row.y + 5], [x, row.y + LANE - 5]);
			if (wide > 2.5) {
				g.lineWidth = 1.3;
				this.line([x - wide, row.y + LANE - 3], [x + wide, row.y + LANE - 3]);
			}
			if (next - x > 40 && e.fields.length > 4)
				this.fitted(e.fields.slice(2, -2), x + 5, middle + 4, next - x - 10, this.colour.dim, "11" + MONO);
		});
	}

	/** An analog channel: from the least to the greatest reading, and their mean. */
	analog(row, seen, colour) {
		const g = this.g, top = row.y + 3, h = LANE - 6, points = [];
		if (seen.records) {
			for (const tile of seen.records)
				for (const r of tile.records)
					if (r[1] === "sample" && r[4] === row.channel && r[5] !== null)
						points.push([this.x(seen.map.time(r[0])), r[5], r[5], r[5]]);
		} else {
			for (const { tile } of seen.cells) {
				const t = tile.track.get(CHANNELS + row.channel);
				for (let i = 0; t && i < t.bucket.length; i++)
					points.push([this.x(seen.map.time(t.bucket[i] * 4 ** seen.level)), t.min[i], t.max[i], t.total[i] / t.count[i]]);
			}
		}
		const inside = points.filter(p => p[0] >= LEFT - 1 && p[0] <= this.w + 1);
		if (!inside.length)
			return;
		const low = inside.reduce((a, p) => Math.min(a, p[1]), Infinity), high = inside.reduce((a, p) => Math.max(a, p[2]), -Infinity);
		const y = v => top + h - (high > low ? (v - low) / (high - low) : .5) * h;
		g.strokeStyle = alpha(colour, .35);
		g.lineWidth = 1;
		g.beginPath();
		for (const p of inside) {
			g.moveTo(p[0], y(p[1]));
			g.lineTo(p[0], y(p[2]) - .5);
		}
		g.stroke();
		g.strokeStyle = colour;
		g.lineWidth = 1.3;
		this.line(...inside.map(p => [p[0], y(p[3])]));
		row.unit = [low, high];
		this.sum(row, seen, undefined);
		row.sums.range = [low, high];
	}

	/** Beacons and pulses on the clock's own row. */
	marks(row, seen, colour) {
		const g = this.g, y = row.y + HEAD - 7;
		const mark = x => {
			g.beginPath();
			g.moveTo(x, y + 3);
			g.lineTo(x - 2.6, y - 2);
			g.lineTo(x + 2.6, y - 2);
			g.fill();
		};
		g.fillStyle = colour;
		if (seen.records) {
			for (const tile of seen.records)
				for (const r of tile.records)
					if (r[1] === "beacon" || r[1] === "pulse")
						mark(this.x(seen.map.time(r[0])));
			return;
		}
		let last = -9;
		for (const { tile } of seen.cells)
			for (const kind of [5, 6]) {
				const t = tile.track.get(KINDS + kind);
				for (let i = 0; t && i < t.bucket.length; i++) {
					const x = this.x(seen.map.time(t.bucket[i] * 4 ** seen.level));
					if (x > last + 3 && x > LEFT && x < this.w)
						mark(last = x);
				}
			}
	}

	/** Gaps, over all rows of the stream. */
	gaps(seen, y, h) {
		const draw = (from, to) => {
			const a = Math.max(LEFT, this.x(seen.map.time(from))), b = Math.min(this.w, this.x(seen.map.time(to)));
			if (b >= a && b >= LEFT && a <= this.w)
				this.hatch(a - .5, y, Math.max(2, b - a), h, this.colour.faint);
		};
		if (seen.records) {
			for (const tile of seen.records)
				for (const r of tile.records)
					if (r[1] === "gap")
						draw(r[0], r[5] < 0 ? seen.stream.last : r[5]);
			return;
		}
		for (const { from, tile } of seen.cells) {
			const width = 4 ** seen.level, t = tile.track.get(GAPS);
			if (tile.gap > from * width)
				draw(from * width, tile.gap);
			for (let i = 0; t && i < t.bucket.length; i++)
				draw(t.bucket[i] * width, t.bucket[i] * width + t.ticks[i]);
		}
	}

	/* ---- all ---- */

	axis() {
		const g = this.g, s = this.state, span = s.to - s.from, rough = span / ((this.w - LEFT) / 120), ten = 10 ** Math.floor(Math.log10(rough));
		const step = ten * (rough / ten > 5 ? 10 : rough / ten > 2 ? 5 : rough / ten > 1 ? 2 : 1), top = OVERVIEW + AXIS;
		// from a whole second, or ms, on if that makes the words shorter
		const whole = span < 2e6 ? 1e6 : 1e9, base = span < whole / 2 ? Math.floor(s.from / whole) * whole : 0, relative = base !== 0 && !(s.from <= 0 && s.to >= 0);
		const zero = relative ? base : 0, [unit, name] = units.find(([u]) => Math.max(step, relative ? 0 : Math.abs(s.to) / 1e4) >= u || (u === 1e9 && span >= 5e8)) || units[3];
		const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
		for (let t = Math.ceil(s.from / step) * step; t < s.to; t += step) {
			const x = Math.round(this.x(t)) + .5, value = ((t - zero) / unit).toFixed(digits).replace("-", "−");
			g.lineWidth = 1;
			g.strokeStyle = this.colour.grid;
			this.line([x, top], [x, this.h]);
			g.strokeStyle = this.colour.faint;
			this.line([x, top - 5], [x, top]);
			this.text((relative ? "+" : "") + value + " " + name, x + 4, top - 9, this.colour.dim, "11" + SANS);
		}
		if (relative)
			this.text((base / 1e9).toFixed(whole < 1e9 ? 3 : 0) + " s", 16, top - 9, this.colour.ink, "600 12" + MONO);
	}

	overview() {
		const g = this.g, s = this.state, all = s.session, width = this.w - LEFT - 12, most = Math.max(1, Math.floor((OVERVIEW - 24) / 18));
		const at = ns => LEFT + (ns - all.from) / (all.to - all.from || 1) * width, pixel = (all.to - all.from || 1) / width;
		g.fillStyle = this.colour.panel;
		g.fillRect(0, 0, this.w, OVERVIEW);
		const shown = s.nodes.slice(0, most), counts = shown.map(group => this.summary(group, width, at, pixel)), key = JSON.stringify([this.w, shown.map(group => this.colour[group.colour])]);
		const was = this.bars;
		if (!was || was.key !== key || was.counts.length !== counts.length || was.counts.some((c, i) => c !== counts[i])) {
			this.bars = { key, counts, picture: new OffscreenCanvas(Math.max(1, this.w - LEFT), OVERVIEW) };
			const bars = this.bars.picture.getContext("2d");
			shown.forEach((group, k) => {
				const count = counts[k], top = Math.log1p(count.reduce((a, b) => Math.max(a, b), 1));
				for (let z = 0; z < count.length; z++)
					if (count[z]) {
						const share = Math.log1p(count[z]) / top;
						bars.fillStyle = alpha(this.colour[group.colour], .15 + .6 * share);
						bars.fillRect(z, 23 + k * 18 - 12 * share, 1, 12 * share);
					}
			});
		}
		g.drawImage(this.bars.picture, LEFT, 0);
		shown.forEach((group, k) => this.fitted(group.name, 16, 21 + k * 18, LEFT - 26, this.colour.dim, "11" + SANS));
		if (s.nodes.length > most)
			this.text(`and ${s.nodes.length - most} more`, 16, OVERVIEW - 8, this.colour.faint, "11" + SANS);
		const a = Math.max(LEFT, at(s.from)), b = Math.min(this.w - 2, at(s.to)), words = (s.from > all.from || s.to < all.to ? duration(s.to - s.from) + " of " : "all of ") + duration(all.to - all.from);
		g.fillStyle = alpha(this.colour.sel, .12);
		g.fillRect(a - 3, 5, b - a + 6, OVERVIEW - 28);
		g.strokeStyle = this.colour.sel;
		g.lineWidth = 1.4;
		g.strokeRect(a - 3.5, 5.5, b - a + 7, OVERVIEW - 29);
		this.text(words, Math.max(LEFT, Math.min(a, this.w - this.width(words, "600 11" + SANS) - 12)), OVERVIEW - 8, this.colour.sel, "600 11" + SANS);
		g.strokeStyle = this.colour.line;
		g.lineWidth = 1;
		this.line([0, OVERVIEW + .5], [this.w, OVERVIEW + .5]);
	}

	/** How many records of a clock are in each column of the whole; added up again only if there is more. */
	summary(group, width, at, pixel) {
		const all = this.state.session, seen = [];
		for (const stream of group.streams) {
			const map = all.clocks[stream.clock].map;
			if (stream.last === undefined)
				continue;
			const ticks = Math.max(1, map.at(all.from + pixel) - map.at(all.from)), level = stream.finest(Math.min(25, Math.max(0, Math.floor(Math.log(ticks) / Math.log(4)))), stream.first, stream.last);
			seen.push({ map, level, tiles: stream.cells(level, Math.floor(stream.first / 4 ** level), Math.floor(stream.last / 4 ** level)).tiles });
		}
		const from = [width, all.to, ...seen.flatMap(s => s.tiles.map(t => t.tile))], was = this.sums.get(group.clock);
		if (was && was.from.length === from.length && was.from.every((f, i) => f === from[i]))
			return was.count;
		const count = new Float32Array(Math.ceil(width) + 1);
		for (const { map, level, tiles } of seen)
			for (const { tile } of tiles)
				for (const [id, t] of tile.track)
					for (let i = 0; i < t.bucket.length; i++)
						count[Math.max(0, Math.floor(at(map.time(t.bucket[i] * 4 ** level)) - LEFT))] += id === GAPS ? 0 : t.count[i];
		this.sums.set(group.clock, { from, count });
		return count;
	}

	/** What is selected drops its band through all rows. */
	band() {
		const g = this.g, e = this.state.selected, top = OVERVIEW + AXIS;
		if (!e)
			return;
		const ns = this.state.now(e), x = this.x(ns);
		if (e.half >= 0) {
			const a = this.x(ns - e.half), b = this.x(ns + e.half), shade = g.createLinearGradient(a, 0, b, 0);
			shade.addColorStop(0, alpha(this.colour.sel, .03));
			shade.addColorStop(.5, alpha(this.colour.sel, .18));
			shade.addColorStop(1, alpha(this.colour.sel, .03));
			g.fillStyle = shade;
			g.fillRect(a, top, b - a, this.h);
		}
		g.strokeStyle = alpha(this.colour.sel, .9);
		g.lineWidth = 1;
		g.setLineDash([4, 3]);
		this.line([x, top], [x, this.h]);
		g.setLineDash([]);
	}

	/** A dashed box around what cannot be told from what is selected; a frame around that. */
	frames() {
		const g = this.g, chosen = this.state.selected;
		const frame = (e, colour, dashed) => {
			const x = this.x(this.state.now(e)), w = Math.max(0, e.half) / this.pixel;
			if (x + w < LEFT || x - w > this.w)
				return x + w;
			g.strokeStyle = colour;
			g.lineWidth = dashed ? 1.5 : 1.8;
			g.setLineDash(dashed ? [3, 2] : []);
			g.strokeRect(x - w - 3, e.row.y + 1, 2 * w + 6, e.row.h - 1);
			g.setLineDash([]);
			return x + w;
		};
		for (const e of this.state.unclear) {
			const x = frame(e, this.colour.maybe, true) + 14, y = e.row.y + e.row.h / 2;
			g.fillStyle = this.colour["maybe-paper"];
			g.strokeStyle = this.colour.maybe;
			g.lineWidth = 1;
			g.beginPath();
			g.arc(x, y, 8, 0, 7);
			g.fill();
			g.stroke();
			this.text("?", x - 3, y + 4, this.colour.maybe, "700 11" + SANS);
		}
		if (chosen && chosen.row.y)
			frame(chosen, this.colour.sel, false);
	}

	/** Messages: bands as wide as their ends are unsure, from the sender's row to the receiver's. */
	messages() {
		const g = this.g, s = this.state, span = s.to - s.from, top = OVERVIEW + AXIS, rows = new Map(), key = (stream, cls) => stream * 65536 + cls + 1;
		for (const group of s.groups) {
			for (const stream of group.streams)
				if (group.clock)
					rows.set(key(stream.index, -1), group.y + HEAD / 2);
			for (const row of group.rows)
				if (row.class !== undefined)
					rows.set(key(row.stream.index, row.class), row.y + row.h / 2);
		}
		s.links = [];
		if (s.raw || span > 1e15)
			return;
		const y = (stream, cls) => rows.get(key(stream, cls)) ?? rows.get(key(stream, -1));
		const sent = s.session.messages(s.from - span / 4, s.to);
		s.links = sent.list;
		this.waiting += sent.all ? 0 : 1;
		const end = (c, t) => {
			const map = s.map(s.session.clocks[c]);
			return { x: this.x(map.time(t)), w: Math.max(0, map.bound(t)) / this.pixel };
		};
		const list = [];
		for (const [stream, cls, clock, tick, stream2, cls2, clock2, tick2, n, , , , last, , , , last2] of s.links) {
			const ya = y(stream, cls), yb = y(stream2, cls2);
			if (ya === undefined || yb === undefined || Math.max(ya, yb) < top || Math.min(ya, yb) > this.h)
				continue;
			const a = end(clock, tick), b2 = end(clock2, n ? last2 : tick2);
			if (b2.x > LEFT && a.x < this.w)
				list.push({ a, b: n ? end(clock2, tick2) : b2, ya, yb, n: n || 1, a2: n ? end(clock, last) : null, b2: n ? b2 : null });
		}
		const many = list.length > 150, colour = this.colour.dim, most = Math.log1p(list.reduce((v, m) => Math.max(v, m.n), 1));
		for (const { a, b, ya, yb, n, a2, b2 } of list) {
			const down = yb > ya ? 1 : -1, y1 = ya + 8 * down, y2 = yb - 9 * down;
			g.fillStyle = alpha(colour, n > 1 ? .06 + .3 * Math.log1p(n) / most / Math.max(1, Math.log10(list.length)) : .14);
			g.beginPath();
			g.moveTo(a.x - a.w, y1);
			g.lineTo(a2 ? a2.x + a2.w : a.x + a.w, y1);
			g.lineTo(b2 ? b2.x + b2.w : b.x + b.w, y2);
			g.lineTo(b.x - b.w, y2);
			g.fill();
			if (n > 1) {
				const x = (a.x + a2.x + b.x + b2.x) / 4;
				if (a2.x - a.x > 44 && !many)
					this.text("× " + n, x - 10, (y1 + y2) / 2, colour, "11" + SANS);
				continue;
			}
			g.strokeStyle = g.fillStyle = alpha(colour, many ? .35 : .85);
			g.lineWidth = many ? .8 : 1.3;
			this.line([a.x, y1], [b.x, y2]);
			if (many)
				continue;
			const angle = Math.atan2(y2 - y1, b.x - a.x);
			g.beginPath();
			g.moveTo(b.x, y2);
			g.lineTo(b.x - 8 * Math.cos(angle - .36), y2 - 8 * Math.sin(angle - .36));
			g.lineTo(b.x - 8 * Math.cos(angle + .36), y2 - 8 * Math.sin(angle + .36));
			g.fill();
		}
	}

	/** The distance that is measured, with its bound. */
	measure() {
		const g = this.g, m = this.state.measured;
		if (!m || !m.pair)
			return;
		const a = this.x(this.state.now(m.from)), b = this.x(this.state.now(m.to)), y = OVERVIEW + AXIS + 16;
		const words = duration(m.pair.ns) + "  " + bound(m.pair.bound);
		g.strokeStyle = this.colour.ink;
		g.lineWidth = 1.2;
		this.line([a, y], [b, y]);
		this.line([a, y - 5], [a, this.h]);
		this.line([b, y - 5], [b, this.h]);
		const width = this.width(words, "600 12" + MONO), x = Math.max(LEFT + 6, Math.min(Math.max(a, b) + 10, this.w - width - 12));
		g.fillStyle = this.colour.paper;
		g.fillRect(x - 6, y - 11, width + 12, 21);
		g.strokeRect(x - 6.5, y - 11.5, width + 13, 22);
		this.text(words, x, y + 4, this.colour.ink, "600 12" + MONO);
	}

	/** Half-width over the view, on the clock's row, in log scale. */
	ribbon(row, map, colour) {
		const g = this.g, bottom = row.y + HEAD - 4, h = HEAD - 6;
		const tall = b => Math.max(1, Math.min(1, Math.log10(Math.max(1, b)) / 9) * h);
		if (map.bound(map.at((this.state.from + this.state.to) / 2)) < 0) {
			this.hatch(LEFT, row.y, this.w - LEFT, HEAD - 4, this.colour.faint);
			return;
		}
		g.fillStyle = alpha(colour, .22);
		g.beginPath();
		g.moveTo(LEFT, bottom);
		for (let x = LEFT; x <= this.w; x += 3)
			g.lineTo(x, bottom - tall(Math.max(0, map.bound(map.at(this.ns(x))))));
		g.lineTo(this.w, bottom);
		g.fill();
	}

	draw() {
		const g = this.g, s = this.state, top = OVERVIEW + AXIS;
		this.fit();
		this.seen = new Map(); // what is to be drawn of each stream
		this.blanks = 0;
		this.waiting = 0;
		g.fillStyle = this.colour.paper;
		g.fillRect(0, 0, this.w, this.h);
		this.axis();
		this.inside(0, top, () => {
			this.band();
			for (const group of s.groups) // what is a little outside is fetched, too
				if (!group.pinned && group.y + group.h > top - NEARBY && group.y < this.h + NEARBY)
					this.group(group, top);
			this.inside(LEFT, top, () => {
				this.put();
				this.messages();
				this.unsaved();
			});
		});
		for (const group of s.groups)
			if (group.pinned && group.rows.length) {
				g.fillStyle = this.colour.paper;
				g.fillRect(0, top, this.w, group.h);
				this.group(group, top);
				this.put();
				g.fillStyle = this.colour.line;
				g.fillRect(0, top + group.h - 3, this.w, 2);
			}
		this.inside(LEFT, top, () => {
			this.frames();
			this.cursors();
			this.measure();
		});
		this.notes();
		this.watermark();
		this.overview();
		g.strokeStyle = this.colour.line;
		g.lineWidth = 1;
		this.line([LEFT - .5, OVERVIEW], [LEFT - .5, this.h]);
		s.blank = this.blanks;
		s.session.hurry = this.waiting > 0;
		s.waiting = this.waiting;
	}

	/** What a saved page does not hold. */
	unsaved() {
		if (!saved)
			return;
		for (const [from, to] of [[LEFT, this.x(saved.from)], [this.x(saved.to), this.w]])
			if (to > from && (saved.to < this.state.session.to || saved.from > this.state.session.from)) {
				this.g.fillStyle = alpha(this.colour.faint, .14);
				this.g.fillRect(from, 0, to - from, this.h);
				if (to - from > 100)
					this.text("not in this file", from + 10, OVERVIEW + AXIS + 14, this.colour.dim, "11" + SANS);
			}
	}

	/** Draw only right of @x and below @y. @param {number} x @param {number} y @param {() => void} what */
	inside(x, y, what) {
		const g = this.g;
		g.save();
		g.beginPath();
		g.rect(x, y, this.w - x, this.h - y);
		g.clip();
		what();
		g.restore();
	}

	once(stream) {
		let one = this.seen.get(stream);
		if (!one) {
			this.seen.set(stream, one = this.look(stream));
			this.blanks += one.blank ? 1 : 0;
			this.waiting += one.all ? 0 : 1;
		}
		return one;
	}

	group(group, top) {
		const g = this.g, s = this.state, colour = this.colour[group.colour];
		this.inside(LEFT, top, () => {
			g.fillStyle = alpha(colour, .07);
			g.fillRect(LEFT, group.y, this.w, HEAD - 4);
			if (group.clock) {
				this.ribbon(group, s.map(group.clock), colour);
				this.estimated(group);
				for (const stream of group.streams)
					this.marks(group, this.once(stream), this.colour.ink);
			}
			for (const row of group.rows) {
				row.edges = row.count = row.sums = row.boxes = row.unit = null;
				if (row.y + row.h >= top - NEARBY && row.y <= this.h + NEARBY)
					this.row(row, this.colour[row.colour]);
				if (!group.clock)
					this.gaps(this.once(row.stream), row.y, row.h);
			}
			for (const stream of group.clock ? group.streams : [])
				this.gaps(this.once(stream), group.y, group.h - 10);
			this.place(group);
		});
		this.names(group, colour);
	}

	row(row, colour) {
		if (row.lane) {
			if (!drawLane(this, row, colour))
				this.waiting++;
			return;
		}
		const one = this.once(row.stream);
		if (one.stream.last === undefined || (!one.records && (row.y + row.h < OVERVIEW + AXIS || row.y > this.h)))
			return;
		if (row.bus)
			one.records ? drawBus(this, row, one, colour) : this.density(row, one, row.bus, colour);
		else if (row.line !== undefined)
			one.records ? this.wave(row, one, colour) : this.shade(row, one, colour);
		else if (row.channel !== undefined)
			this.analog(row, one, colour);
		else
			one.records ? this.events(row, one, colour) : this.density(row, one, [row.stream.classes + row.class], colour);
	}

	/** Where a place of the lists is. */
	place(group) {
		const g = this.g, s = this.state, p = s.place;
		if (!p)
			return;
		const rows = group.rows.filter(r => r.lane && r.lane.index === p.row);
		for (const [y, h] of rows.length ? rows.map(r => [r.y, r.h]) : group.clock && s.session.clocks.indexOf(group.clock) === p.clock ? [[group.y, group.h - 10]] : []) {
			const a = this.x(p.from), b = Math.max(a + 2, this.x(p.to));
			g.fillStyle = alpha(this.colour.sel, .1);
			g.fillRect(a, y, b - a, h);
			g.strokeStyle = this.colour.sel;
			g.lineWidth = 1.5;
			g.strokeRect(a - 1.5, y + .5, b - a + 3, h - 1);
		}
	}

	/** Of a clock that is captured: from where on its times are estimated, until more is known, and whether it fell silent. */
	estimated(group) {
		const g = this.g, s = this.state, live = s.session.live, y = group.y + 12;
		if (!group.streams.some(t => t.grows) || s.raw)
			return;
		const map = s.map(group.clock), end = this.x(map.time(Math.max(...group.streams.map(t => t.last ?? 0))));
		const x = Math.max(LEFT, live.settled === null ? LEFT : this.x(live.settled)), silent = live.silent.has(s.session.clocks.indexOf(group.clock));
		if (x < end && map.bound(map.at(s.to)) >= 0) {
			g.strokeStyle = this.colour.maybe;
			g.lineWidth = 2;
			g.setLineDash([5, 4]);
			this.line([x, group.y + HEAD - 5], [Math.min(end, this.w), group.y + HEAD - 5]);
			g.setLineDash([]);
			if (Math.min(end, this.w) - x > 60)
				this.text("estimated", x + 5, y, this.colour.maybe, "10" + SANS);
		}
		if (silent)
			this.text("silent", Math.max(LEFT + 5, Math.min(end + 5, this.w - 40)), y, this.colour.maybe, "600 10" + SANS);
	}

	/** Up to where all clocks that are not silent have stored what they captured. */
	watermark() {
		const g = this.g, s = this.state, at = s.session.live.stored, y = OVERVIEW + AXIS;
		if (at === null || s.raw)
			return;
		const x = this.x(at);
		if (x < LEFT || x > this.w)
			return;
		g.strokeStyle = this.colour.maybe;
		g.lineWidth = 1;
		g.setLineDash([1, 3]);
		this.line([x, y - AXIS + 4], [x, this.h]);
		g.setLineDash([]);
		g.fillStyle = this.colour.maybe;
		g.beginPath();
		g.moveTo(x, y);
		g.lineTo(x - 4, y - 6);
		g.lineTo(x + 4, y - 6);
		g.fill();
	}

	cursors() {
		const g = this.g, s = this.state, y = OVERVIEW + AXIS;
		s.cursors.forEach((c, i) => {
			if (!c)
				return;
			const x = this.x(c.e ? s.now(c.e) : c.ns);
			g.strokeStyle = this.colour.sure;
			g.lineWidth = 1.2;
			this.line([x, y], [x, this.h]);
			g.fillStyle = this.colour.sure;
			g.fillRect(x - 7, y, 14, 14);
			this.text(String(i + 1), x - 3, y + 11, this.colour.paper, "700 11" + SANS);
		});
		const [a, b] = s.cursors;
		if (a && b) {
			const xa = this.x(a.e ? s.now(a.e) : a.ns), xb = this.x(b.e ? s.now(b.e) : b.ns);
			g.fillStyle = alpha(this.colour.sure, .06);
			g.fillRect(Math.min(xa, xb), y, Math.abs(xb - xa), this.h);
		}
	}

	/** Flags of notes, on the axis. */
	notes() {
		const g = this.g, y = OVERVIEW + 3;
		let free = -Infinity;
		for (const n of this.state.notes) {
			const x = this.x(n.from);
			if (n.look || x < LEFT || x > this.w)
				continue;
			g.fillStyle = this.colour.maybe;
			g.fillRect(x - .5, y, 1.5, AXIS - 3);
			if (x < free)
				continue;
			const w = Math.min(160, this.width(n.text, "11" + SANS) + 10);
			g.fillStyle = this.colour["maybe-paper"];
			g.fillRect(x + 1, y, w, 14);
			this.fitted(n.text, x + 5, y + 11, w - 8, this.colour.ink, "11" + SANS);
			free = x + w + 4;
		}
	}

	names(group, colour) {
		const g = this.g, s = this.state, map = group.clock && s.map(group.clock), b = map && map.bound(map.at((s.from + s.to) / 2));
		g.fillStyle = this.colour.paper;
		g.fillRect(0, group.y, LEFT - 1, group.h);
		g.fillStyle = alpha(colour, .07);
		g.fillRect(0, group.y, LEFT - 1, HEAD - 4);
		g.fillStyle = colour;
		g.fillRect(0, group.y, 4, group.h - 10);
		const words = !map ? "" : b >= 0 ? bound(b) : group.clock.verdict === "ambiguous" ? "ambiguous" : "not tied";
		const hidden = group.folded ? `${group.folded} ${group.folded === 1 ? "row" : "rows"} folded` : group.quiet ? `${group.quiet} more, in which nothing happens` : "";
		if (hidden)
			this.text(hidden, this.w - this.width(hidden, "11" + SANS) - 8, group.y + 15, this.colour.faint, "11" + SANS);
		const width = this.width(words, "11" + MONO);
		this.text(words, LEFT - 10 - width, group.y + 16, this.colour.dim, "11" + MONO);
		this.fitted(group.name, 16, group.y + 16, LEFT - 36 - width, this.colour.ink, "600 13" + SANS);
		for (const row of group.rows) {
			const chosen = s.row === row;
			let room = LEFT - 36;
			if (row.unit) { // what the row's bottom and top are
				const low = row.unit[0].toPrecision(3), high = row.unit[1].toPrecision(3);
				const width = Math.max(this.width(low, "9" + MONO), this.width(high, "9" + MONO));
				this.text(high, LEFT - 8 - width, row.y + 10, this.colour.faint, "9" + MONO);
				this.text(low, LEFT - 8 - width, row.y + LANE - 4, this.colour.faint, "9" + MONO);
				room -= width;
			}
			const words = (row.marked ? "✓ " : "") + (group.clock ? "" : row.clockName + " ") + row.label + (row.curve ? " " + row.curve : "");
			if (!group.clock) {
				g.fillStyle = this.colour[row.colour];
				g.fillRect(0, row.y, 4, row.h);
			}
			this.fitted(words, 26, row.y + 17, room, chosen ? this.colour.sel : this.colour.dim, (chosen ? "600 " : "") + "12" + SANS);
		}
	}
}
