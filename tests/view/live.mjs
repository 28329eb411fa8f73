// SPDX-License-Identifier: MIT
// A capture is watched while it grows, and another clock comes: node live.mjs ADDRESS FOLDER, as page.mjs. Writes a line for what comes next.
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

const drawn = () => page.evaluate(() => {
	const s = globalThis.coeval;
	return s.groups.flatMap(g => g.rows).reduce((n, r) => n + (r.count ? r.count.reduce((a, b) => a + b, 0) : r.edges ? r.edges.length : 0), 0);
});
const wait = what => page.waitForFunction(what, null, { timeout: 30000 });

await wait(() => globalThis.coeval.session.streams.some(s => s.grows && s.last > 1e5));
console.log("it says that it grows: " + (await page.textContent("#facts")).includes("being captured"));
await page.keyboard.press("l");
const before = await page.evaluate(() => globalThis.coeval.session.to);
await page.waitForFunction(was => globalThis.coeval.session.to > was + 1.5e9, before, { timeout: 30000 });
await page.waitForTimeout(300);
const view = await page.evaluate(() => [globalThis.coeval.from, globalThis.coeval.to, globalThis.coeval.session.to]);
console.log("the view follows: " + (view[0] < view[2] && view[2] <= view[1]));
await page.keyboard.press("l");
await page.keyboard.press("f");
await page.waitForTimeout(300);
const some = await drawn();
await page.waitForTimeout(1500);
await page.keyboard.press("f");
await page.waitForTimeout(500);
console.log("more is drawn later: " + (await drawn() > some));
console.log("next"); // now another clock comes
await wait(() => globalThis.coeval.session.clocks.length === 2);
console.log("another clock appears: true");
await wait(() => !globalThis.coeval.session.streams.some(s => s.grows));
console.log("the end of the capture is seen: " + !(await page.textContent("#facts")).includes("being captured"));
await page.keyboard.press("f");
await page.waitForTimeout(700);
const [have, all] = [await drawn(), await page.evaluate(async () => {
	const s = globalThis.coeval, token = location.hash.slice(1).split("&")[0];
	let n = 0;
	for (const stream of s.session.streams) {
		const r = await (await fetch(`api/records?stream=${stream.index}&from=0&to=${2 ** 40}`, { headers: { "Coeval-Token": token } })).json();
		let level = null;
		for (const e of r.records) {
			if (e[1] === "edge")
				for (let d = level === null ? 0 : (level ^ e[4]) >>> 0; d; d &= d - 1)
					n++;
			if (e[1] === "edge" || e[1] === "state")
				level = e[4];
		}
	}
	return n;
})];
console.log("all edges are drawn: " + (have === all && all > 100) + (have === all ? "" : ` ${have} of ${all}`));
console.log("nothing was complained about: " + (told.length ? told.slice(0, 3).join("; ") : "true"));
await browser.close();
