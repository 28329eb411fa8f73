// SPDX-License-Identifier: MIT
// Times, and the maps from ticks to them. Times are ns on the timeline, ticks distances from the clock's base.

/** @type {[number, string][]} */
export const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** "11.7 µs". @param {number} ns @param {boolean} [sign] */
export function duration(ns, sign) {
	const size = Math.abs(ns), [unit, name] = units.find(u => size >= u[0]) || units[3];
	const value = size / unit, digits = unit === 1 ? Math.round(value).toString() : value >= 1000 ? value.toFixed(0) : value.toPrecision(3);
	return (ns < 0 ? "−" : sign && ns > 0 ? "+" : "") + digits + " " + name;
}

/** "2.000 512 269". @param {number} ns */
export function instant(ns) {
	return (ns / 1e9).toFixed(9).replace("-", "−").replace(/\.(\d{3})(\d{3})(\d{3})/, ".$1\u202f$2\u202f$3");
}

/** Half-width; below 0: unknown. @param {number} ns */
export function bound(ns) {
	return ns < 0 ? "unknown" : "± " + duration(ns);
}

/** Index of the first element of @list that is not below @v. @param {ArrayLike<number>} list @param {number} v */
export function lower(list, v) {
	let low = 0, high = list.length;
	while (low < high) {
		const mid = low + high >> 1;
		if (list[mid] < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/** A clock map: lines between knots, and rates beyond them. */
export class ClockMap {
	/** @param {any} told @param {number} [source] how far the source of its pulses may be off; below 0: any whole periods */
	constructor(told, source = 0) {
		this.source = source;
		this.name = ""; // as the server calls it: its clock's base, and what makes it another
		this.tick = Float64Array.from(told.knots, k => k[0]);
		this.ns = Float64Array.from(told.knots, k => k[1]);
		this.half = Float64Array.from(told.knots, k => k[2]);
		this.before = told.before;
		this.after = told.after;
		this.nominal = 1e9 / told.rate;
	}

	/** With other knots from the first of @told on. @param {any} told */
	changed(told) {
		const map = new ClockMap(told, this.source), n = lower(this.tick, map.tick[0]), join = (was, now) => Float64Array.from([...was.subarray(0, n), ...now]);
		if (n) {
			map.tick = join(this.tick, map.tick);
			map.ns = join(this.ns, map.ns);
			map.half = join(this.half, map.half);
			map.before = this.before;
		}
		map.name = this.name.split(" ")[0] + " as told meanwhile";
		return map;
	}

	/** ns of a tick beyond an end. @param {any} edge */
	slope(edge) {
		return this.nominal / (1 + edge.rate_ppb / 1e9);
	}

	/** @param {number} tick */
	time(tick) {
		const n = this.tick.length, i = lower(this.tick, tick);
		if (i === 0)
			return this.ns[0] + (tick - this.tick[0]) * this.slope(this.before);
		if (i === n)
			return this.ns[n - 1] + (tick - this.tick[n - 1]) * this.slope(this.after);
		const part = (tick - this.tick[i - 1]) / (this.tick[i] - this.tick[i - 1]);
		return this.ns[i - 1] + part * (this.ns[i] - this.ns[i - 1]);
	}

	/** The last tick up to which the map is a line from @tick on. @param {number} tick */
	until(tick) {
		const i = lower(this.tick, tick);
		return this.tick[i] === tick && i + 1 < this.tick.length ? this.tick[i + 1] : i < this.tick.length ? this.tick[i] : Infinity;
	}

	/** The inverse. @param {number} ns */
	at(ns) {
		const n = this.ns.length, i = lower(this.ns, ns);
		if (i === 0)
			return this.tick[0] + (ns - this.ns[0]) / this.slope(this.before);
		if (i === n)
			return this.tick[n - 1] + (ns - this.ns[n - 1]) / this.slope(this.after);
		const part = (ns - this.ns[i - 1]) / (this.ns[i] - this.ns[i - 1] || 1);
		return this.tick[i - 1] + part * (this.tick[i] - this.tick[i - 1]);
	}

	/** Half-width at a tick, ns; -1: unknown. @param {number} tick */
	bound(tick) {
		const own = this.source < 0 ? -1 : this.own(tick);
		return own < 0 ? -1 : own + this.source;
	}

	/** The map's own. @param {number} tick */
	own(tick) {
		const n = this.tick.length, i = lower(this.tick, tick);
		const beyond = (knot, edge) => {
			const s = Math.abs(tick - this.tick[knot]) * this.nominal / 1e9;
			return this.half[knot] < 0 ? -1 : this.half[knot] + edge.drift_ppb * s + edge.wander_ppb_s / 2 * s * s;
		};
		if (i === 0)
			return beyond(0, this.before);
		if (i === n)
			return beyond(n - 1, this.after);
		if (this.half[i - 1] < 0 || this.half[i] < 0)
			return -1;
		return this.half[i - 1] + (tick - this.tick[i - 1]) / (this.tick[i] - this.tick[i - 1]) * (this.half[i] - this.half[i - 1]);
	}

	/** As the clock claims: its rate is nominal, and it is right in the middle of its knots. */
	raw() {
		const n = this.tick.length, edge = { rate_ppb: 0, drift_ppb: 0, wander_ppb_s: 0 };
		const told = { knots: [[this.tick[0], this.ns[0], -1]], before: edge, after: edge, rate: 1e9 / this.nominal };
		return n < 2 ? this : new ClockMap(told);
	}
}
