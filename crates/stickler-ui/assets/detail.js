// One exchange in detail.

import { get } from "./api.js";
import { byId, el, show } from "./dom.js";
import { differenceView } from "./difference.js";
import { Editor } from "./editor.js";
import { chip, duration, flags, size, time } from "./format.js";
import { jsonView, pretty } from "./json_text.js";

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** The text blocks of a result, or the message of an error. */
function readable(text) {
  const message = parsed(text);
  const blocks = message?.result?.content;
  if (Array.isArray(blocks)) {
    const texts = blocks.filter((block) => typeof block?.text === "string").map((block) => block.text);
    if (texts.length) return texts.join("\n\n");
  }
  return typeof message?.error?.message === "string" ? message.error.message : null;
}

export class Detail {
  constructor({ onClose, onOpen, servers }) {
    this.element = byId("detail");
    this.onClose = onClose;
    this.onOpen = onOpen;
    this.servers = servers;
  }

  /** Loads and shows an exchange. */
  async open(row, isWhole = false) {
    this.row = row;
    const exchange = await get("exchange", { s: row.s, r: row.r, whole: isWhole ? 1 : null });
    if (this.row !== row) return;
    this.shown = { s: row.s, r: row.r, outcome: row.outcome, attempts: exchange.attempts.length };
    this.show(row, exchange);
  }

  /** Loads the exchange again if it changed: its response arrived, or a retry. */
  update(row) {
    const { shown } = this;
    const attempts = row.attempts?.length ?? 0;
    if (shown && shown.s === row.s && shown.r === row.r && (shown.outcome !== row.outcome || attempts > shown.attempts) && !this.isEdited) {
      return this.open(row);
    }
    return null;
  }

  get isEdited() {
    return this.element.contains(document.activeElement) && document.activeElement.tagName === "TEXTAREA";
  }

  close() {
    this.row = null;
    this.shown = null;
    this.element.hidden = true;
    show(this.element);
    this.onClose();
  }

  show(row, exchange) {
    const { request, response, verdict } = exchange;
    const findings = verdict?.findings ?? [];
    const later = exchange.response_verdict?.findings ?? [];
    this.element.hidden = false;
    this.element.scrollTop = 0;
    this.onOpen();
    show(this.element,
      this.head(row, exchange),
      findings.length + later.length ? this.findings([...findings, ...later], exchange.field_schemas) : null,
      el("div", { class: "sides" },
        this.side("Request", request, findings, row),
        response ? this.side("Response", response, later, row) : el("section", { class: "block" }, el("div", { class: "side-head" }, el("h3", {}, "Response")), el("p", { class: "muted" }, row.flags & flags.notification ? "A notification has none." : "None yet."))),
      request.sent ? this.block("Forwarded instead", differenceView(pretty(request.text), pretty(request.sent))) : null,
      this.corrected(exchange),
      verdict?.help ? this.folded("Help as the model saw it", el("pre", { class: "code" }, verdict.help)) : null,
      exchange.tool && !request.missing ? new Editor(exchange, this.servers, pretty(exchange.arguments)).element : null,
      exchange.definition ? this.folded("Schema of the tool", jsonView(exchange.definition.schema)) : null,
      this.folded("Raw bytes", [this.raw("Request", request), response ? this.raw("Response", response) : null]));
  }

  head(row, exchange) {
    const facts = [
      time(row.t),
      row.ms !== null ? duration(row.ms) : null,
      exchange.origin.server,
      row.flags & flags.fromServer ? "from the server" : "from the client",
      row.flags & flags.gateway ? "made by the gateway" : null,
      row.flags & flags.redacted ? "values were redacted" : null,
      row.flags & flags.checkedHere ? "checked here, not by a gateway" : null,
    ];
    const attempts = exchange.attempts.map((attempt, index) => [
      index > 0 ? el("span", { class: "then", "aria-hidden": "true" }, "→") : null,
      el("button", { "aria-pressed": attempt.r === row.r, "aria-label": `Attempt ${index + 1}`, on: { click: () => this.open(attempt) } }, chip(attempt)),
    ]);
    return el("header", { class: "detail-head" },
      el("div", { class: "detail-title" }, el("h2", {}, row.label || "message"), chip(row), el("button", { class: "icon-button", "aria-label": "Close", id: "close-detail", on: { click: () => this.close() } }, "✕")),
      el("p", { class: "detail-facts" }, facts.filter(Boolean).map((fact) => el("span", {}, fact))),
      attempts.length ? el("div", { class: "attempts", role: "group", "aria-label": "Attempts" }, attempts) : null);
  }

  findings(findings, schemas) {
    const one = (finding) => el("div", { class: "finding", data: { severity: finding.severity } },
      el("span", { class: "rule" }, finding.rule),
      el("p", {}, finding.message),
      finding.path ? el("span", { class: "path" }, finding.path) : null,
      schemas[finding.path] ? el("details", {}, el("summary", {}, "Schema of the field"), el("pre", { class: "code" }, schemas[finding.path])) : null);
    return el("section", { class: "block", id: "findings" }, el("h3", {}, findings.length === 1 ? "1 finding" : `${findings.length} findings`), findings.map(one));
  }

  side(title, message, findings, row) {
    if (message.missing) return this.block(title, el("p", { class: "muted" }, message.missing));
    const text = readable(message.text);
    const body = el("div", {}, jsonView(message.text, findings));
    const choose = (isText, buttons) => {
      show(body, isText ? el("pre", { class: "code" }, text) : jsonView(message.text, findings));
      buttons.forEach((button, index) => button.setAttribute("aria-pressed", String((index === 1) === isText)));
    };
    const buttons = ["JSON", "Text"].map((label, index) => el("button", { "aria-pressed": index === 0, on: { click: () => choose(index === 1, buttons) } }, label));
    const facts = [size(message.bytes), `~${message.tokens.toLocaleString("en")} tokens`, message.by_gateway ? "by the gateway" : null];
    return el("section", { class: "block", data: { side: title.toLowerCase() } },
      el("div", { class: "side-head" }, el("h3", {}, title), el("span", { class: "facts" }, facts.filter(Boolean).join(" · ")), text !== null ? el("div", { class: "segments" }, buttons) : null),
      body,
      message.cut ? el("button", { class: "button", on: { click: () => this.open(row, true) } }, `Load all ${size(message.bytes)}`) : null);
  }

  corrected({ verdict, request }) {
    if (!verdict?.corrected || request.missing) return null;
    const call = parsed(request.text)?.params ?? {};
    const before = pretty(JSON.stringify({ name: call.name, arguments: call.arguments }));
    const after = pretty(JSON.stringify({ name: verdict.corrected.name, arguments: verdict.corrected.arguments }));
    const edits = verdict.edits.map((edit) => el("li", {}, el("code", {}, `${edit.edit} ${edit.path ?? ""}`), edit.from !== undefined ? ` ${edit.from} → ${edit.to}` : null));
    return this.block("Corrected call", [differenceView(before, after), edits.length ? el("ul", { class: "edits" }, edits) : null]);
  }

  raw(title, message) {
    if (message.missing) return null;
    return [el("p", { class: "block-note" }, title), el("pre", { class: "code" }, message.hex ?? message.text)];
  }

  block(title, content) {
    return el("section", { class: "block" }, el("h3", {}, title), content);
  }

  folded(title, content) {
    return el("details", { class: "block" }, el("summary", {}, title), content);
  }
}
