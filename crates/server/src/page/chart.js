// Curves that can be looked at closely: drag over a part to see it larger, or use the buttons or the keys + − 0 ← →.

import { csv, download, h, num, put, s } from "./dom.js";

const LEFT = 62, RIGHT = 14, TOP = 12, BOTTOM = 44;

export function ticks(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((one) => span / one <= most);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

function logTicks(low, high) {
  const found = [];
  const decades = Math.log10(high / low);
  const parts = decades > 3 ? [1] : decades > 1.2 ? [1, 2, 5] : decades > 0.5 ? [1, 2, 3, 5, 7] : null;
  if (!parts) return ticks(low, high, 6);
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const part of parts) {
      const at = part * 10 ** power;
      if (at >= low && at <= high) found.push(at);
    }
  }
  return found;
}

const MARKS = {
  circle: (x, y) => s("circle", { cx: x, cy: y, r: 3.5 }),
  square: (x, y) => s("rect", { x: x - 3.2, y: y - 3.2, width: 6.4, height: 6.4 }),
  triangle: (x, y) => s("path", { d: `M${x} ${y - 4.5}l4.200 7.600h-8.400z` }),
  diamond: (x, y) => s("path", { d: `M${x} ${y - 4.8}l4.400 4.800-4.400 4.800-4.400-4.800z` }),
};

