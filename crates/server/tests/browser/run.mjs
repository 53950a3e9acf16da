// The live page in a real browser: every view in both themes and at the width of a phone, and what people do on it.

import { strict as assert } from "node:assert";
import { cpSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { EVIL, axe, binary, browser, campaign, clean, command, file, folder, rows, serve, shots, status, store, watched } from "./setting.mjs";
import { spawnSync } from "node:child_process";

const checks = [];
const check = (name, work) => checks.push([name, work]);
const enc = encodeURIComponent;

async function whole(page, place) {
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide[0] <= wide[1], `${place} is ${wide[0]} pixels wide in a window of ${wide[1]}`);
}

async function accessible(page, place) {
  await page.evaluate(require("node:fs").readFileSync(axe, "utf8"));
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const said = found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  assert.deepEqual(said, [], place);
}

const learnt = (page) => page.waitForFunction(() => { const { version, learnt } = document.getElementById("main").dataset; return version && version === learnt; }, null, { timeout: 120000 });
const ready = (page) => page.waitForFunction(() => document.getElementById("main").dataset.version, null, { timeout: 60000 });

import { createRequire } from "node:module";
const require = createRequire(import.meta.url);

let base, place;

for (const theme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    check(`every view, ${theme}, ${width} pixels`, async () => {
      const { page, wrong, context } = await watched(place, base, { colorScheme: theme, viewport: { width, height: 900 } });
      for (const [name, path] of [["list", ""], ["study", "studies/tunnel"], ["pair", "studies/pair"], ["compare", "compare"], ["run", "runs/bilinear"], ["empty", `studies/${enc(EVIL)}`], ["login", "login"]]) {
        await page.goto(base + path);
        if (name !== "login") await ready(page);
        if (name === "study" || name === "pair" || name === "empty") await learnt(page);
        if (name === "study") await page.waitForFunction(() => document.querySelectorAll(".chart .mark").length > 5 && document.querySelectorAll("#what-if .outcome table").length > 0, null, { timeout: 60000 });
        await page.screenshot({ path: join(shots, `${name}-${theme}-${width}.png`), fullPage: true });
        await whole(page, `${name}, ${theme}`);
        await accessible(page, `${name}, ${theme}, ${width}`);
      }
      assert.deepEqual(wrong, []);
      await context.close();
    });
  }
}

check("cost and gain are of the same batch", async () => {
  const { page, wrong, context } = await watched(place, base);
  const tile = (name) => page.locator(".tile", { has: page.locator("dt", { hasText: name }) });
  const number = (text, before) => Number(text.match(new RegExp(`${before}([\\d.]+)`))[1]);
  // Items are open: what they cost is what their gain is said for.
  await page.goto(`${base}studies/tunnel`);
  await learnt(page);
  const open = number(await tile("Open items").innerText(), "for ");
  assert.equal(number(await page.locator("#plan caption").innerText(), "items?, "), open);
  assert.match(await page.locator(".hero .sure").innerText(), new RegExp(`the open items \\(${open} minutes\\)`, "i"));
  assert.match(await tile("Another batch after that").innerText(), /of the error, for \d+ minutes/);
  // None is open: the plan of the sentence is the one that the gain is said for.
  await page.goto(`${base}studies/spread`);
  await learnt(page);
  const next = number(await tile("Next batch").innerText(), "for ");
  const verdict = await page.locator(".hero h1").innerText();
  // A verdict that advises no plan has no budget.
  if (!/^(Stop|Collect rows of)/.test(verdict)) assert.equal(number(verdict, "with "), next);
  assert.equal(Number(await page.getByLabel("Budget, as a number").inputValue()), next);
  assert.deepEqual(wrong, []);
  await context.close();
});

check("each of several targets has its own gain", async () => {
  const { page, wrong, context } = await watched(place, base);
  const tile = (name) => page.locator(".tile", { has: page.locator("dt", { hasText: name }) });
  await page.goto(`${base}studies/pair`);
  await learnt(page);
  assert.match(await tile("Open items").innerText(), /(no gain|−\d+.%) \/ (no gain|−\d+.%)\s+of the error on tomorrow \/ race, for/);
  // A unit of several words does not fill the tile.
  const error = tile("on race").locator(".big");
  assert.equal(await error.locator("small").innerText(), "standard deviations of the outputs");
  assert.ok((await error.boundingBox()).height < 70);
  await page.goto(`${base}compare`);
  await ready(page);
  await page.getByText("The studies count in different units").waitFor();
  const cell = page.locator("tr", { has: page.locator("a", { hasText: "pair" }) }).locator("td").nth(3);
  await page.waitForFunction((text) => /tomorrow: .*\s*race: /.test(text) || text === "stop", await cell.innerText());
  // Its curves can be told apart.
  const of = (target) => page.locator(".legend label", { hasText: `pair: ${target}` }).locator("svg").innerHTML();
  assert.notEqual(await of("tomorrow"), await of("race"));
  assert.deepEqual(wrong, []);
  await context.close();
});

