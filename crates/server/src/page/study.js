// The page of a study.

import { follow } from "./api.js";
import { fail, now, retract, start, tell, undo } from "./actions.js";
import { capital, count, csv, download, h, num, put, table, time, word } from "./dom.js";
import { errors, map, samples, tiles } from "./figures.js";
import { whatIf } from "./whatif.js";

const section = (id, title, ...children) => h("section", { id, class: "card", "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), children);

const stateOf = (item) => h("span", { class: `state ${item.state}` }, item.state);

function hero() {
  const element = h("section", { class: "hero", "aria-label": "The answer" });
  function update(view) {
    const answer = view.learnt?.answer;
    const old = view.learnt && view.learnt.version !== view.version;
    put(element,
      h("p", { class: "question" }, answer?.question || `Which tasks should be measured next in ${view.status.study}?`),
      h("h1", {}, answer ? answer.verdict : capital(view.status.next) + "."),
      h("p", { class: "sure" }, answer?.sure || "What was measured is being learnt from …"),
      answer?.why && h("p", { class: "why" }, h("strong", {}, "Why these? "), answer.why),
      old && h("p", { class: "quiet" }, "Something new came; this answer is of the moment before, the next is being computed …"));
  }
  return { element, update };
}

function checklist() {
  const body = h("div", {});
  const element = section("plan", "What to measure now", body);
  let view = null;
  const save = () => download("checklist.csv", csv([
    ["item", "task", ...view.parameters.map((name) => name.replace(/ \([^)]*\)$/, "")), "n", "cost", "stage", "reason", "file", "failed"],
    ...view.status.open.map((one) => [one.item, one.task, ...one.parameters, one.n, one.cost, one.stage, one.reason, "", ""])]));
  function update(next) {
    view = next;
    const open = view.status.open;
    if (!open.length) {
      put(body, h("p", {}, `${capital(view.status.next)}.`),
        h("p", { class: "buttons" }, h("a", { class: "button", href: "#what-if" }, "Choose a plan below"),
          h("button", { type: "button", onclick: () => tell(view) }, "Enter rows …")));
      return;
    }
    const total = open.reduce((sum, one) => sum + one.cost, 0);
    put(body,
      table(`${count(open.length, "item")}, ${num(total)} ${view.status.unit}, a switch to each task included`, [
        ["done", () => h("span", { class: "tick-box", "aria-hidden": "true" })],
        ["item", (one) => one.item, "number"],
        ["task", (one) => h("strong", {}, one.task)],
        ...view.parameters.map((name, at) => [name, (one) => num(one.parameters[at]), "number"]),
        ["samples", (one) => (one.collected ? `${num(one.n - one.collected)} of ${num(one.n)}` : num(one.n)), "number"],
        ["cost", (one) => num(one.cost), "number"],
        ["why", (one) => [h("span", { class: "stage" }, word(one.stage)), " ", one.why], "words"],
        ["state", (one) => [stateOf(one), one.state === "running" && one.author ? ` by ${one.author}` : ""]],
        ["actions", (one) => h("span", { class: "acts" },
          h("button", { type: "button", class: "small primary", onclick: () => tell(view, one), "aria-label": `Enter rows … of item ${one.item}` }, "Enter rows …"),
          one.state !== "running" && h("button", { type: "button", class: "small", onclick: () => start(view, one), "aria-label": `I measure it: item ${one.item}` }, "I measure it"),
          h("button", { type: "button", class: "small", onclick: () => fail(view, one), "aria-label": `It failed … item ${one.item}` }, "It failed …")), "acts"],
      ], open, "Items to measure", true),
      h("p", { class: "buttons" },
        h("button", { type: "button", onclick: () => print() }, "Print the checklist"),
        h("button", { type: "button", onclick: save }, "Checklist as CSV"),
        h("button", { type: "button", onclick: () => tell(view) }, "Enter rows …")));
  }
  return { element, update };
}

function models() {
  const body = h("div", {});
  const element = section("model", "The model so far", body);
  function update(view) {
    const { learnt, status } = view;
    if (!learnt) { put(body, h("p", { class: "quiet" }, "Being learnt …")); return; }
    put(body, learnt.models.map((one) => [
      h("h3", {}, `For target ${one.target}`),
      one.ways.length ? h("ol", { class: "ways" }, one.ways.map((way) => h("li", {}, way))) : h("p", { class: "quiet" }, capital(one.no_model || "no model yet") + "."),
    ]), !learnt.models.length && h("p", { class: "quiet" }, "The study has no target yet."),
    h("p", { class: "quiet" }, `Tasks: ${status.task_features}. Inputs: ${status.input_features}. Strategy ${status.strategy}, trainer ${status.trainer}.`),
    h("p", {}, h("a", { href: `/api/studies/${encodeURIComponent(status.study)}/report` }, "Report in one file")));
  }
  return { element, update };
}

function finished() {
  const body = h("div", {});
  const element = section("items", "What was measured", body);
  function update(view) {
    const done = view.items.filter((one) => one.state === "told" || one.state === "failed").reverse();
    const of = (batch) => { const [kind, name] = Object.entries(batch.of)[0]; return `${kind} ${name}`; };
    const batches = [...view.batches].reverse();
    put(body,
      done.length ? table(`${count(done.length, "item")}, newest first`, [
        ["item", (one) => one.item, "number"], ["task", (one) => one.task],
        ["rows", (one) => `${num(one.collected)} of ${num(one.n)}`, "number"], ["round", (one) => one.round + 1, "number"],
        ["state", stateOf], ["why", (one) => one.why, "words"],
      ], done, "Finished items") : h("p", { class: "quiet" }, "No item is finished yet."),
      h("h3", {}, "Rows that were told"),
      batches.length ? table(view.batch_count > batches.length ? `the last ${batches.length} of ${view.batch_count}` : "", [
        ["rows", (one) => num(one.rows), "number"], ["of", of], ["told", (one) => time(one.time_us)], ["by", (one) => one.author], ["file", (one) => one.source || "–"],
        ["actions", (one) => h("button", { type: "button", class: "small", onclick: () => retract(view, one), "aria-label": `Retract … rows of ${of(one)}` }, "Retract …"), "acts"],
      ], batches, "Rows that were told") : h("p", { class: "quiet" }, "Nothing was told yet."));
  }
  return { element, update };
}

function history() {
  const body = h("div", {});
  let view = null;
  const text = h("input", { type: "text", maxlength: 500, "aria-label": "A note for the history", placeholder: "a note for everybody: sensor 3 was cleaned" });
  const form = h("form", { class: "note" }, text, h("button", { type: "submit" }, "Write down"), h("button", { type: "button", onclick: () => undo(view) }, "Take the last change back …"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await now(view, { change: "note", text: text.value, seen_version: view.version })) text.value = "";
  });
  const element = section("history", "History", form, body);
  function update(next) {
    view = next;
    put(body, table("", [
      ["what", (one) => [one.what, one.undone && " (taken back)"], "words"],
      ["when", (one) => time(one.time_us)], ["by", (one) => one.author], ["entry", (one) => one.version, "number"],
    ], [...view.history].reverse().slice(0, 60), "What happened, newest first"));
  }
  return { element, update };
}

