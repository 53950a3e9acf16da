// Elements, numbers and times. Text is always text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(3)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

// An element of the page.
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

// An element of a figure.
export function s(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

// Puts other children into an element.
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

// A number as people write it: three figures, no more than are there.
export function num(value, figures = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return value.toLocaleString("en-GB");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) {
    const [digits, power] = value.toExponential(figures - 1).split("e");
    return `${Number(digits)}·10${power.replace("+", "").replace(/./g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻")}`;
  }
  return Number(value.toPrecision(figures)).toLocaleString("en-GB", { maximumFractionDigits: 6 });
}

export function percent(share) {
  return `${Math.round(100 * share)}\u00a0%`;
}

export function count(number, what) {
  return `${num(number)} ${what}${number === 1 ? "" : "s"}`;
}

// A time of the log, in the reader's own zone.
export function time(us) {
  return new Date(us / 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

// A table; columns are [heading, cell, kind], where kind "number" stands to the right. On a phone the rows of a table
// that is stacked are cards.
export function table(caption, columns, rows, label, stacked = false) {
  const cell = ([name, of, kind], row) => h("td", { class: kind, "data-label": kind === "acts" ? "" : name }, of(row));
  const head = ([name, , kind]) => h("th", { scope: "col", class: kind }, kind === "acts" ? h("span", { class: "hidden" }, name) : name);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label || caption },
    h("table", { class: stacked && "stacked" },
      caption && h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map(head))),
      h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) => cell(column, row)))))));
}

// A file made on the page.
export function download(name, text, kind = "text/csv") {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function csv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

export function capital(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : "";
}

// A word of the field with its meaning, for those who hover, tap or tab.
const MEANINGS = {
  task: "A condition under which data can be collected, for instance a wind speed or a load.",
  target: "The condition that the model is wanted for.",
  error: "Root of the mean squared difference between prediction and noise-free truth on the target.",
  "source rows": "Measured rows of tasks other than the target.",
  "as planned": "The budget is spent on the tasks that the study would choose.",
  "all tasks alike": "The budget is spread evenly over all tasks, without choosing.",
  "target rows": "The budget is spent on rows of the target itself.",
  explore: "To learn what all tasks have in common.",
  exploit: "To learn what the target needs most.",
  "warm-up": "First rows, spread over all tasks, when nothing is known yet.",
};

export function word(text, key = text) {
  const meaning = MEANINGS[key];
  return meaning ? h("abbr", { title: meaning, tabindex: "0" }, text) : text;
}
