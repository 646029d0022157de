// Calls and rejections over time.

import { el, show, svg } from "./dom.js";
import { count, day, duration, span } from "./format.js";

const BINS = 120;
const MINI_BINS = 48;
const DAY = 86400;

/** Draws bars of calls with the rejected part on top of them. */
export function bars(buckets, attributes = {}) {
  const top = Math.max(1, ...buckets.map(([calls]) => calls));
  const width = Math.max(buckets.length, 1);
  const shapes = buckets.flatMap(([calls, rejected], index) => {
    const height = (calls / top) * 100;
    const bad = Math.min(height, Math.max((rejected / top) * 100, rejected ? 6 : 0));
    const at = { x: index + 0.1, width: 0.8 };
    return [
      calls ? svg("rect", { class: "bar-calls", ...at, y: 100 - height, height: Math.max(height, 3) }) : null,
      rejected ? svg("rect", { class: "bar-rejected", ...at, y: 100 - bad, height: bad }) : null,
    ];
  });
  return svg("svg", { viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", ...attributes }, shapes);
}

/** Draws the buckets of one session with few, wide bars. */
export function miniBars(buckets) {
  const width = Math.max(1, Math.ceil(buckets.length / MINI_BINS));
  const bins = [];
  buckets.forEach(([calls, rejected], index) => {
    const bin = (bins[Math.floor(index / width)] ??= [0, 0]);
    bin[0] += calls;
    bin[1] += rejected;
  });
  return bars(bins, { "aria-hidden": "true" });
}

/** Combines the buckets of sessions that have a time of day. */
export function combined(sessions) {
  const dated = sessions.filter((session) => session.started && session.strip.buckets.length);
  if (dated.length === 0) return null;
  const end = Math.max(...dated.map((one) => one.started + one.strip.buckets.length * one.strip.width));
  const start = Math.max(end - DAY, Math.min(...dated.map((one) => one.started)));
  const width = Math.max((end - start) / BINS, 1);
  const bins = Array.from({ length: Math.ceil((end - start) / width) || 1 }, () => [0, 0]);
  for (const { started, strip } of dated) {
    strip.buckets.forEach(([calls, rejected], index) => {
      const bin = bins[Math.min(bins.length - 1, Math.floor((started + (index + 0.5) * strip.width - start) / width))];
      if (bin && started + index * strip.width >= start - strip.width) {
        bin[0] += calls;
        bin[1] += rejected;
      }
    });
  }
  return { start, end, bins, width };
}

const figure = (kind, number, label) => el("div", { class: `figure ${number ? kind : ""}` }, el("b", {}, number), el("span", {}, label));

/** Shows the figures and the plot of the sessions in view. */
export function showStrip(element, sessions, isOne) {
  const sum = (name) => sessions.reduce((total, session) => total + session[name], 0);
  const one = isOne ? sessions[0] : null;
  const figures = [
    one ? figure("", count(one.messages), "messages") : figure("", count(sessions.length), sessions.length === 1 ? "session" : "sessions"),
    figure("", count(sum("calls")), "calls"),
    figure("rejected", count(sum("rejected")), "rejected"),
    sum("would_reject") ? figure("would", count(sum("would_reject")), "would be rejected") : null,
    figure("repaired", count(sum("repaired")), "repaired"),
    figure("error", count(sum("errors")), "server errors"),
    one && one.p50 !== null ? figure("", `${duration(one.p50)} / ${duration(one.p95)}`, "p50 / p95") : null,
  ];
  for (const shown of figures.filter(Boolean)) {
    if (shown.firstChild.textContent === "0") shown.className = "figure";
  }
  let plot = null;
  if (one && !one.started) {
    plot = el("div", { class: "strip-plot" }, bars(one.strip.buckets, { role: "img", "aria-label": "Calls over time" }), el("p", {}, el("span", {}, "start"), el("span", {}, one.seconds ? span(one.seconds) : "")));
  } else {
    const all = combined(sessions);
    const perMinute = all ? Math.max(...all.bins.map(([calls]) => (calls * 60) / all.width)) : 0;
    plot = all
      ? el("div", { class: "strip-plot", title: `At most ${count(Math.round(perMinute))} calls per minute` },
          bars(all.bins, { role: "img", "aria-label": `Calls over ${span(all.end - all.start)}, with rejections` }),
          el("p", {}, el("span", {}, day(all.start)), el("span", {}, `peak ${count(Math.round(perMinute))} calls/min`), el("span", {}, day(all.end))))
      : null;
  }
  show(element, figures, plot);
}
