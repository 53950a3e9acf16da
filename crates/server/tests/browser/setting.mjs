// A campaign made with the command itself, a server on it, and browsers that note whatever goes wrong.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const need = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this with \`cargo xtask browser\``);
  return value;
};

export const binary = need("TASKSCOUT_BINARY");
export const shots = need("TASKSCOUT_SHOTS");
const require = createRequire(join(need("TASKSCOUT_PACKAGES"), "package.json"));
const { chromium } = require("playwright-core");
export const axe = require.resolve("axe-core/axe.min.js");
mkdirSync(shots, { recursive: true });

export const folder = mkdtempSync(join(tmpdir(), "taskscout-browser-"));
export const store = join(folder, "studies.db");
export const EVIL = "<img src=x onerror=alert(1)>";

// Always the same numbers.
let state = 12345;
const uniform = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
const normal = () => Math.sqrt(-2 * Math.log(uniform() || 1e-9)) * Math.cos(2 * Math.PI * uniform());

// The drag that a task has: a constant, a slope and a curvature, all of them affine in wind and load.
export function rows(wind, load, n) {
  const lines = ["speed,pitch,thrust,drag,comment"];
  for (let at = 0; at < n; at += 1) {
    const speed = 4 + 2 * normal(), pitch = 0.3 * normal(), thrust = 8 + normal();
    const drag = 0.5 + (0.2 + 0.08 * wind) * speed + (1.5 - 0.4 * load) * pitch + 0.1 * load * thrust + 0.6 * normal();
    lines.push(`${speed},${pitch},${thrust},${drag},0`);
  }
  return lines.join("\n") + "\n";
}

export function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

export function command(...words) {
  const done = spawnSync(binary, words, { encoding: "utf8", env: { ...process.env, TASKSCOUT_STORE: store, TASKSCOUT_AUTHOR: "ada" } });
  if (done.status !== 0) throw new Error(`taskscout ${words.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

export const status = (study) => JSON.parse(command("study", "status", "--study", study, "--json"));

function tellOpen(study) {
  for (const item of status(study).open) {
    const path = file(`${study}-${item.item}.csv`, rows(item.parameters[0], item.parameters[1], item.n));
    command("study", "tell", String(item.item), path, "--study", study);
  }
}

// Two studies of a wind tunnel, both three rounds far, and one with a name that is markup.
export function campaign() {
  const table = ["task,wind,load,minutes"];
  for (const wind of [0, 2, 4, 6, 8, 10]) for (const load of [0, 0.5, 1]) table.push(`wind-${wind}-load-${load},${wind},${load},${wind > 6 ? 2 : 1}`);
  file("tasks.csv", table.join("\n") + "\n");
  for (const study of ["tunnel", "spread", EVIL]) {
    const settings = file("study.toml", `strategy = "${study === "spread" ? "passive" : "aware"}"
seed = 7

[tasks]
candidates = "tasks.csv"
cost = "minutes"
units = { wind = "m/s", load = "kg" }

[rows]
inputs = [{ name = "speed", unit = "m/s" }, { name = "pitch", unit = "rad" }, { name = "thrust", unit = "N" }]
outputs = [{ name = "drag", unit = "N" }]

[[targets]]
name = "tomorrow"

[collection]
switch_cost = 6
`);
    command("study", "new", settings, "--study", study);
    if (study === EVIL) continue;
    command("study", "target", file(`${study}-target.csv`, rows(7, 0.7, 80)), "--study", study);
    for (let round = 0; round < 3; round += 1) {
      command("study", "ask", "--budget", "60", "--study", study);
      tellOpen(study);
    }
  }
  command("study", "ask", "--budget", "90", "--study", "tunnel");
  pair();
}

// A study of two outputs and two targets, with open items.
function pair() {
  const settings = file("pair.toml", `seed = 7

[tasks]
candidates = "tasks.csv"
cost = "minutes"

[rows]
inputs = ["speed", "pitch"]
outputs = ["drag", "thrust"]

[[targets]]
name = "tomorrow"

[[targets]]
name = "race"
parameters = [8, 0.8]
`);
  command("study", "new", settings, "--study", "pair");
  command("study", "target", file("pair-tomorrow.csv", rows(7, 0.7, 80)), "--target", "tomorrow", "--study", "pair");
  command("study", "target", file("pair-race.csv", rows(8, 0.8, 10)), "--target", "race", "--study", "pair");
  command("study", "ask", "--budget", "60", "--study", "pair");
  tellOpen("pair");
  command("study", "ask", "--budget", "60", "--study", "pair");
}

export function serve(what, port = "0") {
  const child = spawn(binary, ["serve", what, "--port", port], { stdio: ["ignore", "ignore", "pipe"] });
  const ready = new Promise((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (text) => {
      said += text;
      const found = said.match(/http:\/\/\S+\//);
      if (found) resolve(found[0]);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const end = () => new Promise((resolve) => { child.removeAllListeners("exit"); child.on("exit", resolve); child.kill("SIGTERM"); });
  return { ready, end, child };
}

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export async function browser() {
  return chromium.launch({ executablePath: process.env.TASKSCOUT_CHROMIUM || "/usr/bin/chromium", args: FLAGS });
}

// A page that remembers errors, dialogs and requests that leave the server.
export async function watched(place, base, options = {}) {
  const context = await place.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  const seen = { page, wrong, context, expected: null };
  page.on("console", (message) => { if (message.type() === "error" && !seen.expected?.test(message.text())) wrong.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { const url = request.url(); if (!url.startsWith(base) && !url.startsWith("blob:") && !url.startsWith("data:")) wrong.push(`request: ${url}`); });
  return seen;
}

export const clean = () => rmSync(folder, { recursive: true, force: true });
