// Requests to the server, and what it says when it refuses.

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function answer(request) {
  let response;
  try {
    response = await request;
  } catch {
    throw new Refused(0, "the server does not answer: is `taskscout serve` still running?");
  }
  if (response.status === 401) {
    location.href = "/login";
  }
  const text = await response.text();
  let value = null;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refused(response.status, "the server answered with something that is not understood");
  }
  if (!response.ok) throw new Refused(response.status, value.error || "refused");
  return value;
}

export const get = (path, signal) => answer(fetch(path, { signal }));

export const post = (path, body, signal) =>
  answer(fetch(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" }, signal }));

// Sends a file; what it is of stands in the query.
export const send = (path, query, file) => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return answer(fetch(`${path}?${new URLSearchParams(pairs)}`, { method: "POST", body: file, headers: { "content-type": "application/octet-stream" } }));
};

// Calls back with a document now and whenever it changes; gives what ends that.
export function follow(path, show, state) {
  let shown = -1;
  let loading = false;
  let wanted = 0;
  let ended = false;
  async function load() {
    if (loading || ended) return;
    loading = true;
    try {
      while (shown < wanted && !ended) {
        const aim = wanted;
        const value = await get(path);
        shown = aim;
        state("live");
        show(value);
      }
    } catch (error) {
      state("lost", error.message);
      setTimeout(load, 3000);
    }
    loading = false;
  }
  const events = new EventSource(`${path}/events`);
  events.addEventListener("edition", (event) => {
    const edition = Number(event.data);
    // A server that was started again counts from the beginning.
    if (edition < shown) shown = -1;
    wanted = edition;
    load();
  });
  events.addEventListener("error", () => state("lost", "the connection to the server is lost: trying again"));
  events.addEventListener("open", () => state("live"));
  load();
  return () => {
    ended = true;
    events.close();
  };
}

const AUTHOR = "taskscout-author";

export const author = () => localStorage.getItem(AUTHOR) || "";
export const setAuthor = (name) => localStorage.setItem(AUTHOR, name.trim());