check("what others write arrives by itself", async () => {
  const { page, wrong, context } = await watched(place, base);
  await page.goto(`${base}studies/tunnel`);
  await learnt(page);
  command("study", "note", "the fan was cleaned", "--study", "tunnel");
  await page.locator("#history td", { hasText: "the fan was cleaned" }).waitFor({ timeout: 5000 });
  assert.deepEqual(wrong, []);
  await context.close();
});

check("an upload is shown first, and changes the plan", async () => {
  const { page, wrong, context } = await watched(place, base);
  await page.goto(`${base}studies/tunnel`);
  await learnt(page);
  const before = status("tunnel");
  const item = before.open[0];
  const plan = await page.locator("#plan tbody tr").count();
  await page.getByRole("button", { name: `Enter rows … of item ${item.item}`, exact: true }).click();
  const dialog = page.locator("dialog");
  await dialog.locator("input[type=file]").setInputFiles(file("upload.csv", rows(item.parameters[0], item.parameters[1], item.n)));
  await dialog.getByText("will be taken").waitFor({ timeout: 60000 });
  await dialog.getByText("passed over: comment").waitFor();
  await accessible(page, "the dialog");
  await page.screenshot({ path: join(shots, "tell-light-1280.png") });
  assert.equal(status("tunnel").version, before.version, "the preview stored something");
  await dialog.getByLabel("Your name, for the history").fill("eve");
  await dialog.getByRole("button", { name: "Tell these rows" }).click();
  await page.waitForFunction((rows) => document.querySelectorAll("#plan tbody tr").length === rows, plan - 1, { timeout: 20000 });
  await learnt(page);
  const after = status("tunnel");
  assert.equal(after.source_rows, before.source_rows + item.n);
  assert.match(await page.locator("#items").innerText(), /eve/);
  assert.deepEqual(wrong, []);
  await context.close();
});

check("two people act on one item", async () => {
  const one = await watched(place, base), two = await watched(place, base);
  for (const { page } of [one, two]) { await page.goto(`${base}studies/tunnel`); await learnt(page); }
  const item = status("tunnel").open[0];
  const open = async (page) => {
    await page.getByRole("button", { name: `It failed … item ${item.item}`, exact: true }).click();
    await page.locator("dialog").getByLabel("Why").fill("the fan broke");
    await page.locator("dialog button.primary:not([disabled])").waitFor({ timeout: 60000 });
  };
  await open(one.page);
  await open(two.page);
  await one.page.locator("dialog button.primary").click();
  await one.page.locator("dialog").waitFor({ state: "detached" });
  // The refusal of the other is an error to the console, and the only one.
  two.expected = /409/;
  await two.page.locator("dialog button.primary").click();
  await two.page.locator("dialog .bad", { hasText: "changed since this page was loaded" }).waitFor();
  const lines = JSON.parse(command("study", "history", "--study", "tunnel", "--json"));
  assert.equal(lines.filter((line) => line.kind === "failed" && line.what.includes(`item ${item.item} `)).length, 1);
  assert.deepEqual([...one.wrong, ...two.wrong], []);
  await one.context.close();
  await two.context.close();
});

check("what if changes the plan and stores nothing", async () => {
  const { page, wrong, context } = await watched(place, base);
  await page.goto(`${base}studies/tunnel`);
  await learnt(page);
  const version = status("tunnel").version;
  const outcome = page.locator("#what-if .outcome");
  await outcome.locator("table").waitFor({ timeout: 60000 });
  const before = await outcome.innerText();
  await page.getByLabel("Budget, as a number").fill("240");
  await page.waitForFunction((text) => { const box = document.querySelector("#what-if .outcome"); return !box.classList.contains("waiting") && box.innerText !== text; }, before, { timeout: 60000 });
  const named = await outcome.locator("tbody tr td").first().innerText();
  await page.getByLabel("A task that cannot be measured").selectOption(named);
  await page.waitForFunction((task) => { const box = document.querySelector("#what-if .outcome"); return !box.classList.contains("waiting") && ![...box.querySelectorAll("tbody tr td:first-child")].some((cell) => cell.innerText === task); }, named, { timeout: 60000 });
  assert.equal(status("tunnel").version, version);
  assert.deepEqual(wrong, []);
  await context.close();
});

check("curves can be looked at with keys, and the checklist prints alone", async () => {
  const { page, wrong, context } = await watched(place, base);
  await page.goto(`${base}studies/tunnel`);
  await learnt(page);
  const chart = page.locator("#forecast svg.chart").first();
  const before = await chart.getAttribute("aria-label");
  await chart.focus();
  await page.keyboard.press("+");
  assert.notEqual(await chart.getAttribute("aria-label"), before);
  await page.keyboard.press("0");
  assert.equal(await chart.getAttribute("aria-label"), before);
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator("#plan table").isVisible());
  assert.ok(!(await page.locator("#history").isVisible()));
  await page.screenshot({ path: join(shots, "checklist-print.png") });
  assert.deepEqual(wrong, []);
  await context.close();
});

