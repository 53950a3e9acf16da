// The list of studies and runs, studies side by side, and the page of a run.

import { follow, get } from "./api.js";
import { lineChart } from "./chart.js";
import { capital, count, h, num, put, table, time } from "./dom.js";
import { before, fall, tone } from "./figures.js";

const link = (kind, name) => h("a", { href: `/${kind}/${encodeURIComponent(name)}` }, name);

export function listPage(main, state) {
  document.title = "taskscout";
  return follow("/api/index", (index) => {
    state("trouble", index.trouble);
    const studies = [...index.studies].sort((a, b) => b.changed_us - a.changed_us);
    const runs = [...index.runs].sort((a, b) => b.changed_us - a.changed_us);
    put(main,
      h("section", { class: "hero" }, h("p", { class: "question" }, "Which tasks should be measured next?"), h("h1", {}, studies.length || runs.length ? "Choose a study or a run" : "Nothing is here yet")),
      studies.length ? h("section", { class: "card" }, h("h2", {}, "Studies"), table("", [
        ["study", (one) => link("studies", one.study)], ["entries", (one) => num(one.version), "number"],
        ["began", (one) => time(one.created_us)], ["last change", (one) => time(one.changed_us)],
      ], studies, "Studies"), studies.length > 1 && h("p", {}, h("a", { class: "button", href: "/compare" }, "Compare studies")))
        : h("p", { class: "quiet" }, "There is no study here: begin one with `taskscout study new`, and it appears."),
      runs.length > 0 && h("section", { class: "card" }, h("h2", {}, "Runs of experiments"), table("", [
        ["run", (one) => link("runs", one.run)], ["experiment", (one) => one.experiment || "–"], ["state", (one) => (one.finished ? "finished" : "running or stopped")],
        ["trials", (one) => num(one.trials), "number"], ["last change", (one) => time(one.changed_us)],
      ], runs, "Runs")));
    main.dataset.version = String(studies.reduce((sum, one) => sum + one.version, 0));
  }, state);
}

