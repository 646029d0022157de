// Connects the parts of the page: state, events and keys.

import { coalesced, follow, get } from "./api.js";
import { Detail } from "./detail.js";
import { byId, el, isPressed, setPressed, show } from "./dom.js";
import { outcomeLabel } from "./format.js";
import { showSessions } from "./sessions.js";
import { showStrip } from "./strip.js";
import { Timeline } from "./timeline.js";
import { Tools } from "./tools.js";

const QUICK = ["rejected", "would-reject", "repaired", "server-error"];
const FILTER_PAUSE = 120;

const state = { scope: null, view: "timeline", isPaused: false, sessions: null, changes: 0 };
const start = await get("start");
byId("source").textContent = start.source;
byId("source").title = start.source;

const withDetail = (value) => byId("layout").classList.toggle("with-detail", value);
const detail = new Detail({ servers: start.servers, onOpen: () => withDetail(true), onClose: () => withDetail(false) });
const timeline = new Timeline({
  onSelect: (row, opens) => { if (opens || detail.row) detail.open(row); },
  onTotal: showTotal,
});
const tools = new Tools({
  onOpen: () => withDetail(true),
  onClose: () => withDetail(false),
  onShowCalls: (tool) => {
    tools.close();
    setView("timeline");
    setFilter(`tool:${/\s/.test(tool) ? `"${tool}"` : tool}`);
  },
});

const loadSessions = coalesced(async () => {
  state.sessions = await get("sessions");
  showSessions(state.sessions, state.scope, setScope);
  const shown = state.sessions.sessions.filter((one) => state.scope === null || one.id === state.scope);
  showStrip(byId("strip"), shown, state.scope !== null);
}, 250);

const loadTools = coalesced(() => tools.load(state.scope), 1000);

function showTotal(total, problem) {
  byId("problem").hidden = !problem;
  byId("problem").textContent = problem ?? "";
  byId("filter").setAttribute("aria-invalid", String(Boolean(problem)));
  const isEmpty = total === 0 && !problem && state.view === "timeline";
  byId("empty").hidden = !isEmpty;
  byId("timeline").hidden = isEmpty || state.view !== "timeline";
  if (!isEmpty) return;
  const isFiltered = byId("filter").value.trim() !== "";
  show(byId("empty"), isFiltered
    ? el("p", {}, "No exchange matches the filter.")
    : [el("p", {}, state.sessions?.problem ?? "Nothing is recorded here yet. Record a server:"), el("pre", { class: "code" }, `stickler run --record ${start.source} -- npx -y some-server`)]);
}

function query() {
  return { scope: state.scope, filter: byId("filter").value.trim(), fold: isPressed(byId("fold")) ? 1 : 0 };
}

function applyQuery() {
  const { filter } = query();
  for (const button of byId("quick").children) setPressed(button, filter.split(/\s+/).includes(`verdict:${button.dataset.verdict}`));
  return timeline.setQuery(query());
}

function setFilter(text) {
  byId("filter").value = text;
  applyQuery();
}

function setScope(scope) {
  state.scope = scope;
  byId("sessions").classList.remove("shown");
  byId("show-sessions").setAttribute("aria-expanded", "false");
  loadSessions();
  applyQuery();
  if (state.view === "tools") loadTools();
}

function setView(view) {
  if (state.view !== view && !byId("detail").hidden) (view === "tools" ? detail : tools).close();
  state.view = view;
  setPressed(byId("tab-timeline"), view === "timeline");
  setPressed(byId("tab-tools"), view === "tools");
  for (const id of ["filters", "columns", "timeline"]) byId(id).hidden = view !== "timeline";
  byId("empty").hidden = true;
  byId("tools").hidden = view !== "tools";
  if (view === "tools") loadTools();
  else timeline.refresh();
}

function setPaused(value) {
  state.isPaused = value;
  timeline.isPaused = value;
  setPressed(byId("pause"), value);
  setConnection(value ? "paused" : "live");
  if (!value) changed(null);
}

function setConnection(name) {
  const shown = state.isPaused && name === "live" ? "paused" : name;
  byId("connection").dataset.state = shown;
  byId("connection").textContent = { live: "live", lost: "connection lost", paused: "paused" }[shown];
}

async function changed(sessions) {
  if (state.isPaused) return;
  loadSessions();
  if (state.scope !== null && sessions !== null && !sessions.has(state.scope)) return;
  if (state.view === "tools") loadTools();
  else {
    await timeline.refresh();
    const row = timeline.selected && timeline.rowAt(timeline.index);
    if (row && row.s === timeline.selected.s && row.r === timeline.selected.r) detail.update(row);
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
}

const saved = localStorage.getItem("theme");
if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
byId("theme").addEventListener("click", () => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark"
    || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  setTheme(isDark ? "light" : "dark");
});

show(byId("quick"), QUICK.map((verdict) => el("button", {
  "aria-pressed": false, data: { verdict },
  on: { click: () => {
    const words = byId("filter").value.split(/\s+/).filter(Boolean);
    const isOn = words.includes(`verdict:${verdict}`);
    const others = words.filter((word) => !word.startsWith("verdict:"));
    setFilter([...others, ...(isOn ? [] : [`verdict:${verdict}`])].join(" "));
  } },
}, outcomeLabel(verdict))));

let typing;
byId("filter").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(applyQuery, FILTER_PAUSE);
});
byId("fold").addEventListener("click", (event) => { setPressed(event.target, !isPressed(event.target)); applyQuery(); });
byId("follow").addEventListener("click", () => timeline.follow(!timeline.isFollowing));
byId("pause").addEventListener("click", () => setPaused(!state.isPaused));
byId("tab-timeline").addEventListener("click", () => setView("timeline"));
byId("tab-tools").addEventListener("click", () => setView("tools"));
byId("show-help").addEventListener("click", () => byId("help").showModal());
byId("show-sessions").addEventListener("click", () => {
  const isShown = byId("sessions").classList.toggle("shown");
  byId("show-sessions").setAttribute("aria-expanded", String(isShown));
});

const keys = {
  j: () => timeline.move(1, false),
  k: () => timeline.move(-1, false),
  ArrowDown: () => timeline.move(1, false),
  ArrowUp: () => timeline.move(-1, false),
  g: () => { timeline.follow(false); timeline.select(0, false); },
  G: () => timeline.select(timeline.total - 1, false),
  f: () => timeline.follow(!timeline.isFollowing),
  p: () => setPaused(!state.isPaused),
  t: () => setView(state.view === "tools" ? "timeline" : "tools"),
  "/": () => { setView("timeline"); byId("filter").focus(); byId("filter").select(); },
  "?": () => byId("help").showModal(),
  Enter: () => { if (timeline.selected) detail.open(timeline.selected); else timeline.move(1, true); },
};

function escape() {
  const active = document.activeElement;
  if (byId("sessions").classList.contains("shown")) setScope(state.scope);
  else if (active === byId("filter")) {
    if (active.value) setFilter("");
    active.blur();
  } else if (!byId("detail").hidden) (state.view === "tools" ? tools : detail).close();
  else if (byId("filter").value) setFilter("");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return escape();
  const target = event.target;
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  if (event.key === "Enter" && target === byId("filter")) { target.blur(); timeline.follow(false); return void timeline.select(0, false); }
  const onButton = event.key === "Enter" && /^(BUTTON|SUMMARY)$/.test(target.tagName);
  const scrolls = event.key.startsWith("Arrow") && target !== byId("timeline") && target !== document.body;
  if (isTyping || onButton || scrolls || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

follow(changed, setConnection);
await loadSessions();
applyQuery();
