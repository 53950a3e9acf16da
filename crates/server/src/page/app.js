// Which page is shown, whether it is live, and what is wrong.

import { h, put } from "./dom.js";
import { comparePage, listPage, runPage } from "./other.js";
import { studyPage } from "./study.js";

const main = document.getElementById("main");
const live = document.getElementById("live");
const trouble = document.getElementById("trouble");

function state(kind, sentence) {
  if (kind === "trouble") {
    trouble.hidden = !sentence;
    put(trouble, sentence ? `Nothing newer can be shown: ${sentence}` : "");
    return;
  }
  live.className = `live ${kind}`;
  live.textContent = kind === "live" ? "live" : "not connected";
  live.title = sentence || "";
  if (kind === "lost" && !main.dataset.version) put(main, h("p", { class: "bad" }, sentence ? sentence[0].toUpperCase() + sentence.slice(1) + "." : ""));
}

const [, kind, name] = location.pathname.split("/");
const wanted = name === undefined ? "" : decodeURIComponent(name);
const place = h("a", { href: "/", "aria-current": kind ? undefined : "page" }, "Studies");
const nav = [place, h("a", { href: "/compare", "aria-current": kind === "compare" ? "page" : undefined }, "Compare")];
if (wanted) nav.push(h("span", { class: "here" }, wanted));
put(document.getElementById("nav"), nav);

if (kind === "studies") studyPage(main, wanted, state);
else if (kind === "runs") runPage(main, wanted, state);
else if (kind === "compare") comparePage(main, state);
else listPage(main, state);