export function comparePage(main, state) {
  document.title = "Compare studies – taskscout";
  let chosen = null;
  let known = [];
  let turn = 0;
  const picks = h("fieldset", { class: "picks" });
  const body = h("div", {});
  const warning = h("p", { class: "quiet" });
  const chart = lineChart("Expected error against what was spent", "compare");
  put(main, h("section", { class: "hero" }, h("p", { class: "question" }, "Which study is further?"), h("h1", {}, "Studies side by side")),
    h("section", { class: "card" }, h("h2", {}, "Studies"), picks, body), h("section", { class: "card" }, h("h2", {}, "Curves"), warning, chart.element));
  async function load() {
    const own = ++turn;
    const views = await Promise.all([...chosen].map((name) => get(`/api/studies/${encodeURIComponent(name)}`).catch(() => null)));
    if (own !== turn) return;
    const found = views.filter(Boolean);
    const outlook = (view) => view.learnt?.outlook;
    put(body, table("", [
      ["study", (view) => link("studies", view.status.study)],
      ["next", (view) => view.learnt?.answer.verdict || capital(view.status.next), "words"],
      ["expected error now (9 of 10 cases)", (view) => (outlook(view) ? outlook(view).targets.map((one) => h("div", {}, `${one.name}: ${num(one.now.mean)} ${outlook(view).error_unit} (${num(one.now.low)} to ${num(one.now.high)})`)) : "not known yet"), "words"],
      ["next batch, as planned", (view) => (outlook(view)?.advice.stop ? "stop" : outlook(view)?.targets.filter((one) => one.further.length).map((one) => h("div", {}, `${one.name}: ${fall(before(one), one.further[0].design)}`)) || "–")],
      ["spent", (view) => `${num(view.status.spent)} ${view.status.unit}`, "number"],
      ["rows", (view) => num(view.status.source_rows), "number"],
      ["rounds", (view) => num(view.status.rounds), "number"],
      ["strategy", (view) => view.status.strategy],
    ], found, "Studies side by side"));
    const marks = ["circle", "square", "triangle", "diamond"], dashes = ["none", "6 3", "2 3", "9 3 2 3"];
    // A study without a forecast has no curve yet, and so no unit that could differ.
    const units = new Set(found.filter(outlook).map((view) => `${view.status.unit} / ${outlook(view).error_unit}`));
    const mixed = units.size > 1 ? "The studies count in different units: compare curves of one study only." : "";
    warning.textContent = mixed;
    chart.update({
      x: `Spent (${[...new Set(found.map((view) => view.status.unit))].join(", ")})`, y: "Expected error", log: true,
      note: mixed,
      // A study has one tone, and each of its targets a mark of its own.
      series: found.flatMap((view, at) => view.status.targets.map((target, index) => ({
        name: `${view.status.study}: ${target.name}`, tone: tone(at), mark: marks[(at + index) % 4], dash: dashes[(at + index) % 4],
        points: [...view.past.flatMap((one) => one.errors.filter((error) => error.target === target.name).map((error) => ({ x: one.spent, y: error.error.mean, low: error.error.low, high: error.error.high })))].sort((a, b) => a.x - b.x),
      }))),
    });
    main.dataset.version = String(found.length);
    if (found.some((view) => !view.learnt)) setTimeout(() => { if (own === turn) load(); }, 1500);
  }
  return follow("/api/index", (index) => {
    state("trouble", index.trouble);
    known = index.studies.map((one) => one.study);
    if (!chosen) chosen = new Set(known.slice(0, 4));
    put(picks, h("legend", {}, "Compare"), known.map((name) => h("label", { class: "check" }, h("input", {
      type: "checkbox", checked: chosen.has(name), onchange: (event) => { if (event.target.checked) chosen.add(name); else chosen.delete(name); load(); },
    }), name)));
    load();
  }, state);
}

// Who is best at the end of the curves, in a sentence.
// What strategies do, by name.
const WHAT = {
  passive: "spreads its samples over all tasks",
  agnostic: "chooses tasks that show what all tasks have in common",
  aware: "chooses tasks that serve the target, too",
  "discrete-l1": "combines as few tasks as it can into the target",
  "discrete-l2": "combines all tasks into the target",
  "target-only": "uses rows of the target alone",
  "target-data": "spends the whole budget on rows of the target",
};

// The tasks of the strategy with the lowest loss come first.
function bestFirst(run) {
  const loss = (name) => Math.min(...run.targets.flatMap((target) => target.returned.filter((curve) => curve.strategy === name).map((curve) => curve.points.at(-1)?.value?.mean ?? Infinity)));
  const ends = new Map([...new Set(run.tasks.map((one) => one.strategy))].map((name) => [name, loss(name)]));
  return run.tasks.map((one, at) => [one, at]).sort(([a, i], [b, j]) => ends.get(a.strategy) - ends.get(b.strategy) || i - j).map(([one]) => one);
}

function standing(run) {
  const said = run.targets.slice(0, 3).flatMap((target) => {
    const ends = target.returned.filter((curve) => !curve.strategy.startsWith("target-")).map((curve) => ({ name: curve.strategy, loss: curve.points.at(-1)?.value?.mean })).filter((one) => one.loss > 0);
    const best = ends.reduce((a, b) => (a && a.loss <= b.loss ? a : b), null);
    const passive = ends.find((one) => one.name === "passive");
    if (!best) return [];
    const beside = passive && passive !== best ? `, passive at ${num(passive.loss)}` : "";
    return [`${best.name} ends lowest${target.target ? ` on ${target.target}` : ""}, at a loss of ${num(best.loss)}${beside}`];
  });
  return said.join("; ");
}

