// The tools: how often they are called, and how it goes.

import { get } from "./api.js";
import { byId, el, show, svg } from "./dom.js";
import { count, duration } from "./format.js";
import { jsonView } from "./json_text.js";

const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(part && part / whole < 0.1 ? 1 : 0)} %` : "");

function spark(buckets) {
  const top = Math.max(1, ...buckets.map(([, number]) => number));
  const bars = buckets.map(([, number], index) => svg("rect", { class: "bar-calls", x: index + 0.1, width: 0.8, y: 20 - (19 * number) / top, height: (19 * number) / top }));
  return svg("svg", { class: "spark", viewBox: `0 0 ${Math.max(buckets.length, 6)} 20`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars);
}

/** The distribution of durations, with a label at every second doubling. */
function plot(buckets) {
  const [width, height, bottom] = [600, 120, 18];
  const step = width / Math.max(buckets.length, 8);
  const top = Math.max(1, ...buckets.map(([, number]) => number));
  const shapes = buckets.flatMap(([from, number], index) => {
    const size = ((height - bottom - 6) * number) / top;
    const bar = svg("rect", { x: index * step + 1, width: Math.max(step - 2, 1), y: height - bottom - size, height: size }, svg("title", {}, `from ${duration(from)}: ${number}`));
    const label = index % Math.ceil(64 / step) === 0 ? svg("text", { class: "axis", x: index * step + 1, y: height - 4 }, duration(from)) : null;
    return [bar, label];
  });
  return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Distribution of durations" }, svg("line", { x1: 0, x2: width, y1: height - bottom, y2: height - bottom }), shapes);
}

export class Tools {
  constructor({ onOpen, onClose, onShowCalls }) {
    this.element = byId("tools");
    Object.assign(this, { onOpen, onClose, onShowCalls });
    this.selected = null;
  }

  async load(scope) {
    const { tools } = await get("tools", { scope });
    this.tools = tools;
    this.draw();
  }

  draw() {
    const head = [["Tool", ""], ["Calls", ""], ["Failed", ""], ["Repaired", "wide"], ["Errors", "wide"], ["p50", ""], ["p95", "wide"], ["Latency", "wide"], ["Tokens per result", "wide"]];
    const row = (tool) => {
      const failed = tool.rejected + tool.errors;
      const isSelected = this.selected?.tool === tool.tool && this.selected?.server === tool.server;
      return el("tr", { "aria-selected": isSelected, data: { tool: tool.tool } },
        el("td", {}, el("button", { class: "name", on: { click: () => this.open(tool) } }, tool.tool || "(no name)"), " ", el("span", { class: "where" }, tool.server, tool.listed === false ? " · not listed" : "")),
        el("td", {}, tool.calls ? count(tool.calls) : "–"),
        el("td", { class: failed ? "bad" : "" }, percent(failed, tool.calls)),
        el("td", { class: "wide" }, tool.repaired || ""),
        el("td", { class: "wide" }, tool.errors || ""),
        el("td", {}, duration(tool.p50)),
        el("td", { class: "wide" }, duration(tool.p95)),
        el("td", { class: "wide" }, tool.latency.length ? spark(tool.latency) : ""),
        el("td", { class: "wide" }, tool.result_tokens !== null ? count(tool.result_tokens) : ""));
    };
    if (this.tools.length === 0) {
      show(this.element, el("div", { class: "empty" }, el("p", {}, "No tool was listed or called.")));
      return;
    }
    show(this.element, el("table", {}, el("thead", {}, el("tr", {}, head.map(([label, kind]) => el("th", { class: kind, scope: "col" }, label)))), el("tbody", {}, this.tools.map(row))));
  }

  async open(tool) {
    this.selected = tool;
    this.draw();
    const definition = await get("tool", { scope: tool.session, tool: tool.tool });
    if (this.selected !== tool) return;
    const detail = byId("detail");
    const figure = (value, label) => el("div", { class: "figure" }, el("b", {}, value), el("span", {}, label));
    const mistakes = tool.mistakes.map((one) => el("div", { class: "mistake" }, el("b", {}, count(one.count)), el("code", {}, one.rule), el("span", {}, one.message)));
    detail.hidden = false;
    detail.scrollTop = 0;
    this.onOpen();
    show(detail,
      el("header", { class: "detail-head" },
        el("div", { class: "detail-title" }, el("h2", {}, tool.tool), el("button", { class: "icon-button", "aria-label": "Close", on: { click: () => this.close() } }, "✕")),
        el("p", { class: "detail-facts" }, el("span", {}, tool.server), definition ? el("span", {}, definition.description) : null)),
      el("section", { class: "block" }, el("div", { class: "figures" },
        figure(count(tool.calls), "calls"), figure(percent(tool.rejected + tool.errors, tool.calls) || "–", "failed"),
        tool.p50 !== null ? figure(`${duration(tool.p50)} / ${duration(tool.p95)}`, "p50 / p95") : null,
        definition ? figure(`~${count(definition.tokens)}`, "tokens of the definition") : null,
        tool.result_tokens !== null ? figure(`~${count(tool.result_tokens)}`, "tokens per result") : null)),
      mistakes.length ? el("section", { class: "block", id: "mistakes" }, el("h3", {}, "Commonest mistakes"), el("div", {}, mistakes)) : null,
      tool.latency.length ? el("section", { class: "block" }, el("h3", {}, "Latency"), plot(tool.latency)) : null,
      el("section", { class: "block" }, el("button", { class: "button", on: { click: () => this.onShowCalls(tool.tool) } }, "Show its calls")),
      definition?.example ? el("section", { class: "block" }, el("h3", {}, "Valid example"), jsonView(definition.example)) : null,
      definition ? el("section", { class: "block" }, el("h3", {}, "Schema"), jsonView(definition.schema)) : el("section", { class: "block" }, el("p", { class: "muted" }, "The recording has no definition of this tool.")));
  }

  close() {
    this.selected = null;
    byId("detail").hidden = true;
    show(byId("detail"));
    this.onClose();
    if (this.tools) this.draw();
  }
}
