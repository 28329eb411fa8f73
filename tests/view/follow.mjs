// SPDX-License-Identifier: MIT
// What tests/grow.c writes is watched from its begin to its end: node follow.mjs ADDRESS FOLDER [PICTURE], as page.mjs.
import { createRequire } from "node:module";

const [address, folder, picture] = process.argv.slice(2);
const { chromium } = createRequire(folder + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1400, height: 700 } }), page = await context.newPage();
const told = [];
page.on("console", m => told.push(m.text()));
page.on("pageerror", e => told.push(e.message));
await page.goto(address);
await page.waitForFunction(() => document.body.dataset.ready === "yes");
await page.keyboard.press("l");
// a second page of the same browser hears of it by the first
const other = await context.newPage();
await other.goto(address);
await page.bringToFront();

/** Of clocks that are tied, at whole tenths of a second of the world: time and bound; and what is final by now. */
const look = () => page.evaluate(() => {
	const s = globalThis.coeval.session, of = c => +c.name.slice(1), rate = c => 8e6 * (1 + (of(c) * 37 % 101 - 50) * 1e-6);
	const all = s.clocks.map((c, i) => ({ name: c.name, last: s.streams.find(t => t.clock === i)?.last ?? 0, at: k => Math.floor(1000 * of(c) + k * rate(c)), map: c.map, c }));
	const seen = [];
	for (let k = 0; k < 4000; k += 7.3) {
		const here = all.filter(a => a.at(k) <= a.last && a.map.bound(a.at(k)) >= 0).map(a => [a.name, a.map.time(a.at(k)), a.map.bound(a.at(k)) + 125]);
		if (here.length)
			seen.push([k, here]);
	}
	return { seen, live: { ...s.live, silent: s.live.silent.size }, grows: s.streams.some(t => t.grows), clocks: s.clocks.length };
});
const final = new Map();
let pairs = 0, within = 0, most = 0, silent = 0, estimates = 0, back = 0, settled = -Infinity;
for (let over = false; !over;) {
	await page.waitForTimeout(700);
	const now = await look();
	over = !now.grows;
	most = Math.max(most, now.clocks);
	silent = Math.max(silent, now.live.silent);
	if (now.live.settled !== null) {
		back += now.live.settled < settled ? 1 : 0;
		settled = now.live.settled;
	}
	for (const [k, here] of now.seen)
		for (const [name, ns, bound] of here) {
			const key = name + " " + k;
			if (ns > settled)
				estimates++;
			else if (!final.has(key))
				final.set(key, ns);
			for (const [name2, ns2, bound2] of here)
				if (name < name2) {
					pairs++;
					within += Math.abs(ns - ns2) <= bound + bound2 ? 1 : 0;
				}
		}
	if (picture && now.live.settled !== null && silent && now.grows)
		await page.screenshot({ path: picture });
}
const end = await look();
let kept = 0, all = 0;
for (const [k, here] of end.seen)
	for (const [name, ns] of here)
		if (final.has(name + " " + k)) {
			all++;
			kept += Math.abs(ns - final.get(name + " " + k)) < 2 ? 1 : 0;
		}
console.log("clocks: " + most + ", " + silent + " fell silent");
console.log("estimated times were seen: " + (estimates > 100) + ", final ones: " + (all > 100));
console.log("what was final stayed: " + (kept === all) + (kept === all ? "" : ` ${all - kept} of ${all} changed`));
console.log("what is final went back: " + back);
console.log("distances of what was at one time are within their bounds: " + (within >= .999 * pairs && pairs > 1000 ? "99.9 %" : `${within} of ${pairs}`));
await other.waitForFunction(() => !globalThis.coeval.session.streams.some(s => s.grows), null, { timeout: 20000 });
console.log("the other page knows: " + await other.evaluate(() => globalThis.coeval.session.clocks.length) + " clocks");
console.log("nothing was complained about: " + (told.length ? told.slice(0, 3).join("; ") : "true") + await page.textContent("#message"));
await browser.close();