check("names with markup are names", async () => {
  const { page, wrong, context } = await watched(place, base);
  await page.goto(base);
  await ready(page);
  await page.getByRole("link", { name: EVIL }).click();
  await learnt(page);
  assert.equal(await page.locator("main img").count(), 0);
  await page.goto(`${base}api/studies/${enc(EVIL)}/report`);
  assert.equal(await page.locator("main img").count(), 0);
  assert.deepEqual(wrong, []);
  await context.close();
});

check("the report of a study from disk", async () => {
  const path = join(folder, "report.html");
  command("study", "report", "--study", "tunnel", "--out", path);
  await fromDisk(path, "report");
  const named = join(folder, "named.html");
  command("report", store, "--study", EVIL, "--out", named);
  await fromDisk(named, "markup-report", async (page) => { assert.equal(await page.locator("main img").count(), 0); });
});

// A page from disk in both themes and widths: nothing cut, no violation, no console error, no request.
async function fromDisk(path, name, look = async () => {}) {
  assert.ok(statSync(path).size < 2e6, `${name} has ${statSync(path).size} bytes`);
  for (const theme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      const { page, wrong, context } = await watched(place, "file://", { colorScheme: theme, viewport: { width, height: 900 } });
      await page.goto(`file://${path}`);
      await page.screenshot({ path: join(shots, `${name}-${theme}-${width}.png`), fullPage: true });
      await whole(page, `${name}, ${theme}`);
      await accessible(page, `${name}, ${theme}, ${width}`);
      await look(page, width);
      assert.deepEqual(wrong, []);
      await context.close();
    }
  }
}

check("the report of a run, of runs and of an unfinished run from disk", async () => {
  const run = join(folder, "bilinear"), figures = join(folder, "figures");
  const path = join(folder, "run-report.html");
  const said = command("report", run, "--out", path, "--figures", figures);
  assert.match(said, /the same error as passive with \d+ % of the data|No strategy reached/);
  assert.deepEqual(readFileSync(path), readFileSync(join(run, "report.html")), "written again it is the same page");
  for (const name of ["loss", "plans"]) for (const ending of ["svg", "csv"]) assert.ok(statSync(join(figures, `${name}.${ending}`)).size > 100);
  await fromDisk(path, "run-report", async (page, width) => {
    assert.equal(await page.locator("h1").count(), 1);
    for (const link of await page.locator("a[download]").all()) assert.match(await link.getAttribute("href"), /^data:(text\/csv|image\/svg)/);
    const figures = page.locator(`figure ${width === 390 ? ".narrow" : ".wide"} svg:visible`);
    assert.ok((await figures.count()) >= 2);
  });
  // Without what a finished run keeps beside its trials.
  const part = join(folder, "runs", "part");
  mkdirSync(join(part, "trials"), { recursive: true });
  for (const name of readdirSync(join(run, "trials")).filter((name) => name.includes("passive"))) cpSync(join(run, "trials", name), join(part, "trials", name));
  cpSync(run, join(folder, "runs", "whole"), { recursive: true });
  const all = join(folder, "all-report.html");
  command("report", join(folder, "runs"), "--out", all);
  await fromDisk(all, "runs-report", async (page) => { await page.getByText("This run is not finished").first().waitFor(); });
});

check("a page of many runs stays short, and is drawn for phones", async () => {
  const many = join(folder, "many");
  for (let at = 0; at < 24; at += 1) cpSync(join(folder, "bilinear"), join(many, `run-${String(at).padStart(2, "0")}`), { recursive: true });
  const path = join(folder, "many-report.html");
  command("report", many, "--out", path);
  await fromDisk(path, "many-report", async (page, width) => {
    assert.equal(await page.locator("article").count(), 24);
    if (width === 390) assert.ok((await page.locator("figure .narrow svg:visible").count()) >= 24);
  });
});

check("a server that is gone is noticed, and found again", async () => {
  const seen = await watched(place, base);
  const { page, wrong, context } = seen;
  seen.expected = /ERR_|Failed to load|EventSource/;
  await page.goto(`${base}studies/tunnel`);
  await learnt(page);
  const port = new URL(base).port;
  await server.end();
  await page.locator("#live.lost").waitFor({ timeout: 20000 });
  server = serve(folder, port);
  await server.ready;
  await page.locator("#live.live").waitFor({ timeout: 30000 });
  assert.deepEqual(wrong, []);
  await context.close();
});

let server;
try {
  campaign();
  const run = spawnSync(binary, ["reproduce", "bilinear", "--quick", "--seeds", "2", "--out", join(folder, "bilinear")], { encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  server = serve(folder);
  base = await server.ready;
  place = await browser();
  const only = process.argv[2];
  let failed = 0;
  for (const [name, work] of checks.filter(([name]) => !only || name.includes(only))) {
    const began = Date.now();
    try {
      await work();
      console.log(`ok   ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}: ${error.message}`);
    }
  }
  process.exitCode = failed ? 1 : 0;
} finally {
  await place?.close();
  await server?.end();
  clean();
}
