// SPDX-License-Identifier: MIT
// All by the keyboard: lists, cursors, rows arranged, notes, saved views: node keys.mjs ADDRESS FOLDER, as page.mjs.
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
	console.log(what + ": " + (good ? "yes" : "NO " + JSON.stringify(more)));
	failed = failed || !good;
}

async function settle() {
	for (let k = 0; k < 2; k++) {
		await page.waitForFunction(() => document.body.dataset.ready === "yes" && coeval.session.found.done === 1, null, { timeout: 15000 });
		await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
	}
}

async function press(...keys) {
	for (const key of keys) {
		await page.keyboard.press(key);
		await page.waitForTimeout(60);
		await settle();
	}
}

async function answer(text) {
	await page.waitForSelector("#ask[open]");
	await page.keyboard.type(text);
	await page.keyboard.press("Enter");
	await page.waitForSelector("#ask:not([open])", { state: "attached" });
	await page.waitForTimeout(150);
	await settle();
}

const get = f => page.evaluate(f);

async function find(words) {
	await page.keyboard.press("/");
	await page.keyboard.press("Control+A");
	await page.keyboard.type(words + "\n");
	await page.waitForTimeout(200);
	await settle();
}

await page.goto(address);
await settle();

await press("n");
const first = await get(() => [coeval.place.of, coeval.place.bad, coeval.from < coeval.place.from && coeval.to > coeval.place.to, coeval.row.lane.of]);
check("N goes to the first violation", first[0] === "violations" && first[1] && first[2] && first[3] === "check", first);
const place = await get(() => coeval.place.from);
await press("n", "b");
check("B goes back", await get(() => coeval.place.from) === place);
await press(".");
check("its row has it", await get(() => coeval.selected.until !== undefined && coeval.selected.half > 0 && coeval.selected.fields.length > 0), await get(() => coeval.selected && coeval.selected.fields));

await press("Escape", "f");
await find("observer2 receive");
await press("1", ".", ".", ".", ".", "2");
await page.waitForFunction(() => coeval.area, null, { timeout: 5000 });
const sums = await get(() => ({ ...coeval.area, snapped: coeval.cursors.every(c => c.e), panel: document.getElementById("side").textContent }));
check("1 and 2 put cursors at records", sums.snapped);
check("between them edges are counted", sums.count >= 4 && sums.count <= 5 && sums.bound > 0 && sums.high > 0, sums);
check("and the distance has a bound", /distance\+?[\d.]+ [mµn]?s± [\d.]+ [µn]s/.test(sums.panel.replace(/\s+/g, m => m.length ? " " : "")), sums.panel.slice(0, 300));
await press("Escape");
check("Esc takes them away", await get(() => coeval.cursors.every(c => !c)));

await press("p");
check("P pins", await get(() => coeval.groups[0].pinned && coeval.groups[0].rows[0].label === "RECEIVE" && coeval.groups[0].rows[0].clockName === "observer2"));
await page.keyboard.press("e");
await answer("what it heard");
check("E renames", await get(() => coeval.groups[0].rows[0].label === "what it heard"));
const colour = await get(() => coeval.groups[0].rows[0].colour);
await press("k");
check("K colours", await get(() => coeval.groups[0].rows[0].colour) !== colour);
await press("p");
check("P takes it back", await get(() => !coeval.groups[0].pinned));
await find("observer1 slot");
const order = () => get(() => coeval.groups.find(g => g.clock.name === "observer1").rows.map(r => r.label).join());
const before = await order();
await press("Shift+ArrowDown");
check("shift and down move a row", await order() !== before, await order());
await press("Alt+Shift+ArrowDown");
check("with alt a clock", await get(() => coeval.groups[1].clock.name === "observer1"));
await press("g");
check("G groups by name", await get(() => coeval.groups.some(g => !g.clock && g.rows.length === 4)));
await press("g");
await press("\\");
await page.keyboard.type("send frame\n");
await settle();
check("\\ leaves only what matches", await get(() => coeval.groups.flatMap(g => g.rows).every(r => /send|frame/i.test(r.label)) && coeval.groups.length > 0));
await press("\\", "Control+A", "Delete", "Escape");
check("and all again", await get(() => coeval.groups.flatMap(g => g.rows).some(r => r.label === "BEACON")));

await find("observer3 slot");
await press(" ", " ", " ");
await page.keyboard.press("h");
await answer("state");
check("space and H read lines as a number", await get(() => coeval.groups.flatMap(g => g.rows).some(r => r.bus && r.label === "state" && r.bus.length === 3)));
await find("state");
await press(".", ".");
const value = await get(() => [coeval.row.label, coeval.selected.row.bus && coeval.selected.tick]);
check("and . steps through its values", value[0] === "state" && value[1] > 0, value);

await press("Escape", "f");
await find("observer2 what it heard");
await page.keyboard.press("i");
await answer("<i>here</i>");
check("I writes a note", await get(() => coeval.notes.length === 1 && coeval.notes[0].text === "<i>here</i>" && Math.abs(coeval.notes[0].from - coeval.now(coeval.selected)) < 1000));
await press("w", "w", "w");
await page.keyboard.press("v");
await answer("three in");
const saved = await get(() => [coeval.from, coeval.to, coeval.selected.tick]);
await press("Escape", "f", "x");
await page.keyboard.press("o");
check("O goes to the lists", await get(() => document.activeElement.tagName === "BUTTON"));
for (let k = 0; k < 6 && !(await get(() => document.activeElement.textContent.includes("three in"))); k++)
	await page.keyboard.press("Tab");
await page.keyboard.press("Enter");
await page.waitForTimeout(600);
await settle();
const back = await get(() => [coeval.from, coeval.to, coeval.selected && coeval.selected.tick, coeval.folded.size]);
check("V saves a view, Enter brings it back", Math.abs(back[0] - saved[0]) < 2 && Math.abs(back[1] - saved[1]) < 2 && back[2] === saved[2] && !back[3], [saved, back]);

await page.waitForTimeout(400);
const look = await get(() => JSON.stringify(coeval.look)), held = page.url();
await page.goto("about:blank");
await page.goto(held);
await settle();
check("the address holds how rows are arranged", await get(() => JSON.stringify(coeval.look)) === look && look.includes("what it heard"), look);

await find("1.5");
await find("no such thing at all");
check("what is not found is said", (await get(() => document.getElementById("message").textContent)).includes("nothing is called"));
await press("Escape", "?");
const keys = await get(() => document.querySelectorAll("#help kbd").length);
check("? tells " + (keys > 35 ? "all keys" : keys), keys > 35);
await page.goto(process.argv[4]);
await settle();
await find("radio_send");
await press(".", "w", "w", "w", "w", "j");
check("J draws a number of events as a curve", await get(() => coeval.row.curve === "seq" && coeval.row.unit && coeval.row.unit[1] > coeval.row.unit[0]), await get(() => [coeval.row.curve, coeval.row.unit]));
await press("j", "j");
check("the next, and events again", await get(() => coeval.row.curve === undefined && coeval.row.edges.length > 0));
check("nothing was complained about", !told.length, told.slice(0, 3));
await browser.close();
process.exit(failed ? 1 : 0);
