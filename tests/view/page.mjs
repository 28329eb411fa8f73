// SPDX-License-Identifier: MIT
// Drives the page of `coeval view` in a browser: node page.mjs ADDRESS FOLDER, with playwright-core in FOLDER/node_modules.
import { createRequire } from "node:module";

const [address, folder] = process.argv.slice(2);
const { chromium } = createRequire(folder + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
const told = [];
page.on("console", m => told.push(m.text()));
page.on("pageerror", e => told.push(e.message));

let failed = false;
function check(what, good, more = "") {
	console.log(what + ": " + (good ? "yes" : "NO " + more));
	failed = failed || !good;
}

async function settle() {
	await page.waitForFunction(() => document.body.dataset.ready === "yes", null, { timeout: 15000 });
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
	await page.waitForFunction(() => document.body.dataset.ready === "yes", null, { timeout: 15000 });
}

async function open(where) {
	await page.goto("about:blank");
	await page.goto(where);
	await settle();
}

async function press(...keys) {
	for (const key of keys) {
		await page.keyboard.press(key);
		await page.waitForTimeout(30);
		await settle();
	}
}

const state = what => page.evaluate(what => {
	const s = globalThis.coeval;
	return { view: [s.from, s.to], row: s.row && s.row.name, tick: s.selected && s.selected.tick, measured: s.measured && s.measured.pair, all: [s.session.from, s.session.to], raw: s.raw }[what];
}, what);

await open(address);

/* Counts of each column against the records, one by one: their buckets are drawn where these begin. */
const wrong = await page.evaluate(async () => {
	const s = globalThis.coeval, token = location.hash.slice(1).split("&")[0], wrong = [];
	const pause = () => new Promise(done => setTimeout(done, 20));
	const all = [];
	for (const stream of s.session.streams) {
		const got = [];
		for (let at = 0; at <= stream.last; at += 2 ** 28)
			got.push(...(await (await fetch(`api/records?stream=${stream.index}&from=${at}&to=${at + 2 ** 28 - 1}`, { headers: { "Coeval-Token": token } })).json()).records);
		all.push(got);
	}
	let seed = 7;
	const random = () => (seed = seed * 1103515245 + 12345 & 0x7fffffff) / 0x7fffffff;
	let compared = 0, drawn = 0;
	for (let k = 0; k < 20; k++) {
		const length = (s.session.to - s.session.from) * 10 ** (-3 * random()), from = s.session.from + random() * (s.session.to - s.session.from - length);
		s.go(from, from + length);
		do
			await pause();
		while (document.body.dataset.ready !== "yes");
		for (const group of s.groups)
			for (const row of group.rows) {
				if (!row.count || row.line === undefined)
					continue;
				const clock = s.session.clocks[row.stream.clock], pixels = s.canvas.w - 184, width = 4 ** s.canvas.level(row.stream, clock.map);
				const count = new Float32Array(Math.ceil(pixels));
				let level = 0;
				for (const r of all[row.stream.index]) {
					if (r[1] !== "edge" && r[1] !== "state")
						continue;
					const now = r[4] >>> row.line & 1, z = Math.floor(s.canvas.x(clock.map.time(Math.floor(r[0] / width) * width)) - 184);
					if (now !== level && r[1] === "edge" && z >= 0 && z < count.length)
						count[z]++;
					level = now;
				}
				compared += count.length;
				drawn += row.count.reduce((a, b) => a + b, 0);
				count.forEach((c, z) => {
					if (c !== row.count[z])
						wrong.push(`${row.name} ${k}/${z}: ${row.count[z]} instead of ${c}`);
				});
			}
	}
	if (compared < 10000 || drawn < 100)
		wrong.push(`only ${compared} columns with ${drawn} edges compared`);
	return wrong;
});
check("counts of all columns in 20 views are those of the records", !wrong.length, wrong.slice(0, 5).join("; "));

/* By keyboard alone. */
await open(address);
const [a, b] = await state("view");
await press("w");
const [c, d] = await state("view");
check("W zooms in", d - c < b - a);
await press("s");
await press("d");
check("D moves later", (await state("view"))[0] > a);
await press("f");
const fit = await state("view"), all = await state("all");
check("F shows all", fit[0] <= all[0] && fit[1] >= all[1]);
await press("ArrowDown", "ArrowDown");
check("a row is chosen", await state("row") !== null);
await press(".");
await page.waitForFunction(() => globalThis.coeval.selected);
const first = await state("tick");
await press(".");
await page.waitForFunction(t => globalThis.coeval.selected.tick > t, first);
check(". goes on", await state("tick") > first);
await press(",");
await page.waitForFunction(t => globalThis.coeval.selected.tick === t, first);
check(", goes back to the same edge", await state("tick") === first);
check("the panel tells its bound", (await page.textContent("#side")).includes("±"));
await press("m");
await press("ArrowDown", ".");
await page.waitForFunction(() => globalThis.coeval.measured && globalThis.coeval.measured.pair);
check("M measures", (await state("measured")).bound > 0);
await press("r");
check("R shows clocks as they came", await state("raw"));
await press("r");
await press("/");
await page.keyboard.type("receive\n");
await page.waitForFunction(() => globalThis.coeval.row && globalThis.coeval.row.name === "RECEIVE");
check("/ finds a line", true);
await press("/");
await page.keyboard.press("Control+A");
await page.keyboard.type("1.5 s\n");
await settle();
const found = await state("view");
check("and a time", Math.abs((found[0] + found[1]) / 2 - 1.5e9) < 1e6, String(found));
await press("x");
check("X folds all rows", await page.evaluate(() => globalThis.coeval.groups.every(g => !g.rows.length)));
await press("x");
check("and unfolds them", await page.evaluate(() => globalThis.coeval.groups.every(g => g.rows.length)));
await press("?");
check("? helps", await page.isVisible("#help"));
await page.keyboard.press("Escape");

/* The address holds the view. */
await press("w", "w", "w");
await page.waitForTimeout(400); // it is written once nothing moves
const held = page.url(), view = await state("view"), tick = await state("tick");
await open(held);
await page.waitForFunction(() => globalThis.coeval.selected);
const back = await state("view");
check("the address holds the view", Math.abs(back[0] - view[0]) <= 1 && Math.abs(back[1] - view[1]) <= 1 && await state("tick") === tick, [...view, ...back].join(" "));

/* Without the secret. */
await page.goto("about:blank");
await page.goto(address.split("#")[0]);
await page.waitForFunction(() => document.getElementById("message").textContent);
check("without the secret it says what to do", (await page.textContent("#message")).includes("open the whole address"));

const others = told.filter(t => !t.includes("403"));
check("nothing was complained about", !others.length, others.slice(0, 3).join("; "));
await browser.close();
process.exit(failed ? 1 : 0);
