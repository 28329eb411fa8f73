// SPDX-License-Identifier: MIT
// A page that was saved with its data shows what the live one shows: node html.mjs ADDRESS FILE FOLDER, as page.mjs.
import { createRequire } from "node:module";

const [address, file, folder] = process.argv.slice(2);
const { chromium } = createRequire(folder + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const told = [], asked = [];

async function open(where) {
	const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
	page.on("console", m => told.push(m.text()));
	page.on("pageerror", e => told.push(e.message));
	page.on("request", r => r.url() === where.split("#")[0] || r.url().startsWith("data:") || where.startsWith("http") || asked.push(r.url()));
	await page.goto(where);
	await page.waitForFunction(() => globalThis.coeval && coeval.session && coeval.session.found.done === 1 && document.body.dataset.ready === "yes", null, { timeout: 15000 });
	return page;
}

/** What is in view of each row, at a part of the whole. */
const look = (page, at, length) => page.evaluate(async ([at, length]) => {
	const s = globalThis.coeval, all = s.session.to - s.session.from, from = s.session.from + at * all;
	document.body.dataset.ready = ""; // what is drawn now is the last look's
	s.go(from, from + length * all);
	do
		await new Promise(done => setTimeout(done, 60));
	while (document.body.dataset.ready !== "yes");
	return s.groups.flatMap(g => g.rows).map(r => [r.clockName, r.label, r.count ? r.count.reduce((a, b) => a + b, 0) :
		r.edges ? r.edges.filter(e => e.ns >= s.from && e.ns < s.to).map(e => [e.tick, e.half, e.fields || e.now]) :
		(r.boxes || []).filter(b => b.end > 184 && b.x < s.canvas.w).map(b => [b.i.n || 1, b.i.tick, b.i.until])]).concat([["messages", s.links.filter(m => { const ns = s.session.clocks[m[2]].map.time(m[3]); return ns >= s.from && ns < s.to; }).length]]);
}, [at, length]);

const live = await open(address), saved = await open("file://" + file);
let compared = 0;
for (const [at, length] of [[0, 1], [.1, .3], [.31, .02], [.5, .001], [.77, .0001], [.9, .05]]) {
	const one = await look(live, at, length), two = await look(saved, at, length);
	one.forEach((row, i) => {
		compared++;
		if (JSON.stringify(row) !== JSON.stringify(two[i]))
			console.log(`at ${at}, ${length}: ${JSON.stringify(row).slice(0, 200)} live, ${JSON.stringify(two[i] || null).slice(0, 200)} saved`);
	});
}
console.log("rows compared: " + (compared > 40 ? "many" : compared));
console.log("places: " + ((await live.evaluate(() => JSON.stringify(coeval.session.found.places))) === (await saved.evaluate(() => JSON.stringify(coeval.session.found.places))) ? "the same" : "others"));
for (const key of ["n", ".", "ArrowDown", ".", "1", "ArrowDown", ".", "2", "[", "u", "u", "r", "r", "g", "g", "f", "i", "Escape"]) {
	await saved.keyboard.press(key);
	await saved.waitForTimeout(60);
}
console.log("keys: " + await saved.evaluate(() => document.getElementById("message").textContent || "nothing to say"));
console.log("complaints: " + (told.length ? told.slice(0, 3).join("; ") : "none"));
console.log("asked for: " + (asked.length ? asked[0] : "nothing"));
await browser.close();
