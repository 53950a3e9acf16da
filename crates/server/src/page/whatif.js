// What if: another budget, other costs, tasks that cannot be measured. The plan and its forecast follow at once, and
// nothing is stored until somebody asks for the plan.

import { author, post } from "./api.js";
import { toast } from "./actions.js";
import { capital, h, num, percent, put, table } from "./dom.js";

export function whatIf() {
  let view = null;
  let waiting = 0;
  let running = null;
  let key = crypto.randomUUID();
  const slider = (text, of) => {
    const number = h("input", { type: "number", step: "any", "aria-label": `${text}, as a number` });
    const range = h("input", { type: "range", "aria-label": text, ...of });
    range.addEventListener("input", () => { number.value = range.value; later(); });
    number.addEventListener("input", () => { range.value = number.value; later(); });
    const label = h("div", { class: "slider" }, h("span", {}, text), h("span", { class: "pair" }, range, number));
    return { label, range, number, value: () => Number(number.value) };
  };
  const budget = slider("Budget", { min: 1, max: 1000, step: 1 });
  const cost = slider("Cost of a switch to another task", { min: 0, max: 100, step: "any" });
  const most = slider("Tasks at most (0: any number)", { min: 0, max: 20, step: 1 });
  const forbidden = h("div", { class: "chips" });
  const pick = h("select", { "aria-label": "A task that cannot be measured", onchange: () => { if (pick.value) { banned.add(pick.value); pick.value = ""; chips(); later(); } } });
  const banned = new Set();
  const outcome = h("div", { class: "outcome", "aria-live": "polite" });
  const go = h("button", { type: "button", class: "primary", disabled: true, onclick: ask }, "Add these to the checklist");
  const element = h("section", { id: "what-if", class: "card", "aria-labelledby": "what-if-title" },
    h("h2", { id: "what-if-title" }, "What if?"),
    h("p", { class: "quiet" }, "Move the sliders: the plan and what it should bring follow. Nothing is stored."),
    h("div", { class: "inputs" }, budget.label, cost.label, most.label,
      h("div", { class: "slider" }, h("span", {}, "Tasks that cannot be measured"), pick, forbidden)),
    outcome,
    h("p", { class: "buttons" }, go, h("span", { class: "quiet" }, " for everybody; items that are open stay")));

  function chips() {
    put(forbidden, [...banned].map((task) => h("button", { type: "button", class: "chip", "aria-label": `Allow ${task} again`, onclick: () => { banned.delete(task); chips(); later(); } }, `${task} ×`)));
  }

  const wanted = () => ({
    budget: Math.max(1, Math.round(budget.value()) || 1), switch_cost: Math.max(0, cost.value() || 0),
    max_tasks: most.value() >= 1 ? Math.round(most.value()) : null, forbidden: [...banned],
  });

  function later() {
    clearTimeout(waiting);
    go.disabled = true;
    waiting = setTimeout(look, 150);
  }

  async function look() {
    if (!view) return;
    running?.abort();
    running = new AbortController();
    const own = running;
    outcome.classList.add("waiting");
    try {
      const found = await post(`/api/studies/${encodeURIComponent(view.status.study)}/what-if`, wanted(), own.signal);
      if (own !== running) return;
      put(outcome, supposed(found, view.parameters));
      go.disabled = found.items.length === 0;
      key = crypto.randomUUID();
    } catch (error) {
      if (own === running) put(outcome, h("p", { class: "bad" }, `${capital(error.message)}.`));
    }
    if (own === running) outcome.classList.remove("waiting");
  }

  async function ask() {
    go.disabled = true;
    try {
      const done = await post(`/api/studies/${encodeURIComponent(view.status.study)}/changes`,
        { change: "ask", ...wanted(), key, seen_rounds: view.status.rounds, author: author() });
      toast(`${capital(done.sentence)}.`);
    } catch (error) {
      toast(`${capital(error.message)}.`, "bad");
    }
  }

  function update(next) {
    const first = !view;
    const changed = view?.version !== next.version;
    view = next;
    if (first) {
      const { collection } = view;
      budget.range.max = Math.max(4 * view.budget, 20);
      budget.range.value = budget.number.value = view.budget;
      cost.range.max = Math.max(4 * collection.switch_cost, Math.round(view.budget / 4), 10);
      cost.range.value = cost.number.value = collection.switch_cost;
      most.range.value = most.number.value = collection.max_tasks || 0;
      budget.label.firstChild.textContent = `Budget (${view.status.unit})`;
      const names = view.tasks.length ? view.tasks.map((one) => one.task) : view.samples.map((one) => one.task);
      put(pick, h("option", { value: "" }, names.length ? "choose …" : "no task has a name"), names.map((name) => h("option", { value: name }, name)));
      pick.disabled = !names.length;
    }
    if (changed) look();
  }
  return { element, update };
}

// A plan that nobody asked for yet.
export function supposed(found, parameters) {
  const errors = found.errors.map((one) => h("p", { class: "key" },
    `${one.target}: `, h("strong", {}, `${num((one.under_way || one.now).mean)} → ${num(one.then.mean)} ${found.error_unit}`),
    `${one.under_way ? " after the open items" : ""} (9 of 10 cases: ${num(one.then.low)} to ${num(one.then.high)}); spread over all tasks alike: ${num(one.passive.mean)}`));
  return [
    errors.length ? errors : h("p", { class: "quiet" }, `What it brings is not known yet: ${found.no_forecast || "too little data"}.`),
    table(`${found.errors.some((one) => one.under_way) ? "The batch after the open items: " : ""}${num(found.samples)} samples, ${num(found.cost)} ${found.unit}`, [
      ["task", (one) => one.task],
      ...parameters.map((name, at) => [name, (one) => num(one.parameters[at]), "number"]),
      ["samples", (one) => num(one.n), "number"],
      ["cost", (one) => num(one.cost), "number"],
      ["like the target", (one) => (one.similarity === null ? "–" : percent(Math.abs(one.similarity))), "number"],
      ["why", (one) => one.why, "words"],
    ], found.items, "The plan", true),
  ];
}