// A figure of curves. Its data come with update({x, y, log, series, note}); a series has name, tone, mark, dash, points
// {x, y, low, high}.
export function lineChart(title, name) {
  let data = null;
  let zoom = null;
  let hidden = new Set();
  const svg = s("svg", { class: "chart", role: "img", tabindex: "0" });
  const tip = h("p", { class: "tip", "aria-hidden": "true" });
  const legend = h("ul", { class: "legend" });
  const values = h("div", {});
  const button = (text, label, act) => h("button", { type: "button", class: "small", "aria-label": label, title: label, onclick: act }, text);
  const tools = h("div", { class: "tools" },
    button("+", "Show the middle larger", () => scale(0.5)),
    button("−", "Show more", () => scale(2)),
    button("Reset", "Reset: show everything", () => { zoom = null; draw(); }),
    button("CSV", `CSV: the numbers of this figure, ${title}`, save));
  const figure = h("figure", { class: "figure" },
    h("figcaption", {}, h("h3", {}, title), tools),
    legend, h("div", { class: "plot" }, svg, tip),
    h("details", {}, h("summary", {}, "The numbers of this figure"), values));

  const shown = () => data.series.filter((one) => !hidden.has(one.name) && one.points.length);
  const all = () => shown().flatMap((one) => one.points);

  function range() {
    const xs = all().map((point) => point.x);
    const low = Math.min(...xs), high = Math.max(...xs);
    return high > low ? [low, high] : [low - 1, high + 1];
  }

  function scale(factor) {
    if (!data || !all().length) return;
    const [low, high] = zoom || range();
    const half = ((high - low) / 2) * factor, middle = (low + high) / 2;
    const [least, most] = range();
    zoom = half * 2 >= most - least ? null : [middle - half, middle + half];
    draw();
  }

  function shift(part) {
    if (!zoom) return;
    const by = (zoom[1] - zoom[0]) * part;
    zoom = [zoom[0] + by, zoom[1] + by];
    draw();
  }

  svg.addEventListener("keydown", (event) => {
    const act = { "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), 0: () => { zoom = null; draw(); }, ArrowLeft: () => shift(-0.2), ArrowRight: () => shift(0.2) }[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  function save() {
    const rows = [["series", data.x, data.y, "low", "high"]];
    for (const one of data.series) for (const p of one.points) rows.push([one.name, p.x, p.y, p.low, p.high]);
    download(`${name}.csv`, csv(rows));
  }

  let place = null;

  function draw() {
    const points = data ? all() : [];
    const width = Math.max(260, svg.parentElement?.clientWidth || 640);
    const height = Math.round(Math.min(380, Math.max(230, width * 0.5)));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.replaceChildren();
    if (!points.length) {
      svg.append(s("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, data?.empty || "Nothing to show yet"));
      svg.setAttribute("aria-label", `${title}: nothing to show yet`);
      place = null;
      return;
    }
    const [x0, x1] = zoom || range();
    const inside = points.filter((p) => p.x >= x0 && p.x <= x1);
    const seen = inside.length ? inside : points;
    const positive = seen.every((p) => p.y > 0);
    const log = data.log && positive;
    const lows = seen.map((p) => (p.low > 0 || !log ? p.low ?? p.y : p.y)), highs = seen.map((p) => p.high ?? p.y);
    let y0 = Math.min(...lows, ...seen.map((p) => p.y)), y1 = Math.max(...highs, ...seen.map((p) => p.y));
    if (log) { y0 /= 1.12; y1 *= 1.12; } else { const pad = (y1 - y0 || Math.abs(y1) || 1) * 0.06; y0 -= pad; y1 += pad; }
    const w = width - LEFT - RIGHT, t = height - TOP - BOTTOM;
    const fx = (x) => LEFT + ((x - x0) / (x1 - x0)) * w;
    const part = (y) => (log ? Math.log(Math.max(y, y0 / 1e3) / y0) / Math.log(y1 / y0) : (y - y0) / (y1 - y0));
    const fy = (y) => TOP + t - part(y) * t;
    place = { fx, fy, x0, x1, w, log };
    const id = `clip-${name}`;
    svg.append(s("clipPath", { id }, s("rect", { x: LEFT, y: TOP - 6, width: w + 6, height: t + 8 })));
    for (const at of log ? logTicks(y0, y1) : ticks(y0, y1, 6)) {
      svg.append(s("line", { class: "grid", x1: LEFT, x2: LEFT + w, y1: fy(at), y2: fy(at) }),
        s("text", { class: "tick", x: LEFT - 7, y: fy(at) + 4, "text-anchor": "end" }, num(at, 2)));
    }
    for (const at of ticks(x0, x1, width < 480 ? 4 : 7)) {
      svg.append(s("text", { class: "tick", x: fx(at), y: TOP + t + 17, "text-anchor": "middle" }, num(at)));
    }
    svg.append(s("line", { class: "axis", x1: LEFT, x2: LEFT + w, y1: TOP + t, y2: TOP + t }),
      s("text", { class: "label", x: LEFT + w / 2, y: height - 6, "text-anchor": "middle" }, data.x),
      s("text", { class: "label", x: 13, y: TOP + t / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${TOP + t / 2})` }, data.y));
    const layer = s("g", { "clip-path": `url(#${id})` });
    if (Number.isFinite(data.now) && data.now >= x0 && data.now <= x1) {
      layer.append(s("line", { class: "now", x1: fx(data.now), x2: fx(data.now), y1: TOP, y2: TOP + t }),
        s("text", { class: "tick", x: fx(data.now) + 4, y: TOP + 10 }, "now"));
    }
    for (const one of shown()) {
      const band = one.points.filter((p) => Number.isFinite(p.low) && Number.isFinite(p.high));
      if (band.length > 1) {
        const up = band.map((p) => `${fx(p.x)},${fy(p.high)}`), down = band.map((p) => `${fx(p.x)},${fy(p.low)}`).reverse();
        layer.append(s("polygon", { class: `band ${one.tone}`, points: [...up, ...down].join(" ") }));
      }
    }
    for (const one of shown()) {
      const line = one.points.map((p, at) => `${at ? "L" : "M"}${fx(p.x)} ${fy(p.y)}`).join("");
      layer.append(s("path", { class: `line ${one.tone}`, d: line, "stroke-dasharray": one.dash || "none" }));
      for (const p of one.points) {
        const mark = MARKS[one.mark](fx(p.x), fy(p.y));
        mark.setAttribute("class", `mark ${one.tone}`);
        layer.append(mark);
      }
    }
    svg.append(layer);
    svg.setAttribute("aria-label", `${title}. ${data.note || ""} ${data.x} from ${num(x0)} to ${num(x1)}, ${data.y} from ${num(y0)} to ${num(y1)}${log ? ", on a logarithmic axis" : ""}.`);
  }

  function words(one, p) {
    const range = Number.isFinite(p.low) ? ` (${num(p.low)} to ${num(p.high)})` : "";
    return `${one.name}, ${data.x.toLowerCase()} ${num(p.x)}: ${num(p.y)}${range}`;
  }

  function nearest(event) {
    if (!place) return null;
    const box = svg.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null;
    for (const one of shown()) for (const p of one.points) {
      const far = Math.hypot(place.fx(p.x) - x, place.fy(p.y) - y);
      if (!best || far < best.far) best = { far, one, p };
    }
    return best && best.far < 60 ? best : null;
  }

  let from = null;
  let box = null;
  const toX = (event) => place.x0 + ((event.clientX - svg.getBoundingClientRect().left - LEFT) / place.w) * (place.x1 - place.x0);
  svg.addEventListener("pointerdown", (event) => {
    if (!place || event.pointerType === "touch") return;
    from = event.clientX;
    box = s("rect", { class: "choose", y: TOP, height: 1000, width: 0, x: 0 });
    svg.append(box);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (from !== null && box) {
      const left = svg.getBoundingClientRect().left;
      box.setAttribute("x", Math.min(from, event.clientX) - left);
      box.setAttribute("width", Math.abs(event.clientX - from));
      return;
    }
    const found = nearest(event);
    tip.textContent = found ? words(found.one, found.p) : "";
    tip.classList.toggle("shown", Boolean(found));
  });
  svg.addEventListener("pointerleave", () => tip.classList.remove("shown"));
  svg.addEventListener("pointerup", (event) => {
    if (from === null || !place) return;
    const start = from;
    from = null;
    box?.remove();
    if (Math.abs(event.clientX - start) > 8) {
      const a = toX({ clientX: start }), b = toX(event);
      zoom = [Math.min(a, b), Math.max(a, b)];
      draw();
    }
  });
  svg.addEventListener("dblclick", () => { zoom = null; draw(); });

  function sample(one) {
    const mark = MARKS[one.mark](13, 7);
    mark.setAttribute("class", `mark ${one.tone}`);
    return s("svg", { width: 26, height: 14, "aria-hidden": "true" },
      s("path", { class: `line ${one.tone}`, d: "M1 7H25", "stroke-dasharray": one.dash || "none" }), mark);
  }

  function update(next) {
    data = next;
    if (zoom && all().length) {
      const [low, high] = range();
      if (zoom[1] < low || zoom[0] > high) zoom = null;
    }
    put(legend, data.series.filter((one) => one.points.length).map((one) => h("li", {},
      h("label", { title: one.meaning || "" }, h("input", {
        type: "checkbox", checked: !hidden.has(one.name), onchange: (event) => {
          hidden = new Set(hidden);
          if (event.target.checked) hidden.delete(one.name); else hidden.add(one.name);
          draw();
        },
      }), sample(one), one.name))));
    const rows = data.series.flatMap((one) => one.points.map((p) => h("tr", {},
      h("th", { scope: "row" }, one.name), h("td", { class: "number" }, num(p.x)), h("td", { class: "number" }, num(p.y)),
      h("td", { class: "number" }, Number.isFinite(p.low) ? `${num(p.low)} to ${num(p.high)}` : "–"))));
    put(values, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers: ${title}` }, h("table", {},
      h("thead", {}, h("tr", {}, ["curve", data.x, data.y, "9 of 10 cases"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows))));
    draw();
  }

  const watching = new ResizeObserver(() => { if (data) draw(); });
  requestAnimationFrame(() => watching.observe(figure));
  return { element: figure, update };
}
