// What people do to a study: tell, fail, start, retract, note, take back. What would follow is shown before.

import { author, post, send, setAuthor } from "./api.js";
import { capital, count, h, num, put, table } from "./dom.js";

let toastTimer = 0;

export function toast(text, kind = "good") {
  const place = document.getElementById("toast");
  put(place, h("p", { class: kind }, text));
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => put(place), 9000);
}

// A window over the page: a title, fields, and what to do.
function dialog(title, fields, { check, act, action, ready }) {
  const outcome = h("div", { class: "outcome", "aria-live": "polite" });
  const who = h("input", { type: "text", value: author(), autocomplete: "name", maxlength: 80 });
  const go = h("button", { type: "submit", class: "primary", disabled: true }, action);
  const cancel = h("button", { type: "button", onclick: () => box.close() }, "Cancel");
  const form = h("form", { method: "dialog" },
    h("h2", { id: "dialog-title" }, title), fields,
    h("label", {}, "Your name, for the history", who), outcome,
    h("div", { class: "buttons" }, cancel, go));
  const box = h("dialog", { "aria-labelledby": "dialog-title" }, form);
  const say = (text, kind) => put(outcome, h("p", { class: kind }, text));
  let turn = 0;
  async function look() {
    const own = ++turn;
    go.disabled = true;
    if (!ready()) { put(outcome); return; }
    say("Looking what would follow …", "quiet");
    try {
      const found = await check();
      if (own !== turn) return;
      put(outcome, found);
      go.disabled = false;
    } catch (error) {
      if (own === turn) say(capital(error.message) + ".", "bad");
    }
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    setAuthor(who.value);
    try {
      const done = await act(who.value);
      box.close();
      toast(`${capital(done.sentence)}${done.already ? " (it had been done before, nothing changed)" : ""}.`);
    } catch (error) {
      say(capital(error.message) + ".", "bad");
      go.disabled = error.status === 409;
    }
  });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  look();
  return { look };
}

const range = (interval, unit) => `${num(interval.mean)} ${unit} (${num(interval.low)} to ${num(interval.high)})`;

const plan = (standing) => {
  if (!standing.next) return standing.no_plan || "–";
  return standing.next.items.slice(0, 6).map((one) => `${one.task} (${one.n})`).join(", ") + (standing.next.items.length > 6 ? ` and ${standing.next.items.length - 6} more` : "");
};

// Where the study stands before and after.
export function effect({ before, after }) {
  const rows = [
    ["Rows of tasks", num(before.source_rows), num(after.source_rows)],
    ...after.target_rows.map(([name, rows], at) => [`Rows of ${name}`, num(before.target_rows[at]?.[1]), num(rows)]),
    ["Spent", `${num(before.spent)} ${before.unit}`, `${num(after.spent)} ${after.unit}`],
    ["Open items", num(before.open_items), num(after.open_items)],
  ];
  const names = [...new Set([...before.errors, ...after.errors].map((one) => one.target))];
  for (const name of names) {
    const of = (standing) => {
      const found = standing.errors.find((one) => one.target === name);
      return found ? range(found.error, standing.error_unit) : "not known";
    };
    rows.push([`Expected error on ${name}`, of(before), of(after)]);
  }
  if (!names.length) rows.push(["Expected error", before.no_forecast || "–", after.no_forecast || "–"]);
  rows.push([`Next plan, with ${num(before.next?.budget ?? after.next?.budget ?? 0)} ${before.unit}`, plan(before), plan(after)]);
  return table("", [["what", (row) => row[0]], ["before", (row) => row[1], "words"], ["after", (row) => h("strong", {}, row[2]), "words"]], rows, "Before and after", true);
}

const base = (view) => `/api/studies/${encodeURIComponent(view.status.study)}`;
const seen = (item) => ({ state: item.state, collected: item.collected });

