// Figures of a study: what the error was and will be, samples over tasks, the map of tasks.

import { lineChart, ticks } from "./chart.js";
import { count, csv, download, h, num, percent, put, s, word } from "./dom.js";

const TONES = ["tone-0", "tone-1", "tone-2", "tone-3", "tone-4", "tone-5"];

// The part of the squared error that a batch takes off at least to be advised, as the forecast has it.
const LEAST_GAIN = 0.05;

export const tone = (at) => TONES[at % TONES.length];

// By how much an error falls, for people.
export const fall = (from, to) => { const part = 1 - to.mean / from.mean; return part < 0.005 ? "no gain" : `−${percent(part)}`; };

// The error of a target once what is under way has come: further batches are counted from there.
export const before = (target) => target.under_way || target.now;

// A number with its unit, which stands smaller where it is several words.
const measure = (value, unit) => (unit.includes(" ") ? [num(value), " ", h("small", {}, unit)] : `${num(value)} ${unit}`);

// The key numbers, with how sure they are.
export function tiles() {
  const element = h("dl", { class: "tiles" });
  const tile = (name, value, detail, kind) => h("div", { class: `tile ${kind || ""}` },
    h("dt", {}, name), h("dd", { class: "big" }, value), h("dd", { class: "detail" }, detail));
  function update(view) {
    const { status, learnt } = view;
    const outlook = learnt?.outlook;
    const items = status.items;
    const found = [
      tile("Spent", `${num(status.spent)} ${status.unit}`, `${count(status.rounds, "round")}, ${count(items.told, "item")} measured`),
      tile(h("span", {}, "Rows of ", word("tasks", "task")), num(status.source_rows),
        status.targets.map((target) => `${num(target.rows)} of ${target.name}`).join(", ") || "no target yet"),
    ];
    if (outlook) {
      const targets = outlook.targets.slice(0, 2), open = outlook.under_way;
      for (const target of targets) {
        found.push(tile(h("span", {}, "Expected ", word("error"), ` on ${target.name}`), measure(target.now.mean, outlook.error_unit),
          `9 of 10 cases: ${num(target.now.low)} to ${num(target.now.high)}`, "key"));
      }
      // Targets gain differently: each has its own figure, in the order of their names.
      const falls = (from, to) => targets.map((target) => fall(from(target), to(target))).join(" / ");
      const on = targets.length > 1 ? ` on ${targets.map((target) => target.name).join(" / ")}` : "";
      // What is hardly worth its cost does not look like an advice to go on.
      const kind = (from, to) => (targets.some((target) => 1 - (to(target).mean / from(target).mean) ** 2 >= LEAST_GAIN) ? "go" : "stop");
      const now = (target) => target.now, next = (target) => target.further[0].design;
      if (open && targets.length && targets.every((target) => target.under_way)) {
        found.push(tile("Open items", falls(now, before), `of the error${on}, for ${num(open.cost)} ${outlook.unit}`, kind(now, before)));
      }
      const first = targets[0]?.further[0];
      if (first && targets.every((target) => target.further.length)) {
        const rows = first.target_rows ? `; on rows of ${targets[0].name}: ${fall(before(targets[0]), first.target_rows)}` : "";
        found.push(tile(open ? "Another batch after that, as planned" : "Next batch, as planned", outlook.advice.stop ? "stop" : falls(before, next),
          `of the error${on}, for ${num(first.budget)} ${outlook.unit}${rows}`, outlook.advice.stop ? "stop" : kind(before, next)));
      }
    } else {
      found.push(tile(h("span", {}, "Expected ", word("error")), "not known yet", learnt?.no_forecast || "being computed …", "key"));
    }
    put(element, found);
  }
  return { element, update };
}

// The error at earlier moments, and what more would bring.
export function errors() {
  const element = h("div", { class: "figures" });
  const charts = new Map();
  function update(view) {
    const outlook = view.learnt?.outlook;
    const names = outlook ? outlook.targets.map((one) => one.name) : view.status.targets.map((one) => one.name);
    for (const [at, name] of names.entries()) {
      if (!charts.has(name)) {
        const chart = lineChart(`Error on ${name}: so far, and with more`, `error-${at}`);
        charts.set(name, chart);
        element.append(chart.element);
      }
      charts.get(name).update(series(view, outlook, name));
    }
  }
  return { element, update };
}

