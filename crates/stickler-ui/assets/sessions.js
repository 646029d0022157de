// The list of sessions.

import { byId, el, show } from "./dom.js";
import { count, day, duration } from "./format.js";
import { miniBars } from "./strip.js";

const MAX_SHOWN = 300;

function peer(session) {
  const client = session.client ? `${session.client.name} ${session.client.version}`.trim() : "unknown client";
  return [client, session.revision].filter(Boolean).join(" · ");
}

const fact = (kind, number, label) => (number ? el("span", { class: kind }, el("b", {}, count(number)), ` ${label}`) : null);

function item(session, isSelected, onSelect) {
  const status = { live: "live", ended: "ended", idle: "no end recorded" }[session.status];
  return el("button", { class: "session", "aria-pressed": isSelected, data: { session: session.id }, on: { click: () => onSelect(session.id) } },
    el("span", { class: "session-line" },
      el("span", { class: "status", title: status, data: { status: session.status } }),
      el("span", { class: "session-name" }, session.server),
      el("span", { class: "session-when" }, session.status === "live" ? "live" : day(session.started))),
    el("span", { class: "session-line" }, el("span", { class: "session-peer", title: session.file }, peer(session))),
    el("span", { class: "session-counts" },
      fact("", session.messages, session.messages === 1 ? "message" : "messages"),
      fact("rejected", session.rejected, "rejected"),
      fact("would", session.would_reject, "would be"),
      fact("repaired", session.repaired, "repaired"),
      fact("error", session.errors, session.errors === 1 ? "error" : "errors"),
      session.p50 !== null && session.calls ? el("span", { title: "median and 95th percentile" }, `${duration(session.p50)} / ${duration(session.p95)}`) : null),
    session.progress !== null ? el("progress", { max: 1, value: session.progress, "aria-label": "Indexed" }) : null,
    session.strip.buckets.length > 1 ? miniBars(session.strip.buckets) : null);
}

/** Shows the sessions, with one entry for all of them. */
export function showSessions(list, scope, onSelect) {
  const sessions = list.sessions;
  const all = el("button", { class: "session", "aria-pressed": scope === null, data: { session: "all" }, on: { click: () => onSelect(null) } },
    el("span", { class: "session-line" },
      el("span", { class: "session-name" }, "All sessions"),
      el("span", { class: "session-when" }, count(list.total))));
  const hidden = list.total - Math.min(sessions.length, MAX_SHOWN);
  const focused = document.activeElement?.dataset?.session;
  show(byId("sessions"), all, sessions.slice(0, MAX_SHOWN).map((one) => item(one, one.id === scope, onSelect)),
    hidden > 0 ? el("p", { class: "sessions-note" }, `${count(hidden)} older sessions are in “All sessions”.`) : null,
    list.complete ? null : el("p", { class: "sessions-note" }, "Indexing…"));
  if (focused !== undefined) byId("sessions").querySelector(`[data-session="${CSS.escape(focused)}"]`)?.focus();
}