export function runPage(main, name, state) {
  document.title = `${name} – taskscout`;
  const charts = new Map();
  const figures = h("div", { class: "figures" });
  const head = h("div", {}), tail = h("div", {});
  put(main, head, h("section", { class: "card" }, h("h2", {}, "Loss against budget"), figures), tail);
  return follow(`/api/runs/${encodeURIComponent(name)}`, (run) => {
    state("trouble", run.trouble);
    put(head, h("section", { class: "hero" }, h("p", { class: "question" }, `How much data does each strategy need${run.experiment ? ` in ${run.experiment}` : ""}?`),
      h("h1", {}, run.verdicts.slice(0, 3).join(" ") || standing(run) || (run.trials ? "No losses to compare yet" : "No trial has finished yet")),
      h("p", { class: "sure" }, run.finished ? `Finished: ${count(run.trials, "trial")}.` : `${count(run.trials, "trial")} finished so far; curves follow as trials do.`),
      run.report && h("p", {}, h("a", { class: "button", href: `/api/runs/${encodeURIComponent(name)}/report` }, "Read the report"))));
    const marks = ["circle", "square", "triangle", "diamond"], dashes = ["none", "6 3", "2 3", "9 3 2 3"];
    for (const [at, target] of run.targets.entries()) {
      const title = target.target ? `Loss on ${target.target}` : "Loss on the target";
      if (!charts.has(title)) {
        charts.set(title, lineChart(title, `loss-${at}`));
        figures.append(charts.get(title).element);
      }
      const useful = target.returned.some((curve) => curve.points.some((point) => point.value));
      const curves = useful ? target.returned : target.shared;
      charts.get(title).update({
        x: "Source samples", y: "Mean squared error", log: true, note: `${curves.length} strategies.`,
        series: curves.map((curve, index) => ({
          name: curve.strategy, tone: tone(index), mark: marks[index % 4], dash: dashes[Math.floor(index / 6) % 4],
          points: curve.points.filter((point) => point.value).map((point) => ({
            x: point.budget, y: point.value.mean,
            low: point.value.sem === null ? undefined : Math.max(point.value.mean - point.value.sem, point.value.mean / 10), high: point.value.sem === null ? undefined : point.value.mean + point.value.sem,
          })),
        })),
      });
    }
    if (!run.targets.length) put(figures, h("p", { class: "quiet" }, "No trial has finished yet: its curve appears when the first one does."));
    const last = run.targets.flatMap((target) => target.returned.map((curve) => ({ target: target.target, curve, point: curve.points.at(-1) })));
    put(tail,
      last.length > 0 && h("section", { class: "card" }, h("h2", {}, "Where each strategy stands"), table("", [
        ["strategy", (one) => one.curve.strategy], ["what it does", (one) => WHAT[one.curve.strategy.replace(/\+.*/, "")] || "", "words"], run.targets.length > 1 && ["target", (one) => one.target || "–"], ["seeds", (one) => num(one.curve.seeds), "number"],
        ["samples", (one) => num(one.point?.budget), "number"], ["loss", (one) => (one.point?.value ? num(one.point.value.mean) : "–"), "number"],
        ["standard error", (one) => (one.point?.value?.sem ? num(one.point.value.sem) : "–"), "number"],
      ].filter(Boolean), last, "Where each strategy stands")),
      run.tasks.length > 0 && h("section", { class: "card" }, h("h2", {}, "Which tasks were chosen, and why"), table("The tasks with the most samples of each strategy, over all rounds and seeds", [
        ["strategy", (one) => one.strategy], ["task", (one) => one.task], ["parameters", (one) => one.parameters.slice(0, 4).map((value) => num(value, 2)).join(", ") + (one.parameters.length > 4 ? " …" : "")],
        ["samples", (one) => num(one.samples), "number"], ["why", (one) => one.reason, "words"],
      ], bestFirst(run), "Tasks that were chosen")));
    main.dataset.version = String(run.trials);
  }, state);
}
