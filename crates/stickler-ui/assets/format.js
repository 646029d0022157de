// Numbers, times and verdicts as text.

import { el } from "./dom.js";

const FIRST_ABSOLUTE_TIME = 1e9;

export const flags = { fromServer: 1, gateway: 2, redacted: 4, call: 8, notification: 16, retries: 32, checkedHere: 64 };

const labels = {
  pending: "pending",
  passed: "passed",
  noted: "noted",
  repaired: "repaired",
  rejected: "rejected",
  "would-reject": "would be rejected",
  "server-error": "server error",
  noise: "noise",
};

export const outcomeLabel = (outcome) => labels[outcome] || outcome;

const two = (number) => String(number).padStart(2, "0");

export function time(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < FIRST_ABSOLUTE_TIME) return `+${seconds.toFixed(3)} s`;
  const date = new Date(seconds * 1000);
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
}

export function day(seconds) {
  if (!seconds) return "";
  const date = new Date(seconds * 1000);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === new Date().toDateString()) return clock;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  if (milliseconds < 1) return `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${(milliseconds / 60000).toFixed(1)} min`;
}

export function span(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(bytes < 1e4 ? 1 : 0)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export function count(number) {
  if (number < 10000) return number.toLocaleString("en");
  if (number < 1e6) return `${(number / 1000).toFixed(number < 1e5 ? 1 : 0)}k`;
  return `${(number / 1e6).toFixed(1)}M`;
}

/** Creates the chip of an outcome; what passed is quiet. */
export function chip(row) {
  if (row.outcome === "passed" && row.flags & flags.notification) return el("span", { class: "quiet-chip" }, "sent");
  const rule = row.outcome === "passed" ? null : row.rule;
  return el("span", { class: "chip", data: { outcome: row.outcome } }, outcomeLabel(row.outcome), rule ? " " : null, rule ? el("code", {}, rule) : null);
}

/** Creates the chips of a row: one, or the thread of its attempts. */
export function chips(row) {
  const attempts = row.attempts && row.attempts.length > 1 ? row.attempts : [row];
  const shown = attempts.length > 4 ? [attempts[0], null, attempts.at(-1)] : attempts;
  return shown.flatMap((attempt, index) => [
    index > 0 ? el("span", { class: "then", "aria-hidden": "true" }, "→") : null,
    attempt === null ? el("span", { class: "quiet-chip" }, `${attempts.length - 2} more`) : chip(attempt),
  ]);
}