function series(view, outlook, name) {
  const point = (x, interval) => ({ x, y: interval.mean, low: interval.low, high: interval.high });
  const past = view.past.flatMap((one) => {
    const own = one.errors.find((error) => error.target === name);
    return own ? [point(one.spent, own.error)] : [];
  }).sort((a, b) => a.x - b.x);
  const target = outlook?.targets.find((one) => one.name === name);
  // What is under way comes in any case, at its own cost; more budget comes on top.
  const open = outlook?.under_way ? outlook.spent + outlook.under_way.cost : outlook?.spent;
  const ahead = (of) => target ? [point(outlook.spent, target.now), ...(target.under_way ? [point(open, target.under_way)] : []), ...target.further.filter(of).map((one) => point(open + one.budget, of(one)))] : [];
  return {
    x: `Spent (${view.status.unit})`, y: `Error (${outlook?.error_unit || "–"})`, log: true, now: outlook?.spent,
    empty: view.learnt ? "No forecast yet" : "Being computed …",
    note: outlook?.sentence || "",
    series: [
      { name: "so far", tone: "tone-past", mark: "circle", points: past, meaning: "What the study expected at earlier moments" },
      { name: "as planned", tone: "tone-0", mark: "diamond", dash: "7 3", points: ahead((one) => one.design), meaning: "The budget is spent on the tasks that the study would choose" },
      { name: "all tasks alike", tone: "tone-1", mark: "square", dash: "2 3", points: ahead((one) => one.passive), meaning: "The budget is spread over all tasks" },
      { name: "target rows", tone: "tone-2", mark: "triangle", dash: "9 3 2 3", points: outlook?.target_rows === "not-available" ? [] : ahead((one) => one.target_rows), meaning: "The budget is spent on rows of the target itself" },
    ],
  };
}

