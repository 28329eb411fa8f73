// SPDX-License-Identifier: MIT
// Names that are markup, or very long, are text: node names.mjs ADDRESS FOLDER, as page.mjs.
import { createRequire } from "node:module";

const [address, folder] = process.argv.slice(2);
const { chromium } = createRequire(folder + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
const told = [], asked = [];
page.on("console", m => told.push(m.text()));
page.on("pageerror", e => told.push(e.message));
page.on("dialog", d => told.push("dialog " + d.message()) && d.dismiss());
page.on("request", r => r.url().startsWith(address.split("#")[0]) || r.url().startsWith("data:") || asked.push(r.url()));
await page.goto(address);
await page.waitForFunction(() => document.body.dataset.ready === "yes");
for (const key of ["ArrowDown", ".", "m", "ArrowDown", ".", "ArrowDown", "ArrowDown", ".", "x", "x"]) {
	await page.keyboard.press(key);
	await page.waitForTimeout(150);
}
const names = await page.evaluate(() => globalThis.coeval.groups.flatMap(g => g.rows).map(r => r.name));
console.log("rows: " + names.map(n => n.length > 60 ? n.length + " characters" : JSON.stringify(n)).join(", "));
console.log("something is selected: " + await page.evaluate(() => globalThis.coeval.selected !== null));
console.log("elements that no page of ours has: " + await page.evaluate(() => document.querySelectorAll("img, iframe, svg, body script:not([id]):not([type=module]), [onerror], [onload]").length));
console.log("complaints: " + (told.length ? told.slice(0, 2).join("; ") : "none"));
console.log("asked elsewhere: " + (asked.length ? asked[0] : "nothing"));
await browser.close();