// Rows from a file: of an item, of a target, or of the items that a column names.
export function tell(view, item, target) {
  const file = h("input", { type: "file", accept: ".csv,.tsv,.txt,.parquet", onchange: () => ask.look() });
  const open = view.status.open;
  const choice = h("select", { onchange: () => ask.look() },
    open.map((one) => h("option", { value: `item ${one.item}` }, `item ${one.item}: ${one.task}, ${one.collected} of ${one.n} rows`)),
    view.status.targets.filter((one) => one.takes_rows).map((one) => h("option", { value: `target ${one.name}` }, `target ${one.name}`)),
    h("option", { value: "column" }, "as the column `item` of the file says"));
  if (item) choice.value = `item ${item.item}`;
  if (target) choice.value = `target ${target}`;
  const set = h("input", { type: "text", placeholder: view.parameters.join(", "), onchange: () => ask.look() });
  const query = () => {
    const [kind, ...rest] = choice.value.split(" ");
    const chosen = kind === "item" ? open.find((one) => String(one.item) === rest.join(" ")) : null;
    return {
      name: file.files[0].name, target: kind === "target" ? rest.join(" ") : undefined,
      item: chosen?.item, state: chosen?.state, collected: chosen?.collected, achieved: chosen ? set.value : undefined,
    };
  };
  const ask = dialog("Tell what was measured", [
    h("label", {}, "Table of rows (CSV or Parquet)", file),
    h("label", {}, "Rows of", choice),
    view.parameters.length ? h("details", {}, h("summary", {}, "Something else was set than planned"), h("label", {}, `What was really set: ${view.parameters.join(", ")}`, set)) : null,
  ], {
    action: "Tell these rows",
    ready: () => file.files.length === 1,
    check: async () => preview(await send(`${base(view)}/rows/preview`, query(), file.files[0])),
    act: (who) => send(`${base(view)}/rows`, { ...query(), author: who }, file.files[0]),
  });
}

function preview({ upload, effect: followed, remarks }) {
  return [
    h("p", {}, h("strong", {}, `${count(upload.rows, "row")} of ${upload.name} will be taken. `),
      upload.passed_over.length ? `Columns that are passed over: ${upload.passed_over.join(", ")}.` : "Every column is used."),
    remarks.map((remark) => h("p", { class: "bad" }, capital(remark) + ".")),
    table("The first rows", upload.taken.map((name, at) => [name, (row) => num(row[at]), "number"]), upload.first),
    h("h3", {}, "What would follow"), effect(followed),
  ];
}

function changing(view, title, fields, action, change, ready = () => true) {
  return dialog(title, fields, {
    action, ready,
    check: async () => [h("h3", {}, "What would follow"), effect(await post(`${base(view)}/changes/preview`, change()))],
    act: (who) => post(`${base(view)}/changes`, { ...change(), author: who }),
  });
}

export function fail(view, item) {
  const reason = h("input", { type: "text", required: true, maxlength: 500, placeholder: "for instance: the fan broke" });
  const retry = h("input", { type: "checkbox", onchange: () => box.look() });
  const box = changing(view, `Item ${item.item} (${item.task}) cannot be measured`, [
    h("label", {}, "Why", reason), h("label", { class: "check" }, retry, "it can be tried again later"),
  ], "Give it up", () => ({ change: "fail", item: item.item, reason: reason.value, retry: retry.checked, seen: seen(item) }));
}

export function retract(view, batch) {
  const of = Object.entries(batch.of)[0].join(" ");
  changing(view, "Forget rows that turned out to be wrong", [h("p", {}, `${count(batch.rows, "row")} of ${of}${batch.source ? `, from ${batch.source}` : ""}.`)],
    "Forget these rows", () => ({ change: "retract", batch: batch.id }));
}

export function undo(view) {
  changing(view, "Take the last change back", [h("p", {}, "The last change that can be taken back. Rows are as if they had never been told; items of a plan are given up.")],
    "Take it back", () => ({ change: "undo", seen_version: view.version }));
}

// What needs no look at what would follow.
export async function now(view, change) {
  try {
    const done = await post(`${base(view)}/changes`, { ...change, author: author() });
    toast(`${capital(done.sentence)}.`);
    return true;
  } catch (error) {
    toast(`${capital(error.message)}.`, "bad");
    return false;
  }
}

export const start = (view, item) => now(view, { change: "start", item: item.item, minutes: 120, seen: seen(item) });
