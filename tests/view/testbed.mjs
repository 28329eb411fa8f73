// SPDX-License-Identifier: MIT
// A node of the simulated test bed is chosen from a folder of sessions and watched until its capture has ended: node testbed.mjs ADDRESS FOLDER, as page.mjs.
import { createRequire } from "node:module";

const [address, folder] = process.argv.slice(2);
const { chromium } = createRequire(folder + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 700 } });
const told = [];
page.on("console", m => told.push(m.text()));
page.on("pageerror", e => told.push(e.message));
await page.goto(address);
await page.waitForFunction(() => document.body.dataset.ready === "yes");
console.log("sessions: " + (await page.locator("#sessionList button").allTextContents()).map(t => t.split("/").pop()).join(" "));
await page.locator("#sessionList button").first().click();
await page.waitForFunction(() => globalThis.coeval?.session && document.body.dataset.ready === "yes" && globalThis.coeval.session.streams.some(s => s.grows), null, { timeout: 30000 });
console.log("it is being captured: " + (await page.textContent("#facts")).includes("being captured"));
await page.keyboard.press("l");
let steps = 0, last = -1, back = 0;
for (const until = Date.now() + 120000; Date.now() < until;) {
	const [to, grows] = await page.evaluate(() => [Math.max(...globalThis.coeval.session.streams.map(s => s.last ?? 0)), globalThis.coeval.session.streams.some(s => s.grows)]);
	steps += to > last ? 1 : 0;
	back += to < last ? 1 : 0;
	last = to;
	if (!grows)
		break;
	await page.waitForTimeout(150);
}
console.log("it grew, step by step: " + (steps > 10) + ", and never back: " + !back);
await page.keyboard.press("l");
await page.keyboard.press("f");
await page.waitForTimeout(800);
const [drawn, stored] = await page.evaluate(async () => {
	const s = globalThis.coeval, token = location.hash.slice(1).split("&")[0];
	const drawn = s.groups.flatMap(g => g.rows).filter(r => r.line !== undefined).reduce((n, r) => n + (r.count ? r.count.reduce((a, b) => a + b, 0) : r.edges ? r.edges.length : 0), 0);
	let stored = 0;
	for (const stream of s.session.streams)
		for (let from = 0, more = true; more;) {
			const reply = await (await fetch(`api/records?session=0&stream=${stream.index}&from=${from}&to=${2 ** 50}`, { headers: { "Coeval-Token": token } })).json();
			let level = reply.begin[0];
			for (const e of reply.records) {
				for (let d = e[1] === "edge" ? (level ^ e[4]) >>> 0 : 0; d; d &= d - 1)
					stored++;
				level = e[1] === "edge" || e[1] === "state" ? e[4] : level;
			}
			more = reply.more;
			from = more ? reply.records.at(-1)[0] + 1 : 0;
		}
	return [drawn, stored];
});
console.log("all of its edges are drawn: " + (drawn === stored && stored > 1000) + (drawn === stored ? "" : ` ${drawn} of ${stored}`));
console.log("nothing was complained about: " + (told.length ? told.slice(0, 3).join("; ") : "true") + await page.textContent("#message"));
await browser.close();