// Samples of tasks, by round.
export function samples() {
  const element = h("figure", { class: "figure" });
  function update(view) {
    const tasks = view.samples;
    const rounds = [...new Set(tasks.flatMap((one) => Object.keys(one.rounds).map(Number)))].sort((a, b) => a - b);
    const save = () => download("samples.csv", csv([["task", ...view.parameters, "round", "samples"],
      ...tasks.flatMap((one) => Object.entries(one.rounds).map(([round, n]) => [one.task, ...one.parameters, Number(round) + 1, n]))]));
    const head = h("figcaption", {}, h("h3", {}, "Where the samples went"),
      h("div", { class: "tools" }, h("button", { type: "button", class: "small", onclick: save, "aria-label": "CSV: samples by task and round" }, "CSV")));
    if (!tasks.length) {
      put(element, head, h("p", { class: "quiet" }, "No rows of planned tasks have come yet."));
      return;
    }
    const most = Math.max(...tasks.map((one) => one.total));
    const shown = tasks.slice(0, 16);
    // Later rounds stand out; the last few have tones of their own.
    const shade = (round) => tone(rounds.indexOf(round));
    put(element, head,
      h("ul", { class: "legend" }, rounds.slice(0, 6).map((round) => h("li", {}, h("span", { class: `swatch ${shade(round)}` }), `round ${round + 1}${rounds.length > 6 && round === rounds[5] ? " and so on" : ""}`))),
      h("table", { class: "bars" },
        h("caption", { class: "hidden" }, "Samples of each task, by round"),
        h("thead", { class: "hidden" }, h("tr", {}, ["task", "samples by round", "samples"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, shown.map((one) => h("tr", {},
          h("th", { scope: "row" }, one.task),
          h("td", { class: "bar" }, bar(one, most, shade)),
          h("td", { class: "number" }, num(one.total)))))),
      tasks.length > shown.length && h("p", { class: "quiet" }, `and ${tasks.length - shown.length} tasks with fewer samples`));
  }
  return { element, update };
}

function bar(one, most, shade) {
  const parts = Object.entries(one.rounds).map(([round, n]) => [Number(round), n]).sort((a, b) => a[0] - b[0]);
  let at = 0;
  const said = parts.map(([round, n]) => `${n} in round ${round + 1}`).join(", ");
  return s("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", role: "img", "aria-label": said },
    parts.map(([round, n]) => {
      const width = (100 * n) / most;
      const piece = s("rect", { class: `fill ${shade(round)}`, x: at, y: 1, width: Math.max(width - 0.4, 0.4), height: 10 }, s("title", {}, `round ${round + 1}: ${n}`));
      at += width;
      return piece;
    }));
}

// Tasks by two of their parameters; what was measured, what is next, and the target.
export function map() {
  let axes = null;
  let view = null;
  const plot = h("div", { class: "plot" });
  const pick = (at, label) => h("label", {}, `${label} `, h("select", { onchange: (event) => { axes[at] = Number(event.target.value); draw(); } }));
  const pickX = pick(0, "Across"), pickY = pick(1, "Up");
  const save = () => download("tasks.csv", csv([["task", "what", ...view.parameters, "samples"], ...points().map((one) => [one.name, one.kind, ...one.at, one.samples ?? ""])]));
  const controls = h("div", { class: "tools" }, pickX, pickY, h("button", { type: "button", class: "small", onclick: save, "aria-label": "CSV: tasks and targets" }, "CSV"));
  const legend = h("ul", { class: "legend" });
  const element = h("figure", { class: "figure" }, h("figcaption", {}, h("h3", {}, "Map of tasks"), controls), legend, plot);

  function points() {
    const found = view.tasks.map((one) => ({ kind: "possible", name: one.task, at: one.parameters }));
    for (const one of view.samples) found.push({ kind: "measured", name: one.task, at: one.parameters, samples: one.total });
    const open = view.status.open;
    const next = open.length ? open.map((one) => ({ ...one, n: one.n - one.collected })) : view.learnt?.next?.items || [];
    for (const one of next) found.push({ kind: "next", name: one.task, at: one.parameters, samples: one.n });
    for (const one of view.learnt?.targets || []) if (one.parameters) found.push({ kind: "target", name: one.name, at: one.parameters, range: one.range });
    return found;
  }

  function draw() {
    const width = Math.max(260, plot.clientWidth || 560), height = Math.round(Math.min(400, Math.max(260, width * 0.62)));
    const left = 58, bottom = 42, top = 12, right = 16;
    const all = points();
    const [a, b] = axes;
    const single = view.parameters.length < 2;
    const x = (one) => one.at[a], y = (one) => (single ? one.samples ?? 0 : one.at[b]);
    const ends = (of) => {
      const values = all.map(of).filter(Number.isFinite);
      const low = Math.min(...values), high = Math.max(...values), pad = (high - low || 1) * 0.08;
      return [low - pad, high + pad];
    };
    if (!all.length) {
      put(plot, h("p", { class: "quiet" }, "No task has been asked for yet."));
      return;
    }
    const [x0, x1] = ends(x), [y0, y1] = ends(y);
    const fx = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - right), fy = (v) => top + (1 - (v - y0) / (y1 - y0)) * (height - top - bottom);
    const most = Math.max(1, ...all.map((one) => one.samples || 0));
    const size = (one) => 4 + 9 * Math.sqrt((one.samples || 0) / most);
    const svg = s("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Map of tasks: ${count(all.filter((one) => one.kind === "measured").length, "task")} measured, ${count(all.filter((one) => one.kind === "next").length, "task")} next` });
    const axisY = single ? "samples" : view.parameters[b];
    for (const at of ticks(y0, y1, 6)) {
      svg.append(s("line", { class: "grid", x1: left, x2: width - right, y1: fy(at), y2: fy(at) }),
        s("text", { class: "tick", x: left - 6, y: fy(at) + 4, "text-anchor": "end" }, num(at)));
    }
    for (const at of ticks(x0, x1, width < 480 ? 5 : 8)) svg.append(s("text", { class: "tick", x: fx(at), y: height - bottom + 16, "text-anchor": "middle" }, num(at)));
    svg.append(s("text", { class: "label", x: left + (width - left - right) / 2, y: height - 5, "text-anchor": "middle" }, view.parameters[a]),
      s("text", { class: "label", x: 12, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${height / 2})` }, axisY));
    const titled = (mark, text) => { mark.append(s("title", {}, text)); return mark; };
    for (const one of all.filter((p) => p.kind === "possible")) svg.append(titled(s("circle", { class: "possible", cx: fx(x(one)), cy: fy(y(one)), r: 2.5 }), one.name));
    for (const one of all.filter((p) => p.kind === "measured")) svg.append(titled(s("circle", { class: "measured", cx: fx(x(one)), cy: fy(y(one)), r: size(one) }), `${one.name}: ${one.samples} samples`));
    for (const one of all.filter((p) => p.kind === "next")) svg.append(titled(s("circle", { class: "next", cx: fx(x(one)), cy: fy(y(one)), r: size(one) + 3 }), `${one.name}: ${one.samples} samples next`));
    for (const one of all.filter((p) => p.kind === "target")) {
      const cx = fx(x(one)), cy = fy(single ? (y0 + y1) / 2 : y(one));
      if (one.range && !single) {
        const [low, high] = one.range;
        const px = Math.max(fx(low[a]), left), py = Math.max(fy(high[b]), top);
        svg.append(s("rect", { class: "maybe", x: px, y: py, width: Math.max(1, Math.min(fx(high[a]), width - right) - px), height: Math.max(1, Math.min(fy(low[b]), height - bottom) - py) }));
      }
      svg.append(titled(s("path", { class: "target", d: star(cx, cy, 10) }), `target ${one.name}`),
        s("text", { class: "label", x: cx + (cx > width * 0.7 ? -14 : 14), y: cy + 4, "text-anchor": cx > width * 0.7 ? "end" : "start" }, one.name));
    }
    put(plot, svg);
    const kinds = [["possible", "can be measured"], ["measured", "measured (larger: more samples)"], ["next", "next"], ["target", "target"]];
    put(legend, kinds.filter(([kind]) => all.some((one) => one.kind === kind)).map(([kind, text]) => h("li", {}, symbol(kind), text)),
      all.some((one) => one.range) && h("li", {}, symbol("maybe"), "where the target may lie (9 of 10 cases)"));
  }

  function symbol(kind) {
    const mark = kind === "target" ? s("path", { class: "target", d: star(8, 8, 7) })
      : kind === "maybe" ? s("rect", { class: "maybe", x: 1, y: 2, width: 14, height: 12 })
        : s("circle", { class: kind, cx: 8, cy: 8, r: kind === "possible" ? 2.5 : 5.5 });
    return s("svg", { width: 16, height: 16, "aria-hidden": "true" }, mark);
  }

  function update(next) {
    view = next;
    const names = view.parameters;
    if (!axes) {
      axes = [0, Math.min(1, names.length - 1)];
      for (const [at, select] of [pickX, pickY].entries()) {
        put(select.lastElementChild, names.map((name, index) => h("option", { value: index }, name)));
        select.lastElementChild.value = String(axes[at]);
      }
      pickY.hidden = names.length < 2;
      pickX.hidden = names.length < 2;
    }
    if (names.length) draw();
  }
  const watching = new ResizeObserver(() => { if (view?.parameters.length) draw(); });
  requestAnimationFrame(() => watching.observe(element));
  return { element, update };
}

function star(cx, cy, r) {
  const at = (k) => {
    const angle = -Math.PI / 2 + (k * Math.PI) / 5, size = k % 2 ? r * 0.45 : r;
    return `${cx + size * Math.cos(angle)} ${cy + size * Math.sin(angle)}`;
  };
  return `M${Array.from({ length: 10 }, (_, k) => at(k)).join("L")}Z`;
}