export function studyPage(main, name, state) {
  const parts = { hero: hero(), tiles: tiles(), plan: checklist(), errors: errors(), samples: samples(), map: map(), whatIf: whatIf(), models: models(), finished: finished(), history: history() };
  const contents = [["plan", "Measure now"], ["forecast", "Forecast"], ["what-if", "What if?"], ["tasks", "Tasks"], ["model", "Model"], ["items", "Measured"], ["history", "History"]];
  let shown = false;
  document.title = `${name} – taskscout`;
  return follow(`/api/studies/${encodeURIComponent(name)}`, (view) => {
    if (!shown) {
      shown = true;
      put(main, parts.hero.element, parts.tiles.element,
        h("nav", { class: "contents", "aria-label": "Contents" }, contents.map(([id, text]) => h("a", { href: `#${id}` }, text))),
        parts.plan.element,
        section("forecast", "How good the model is, and what more would bring", parts.errors.element),
        parts.whatIf.element,
        section("tasks", "Which tasks, and where the target lies", h("div", { class: "columns" }, parts.map.element, parts.samples.element)),
        parts.models.element, parts.finished.element, parts.history.element);
    }
    state("trouble", view.trouble);
    for (const part of Object.values(parts)) part.update(view);
    main.dataset.version = view.version;
    main.dataset.learnt = view.learnt?.version ?? "";
  }, state);
}
