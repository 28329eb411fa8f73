// SPDX-License-Identifier: MIT
// Clocks that come one by one while the page is open: node arrive.mjs ADDRESS FOLDER FILE, as page.mjs. Ends once FILE is there and all is seen.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const [address, folder, ended] = process.argv.slice(2);
const { chromium } = createRequire(folder + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
const told = [];
page.on("console", m => told.push(m.text()));
page.on("pageerror", e => told.push(e.message));
await page.goto(address);
await page.waitForFunction(() => document.body.dataset.ready === "yes");
await page.keyboard.press("ArrowDown");
await page.keyboard.press(".");
await page.waitForFunction(() => coeval.selected);
const first = await page.evaluate(() => [coeval.selected.tick, coeval.selected.row.clockName]);
await page.route(/cells|found|maps|session/, async route => { // a busy machine: what the page asks for comes late, sometimes too late for the next clock
	await new Promise(done => setTimeout(done, 400 * Math.random()));
	await route.continue();
});
let most = 0, steps = 0;
for (const until = Date.now() + 120000; Date.now() < until;) {
	const over = existsSync(ended), now = await page.evaluate(() => coeval.groups.length);
	steps += now > most;
	if (now < most)
		console.log(`${most} clocks became ${now}`);
	most = Math.max(most, now);
	if (over && now === 200 && await page.evaluate(() => document.body.dataset.ready === "yes"))
		break;
	await page.waitForTimeout(200);
}
await page.waitForTimeout(2000);
console.log("clocks: " + await page.evaluate(() => coeval.groups.length));
console.log("they came " + (steps > 1 ? "one after the other" : "at once"));
console.log("what was selected still is: " + await page.evaluate(first => coeval.selected && coeval.selected.tick === first[0] && coeval.selected.row.clockName === first[1], first));
console.log("the last are drawn: " + await page.evaluate(async () => {
	coeval.top = 1e9;
	coeval.go(coeval.session.from, coeval.session.to);
	do
		await new Promise(done => setTimeout(done, 100));
	while (document.body.dataset.ready !== "yes");
	return coeval.blank === 0 && coeval.groups.slice(-5).every(g => g.rows.some(r => (r.edges && r.edges.length) || (r.count && r.count.some(c => c))));
}));
console.log("complaints: " + (told.length ? told.slice(0, 3).join("; ") : "none") + await page.textContent("#message"));
await browser.close();
