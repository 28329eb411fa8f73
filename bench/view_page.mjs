// SPDX-License-Identifier: MIT
// Figures of the page: node view_page.mjs COEVAL FOLDER EDGES CALLS LIVE GO STORED. Lines "KEY VALUE", or "SKIP REASON".
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const [coeval, folder, edges, calls, live, go, stored] = process.argv.slice(2);
const RUNS = 3, FRAMES = 600;
const children = [];
const pause = ms => new Promise(done => setTimeout(done, ms));

function end(code) {
	for (const c of children)
		c.kill("SIGKILL");
	process.exit(code);
}

function skip(why) {
	console.log("SKIP " + why);
	end(0);
}

mkdirSync(folder + "/npm", { recursive: true });
try {
	execFileSync("npm", ["install", "--no-save", "--no-audit", "--no-fund", "playwright-core@1"], { cwd: folder + "/npm", stdio: "pipe" });
} catch (error) {
	skip("npm cannot install playwright-core: " + String(error.stderr || error).trim().split("\n").pop());
}
const { chromium } = createRequire(folder + "/npm/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--enable-precise-memory-info"] });

/** Views a session. */
async function serve(session) {
	const c = spawn(coeval, ["view", session, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
	let text = "", problems = "";
	children.push(c);
	c.stdout.on("data", d => text += d);
	c.stderr.on("data", d => problems += d);
	while (!text.includes("\n")) {
		if (c.exitCode !== null)
			skip(problems.trim().split("\n").pop());
		await pause(50);
	}
	return { address: text.trim(), memory: () => +/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${c.pid}/status`, "utf8"))[1] / 1024 };
}

const ready = page => page.waitForFunction(() => globalThis.coeval && document.body.dataset.ready === "yes", null, { timeout: 120000 });

async function open(address) {
	const page = await browser.newPage({ viewport: { width: 1600, height: 920 } });
	await page.goto(address);
	return page;
}

/** Times of frames while it is moved and zoomed; of a page without a session while nothing moves. */
const frames = page => page.evaluate(async FRAMES => {
	const s = globalThis.coeval, times = [], frame = () => new Promise(done => requestAnimationFrame(done));
	let blank = 0;
	await frame();
	for (let i = 0, last = performance.now(); i < FRAMES; i++) {
		if (s.session) {
			const span = s.to - s.from, middle = (s.from + s.to) / 2, f = i < FRAMES / 2 ? .985 : 1 / .985;
			s.go(middle - span * f / 2 + span * .005, middle + span * f / 2 + span * .005);
		}
		await frame();
		const now = performance.now();
		times.push(now - last);
		last = now;
		blank += s.session && s.blank > 0 ? 1 : 0;
	}
	times.sort((a, b) => a - b);
	return { p95: times[Math.floor(FRAMES * .95)], blank };
}, FRAMES);

let script = 0, memory = 0;
const heap = async page => script = Math.max(script, await page.evaluate(() => performance.memory.usedJSHeapSize) / 2 ** 20);

/* Edges: the first time levels of detail are made. */
const of = await serve(edges);
for (let k = 0; k < RUNS; k++) {
	const empty = await open(of.address.split("#")[0]), nothing = await frames(empty);
	await empty.close();
	const began = Date.now(), page = await open(of.address);
	await ready(page);
	console.log("paint", Date.now() - began);
	const moved = await frames(page);
	console.log("frames", moved.p95 / nothing.p95);
	console.log("blank", moved.blank);
	await heap(page);
	await page.close();
}

/* Ten at once. */
const ten = await Promise.all(Array.from({ length: 10 }, () => open(of.address)));
await Promise.all(ten.map(ready));
await Promise.all(ten.map((page, i) => page.evaluate(async i => {
	performance.setResourceTimingBufferSize(100000);
	performance.clearResourceTimings();
	const s = globalThis.coeval, all = s.session.to - s.session.from;
	for (let k = 0; k < 30; k++) {
		const from = s.session.from + all * ((i * 7 + k * 13) % 97) / 100;
		s.go(from, from + all / (2 + k * k));
		await new Promise(done => setTimeout(done, 60));
	}
}, i)));
const times = (await Promise.all(ten.map(page => page.evaluate(() => performance.getEntriesByType("resource").filter(e => e.name.includes("api/many")).map(e => e.responseEnd - e.requestStart)))))
	.flat().sort((a, b) => a - b);
console.log("tiles", times[Math.floor(times.length * .95)]);
memory = of.memory();

/* Ten at once without their pages, which take all of this machine: what they would ask for. */
const [where, secret] = of.address.split("#"), late = [];
await Promise.all(Array.from({ length: 10 }, async (_, i) => {
	for (let k = 0; k < 30; k++) {
		const ask = Array.from({ length: 30 }, (_, t) => `cells?stream=${(i * 11 + k * 5 + t % 5) % 125}&level=${4 + k % 5}&from=${(t + k) * 1024}&to=${(t + k) * 1024 + 1023}`).join(";");
		const began = performance.now();
		await (await fetch(where + "api/many?" + new URLSearchParams({ ask }), { headers: { "Coeval-Token": secret } })).arrayBuffer();
		late.push(performance.now() - began);
		await pause(60);
	}
}));
late.sort((a, b) => a - b);
console.log("clients", late[Math.floor(late.length * .95)]);
await Promise.all(ten.map(page => page.close()));

/* Calls and messages. */
const other = await serve(calls);
for (let k = 0; k < RUNS; k++) {
	const empty = await open(other.address.split("#")[0]), nothing = await frames(empty);
	await empty.close();
	const page = await open(other.address);
	await page.waitForFunction(() => globalThis.coeval && coeval.session && coeval.session.found.done === 1, null, { timeout: 120000 });
	await ready(page);
	console.log("calls", (await frames(page)).p95 / nothing.p95);
	await heap(page);
	await page.close();
}
console.log("server", Math.max(memory, other.memory()));
console.log("browser", script);

/* A capture that goes on. */
while (!existsSync(live + "/traces/live/stream"))
	await pause(50);
const growing = await serve(live), page = await open(growing.address);
await ready(page);
await page.evaluate(() => {
	const c = globalThis.coeval.canvas, draw = c.draw.bind(c);
	globalThis.drawn = [];
	c.draw = () => {
		draw();
		globalThis.drawn.push([globalThis.coeval.session.streams[0].last ?? -1, Date.now()]);
	};
});
await page.keyboard.press("l");
writeFileSync(go, "");
await pause(13000);
const drawn = await page.evaluate(() => globalThis.drawn), behind = [];
for (const line of readFileSync(stored, "utf8").trim().split("\n").slice(2)) {
	const [tick, at] = line.split(" ").map(Number), seen = drawn.find(d => d[0] >= tick && d[1] >= at - 1);
	behind.push(seen ? seen[1] - at : 1e6);
}
behind.sort((a, b) => a - b);
console.log("live", behind[Math.floor(behind.length * .95)]);
await browser.close();
end(0);
