// Editing a call: validated by the server of the page while it is typed, copied, or sent again.

import { post } from "./api.js";
import { byId, el, show } from "./dom.js";
import { chip } from "./format.js";
import { pretty } from "./json_text.js";

const TYPING_PAUSE = 120;

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The arguments on one line, as written. */
function compact(text) {
  return pretty(text).split("\n").map((line) => line.trim().replace(/^("(?:[^"\\]|\\.)*"): /, "$1:")).join("");
}

export function asCommand(tool, text, origin) {
  const command = ["stickler", "call", quoted(tool), "--args", quoted(compact(text))];
  if (origin.url) command.push("--url", quoted(origin.url));
  else if (origin.command) command.push("--", ...origin.command.map(quoted));
  else command.push("--", "SERVER-COMMAND");
  return command.join(" ");
}

export const asJson = (tool, text) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(tool)},"arguments":${compact(text)}}}`;

export const asRegressionLine = (tool, text) => `{"name":${JSON.stringify(tool)},"arguments":${compact(text)}}`;

export class Editor {
  constructor(exchange, servers, argumentsText) {
    this.exchange = exchange;
    this.tool = exchange.tool;
    this.text = el("textarea", { spellcheck: "false", autocomplete: "off", "aria-label": "Arguments", id: "arguments" });
    this.text.value = argumentsText;
    this.text.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.validate(), TYPING_PAUSE);
    });
    this.verdict = el("div", { class: "verdict-line", role: "status" });
    this.problems = el("div", { class: "problems" });
    this.toast = el("span", { class: "toast", role: "status" });
    this.sent = el("div", { class: "sent" });
    this.element = el("section", { class: "block editor" }, el("h3", {}, "Edit and try"), this.text, this.verdict, this.problems, this.copyButtons(), this.sendButtons(servers), this.sent);
    this.validate();
  }

  copyButtons() {
    const copies = [["call", "stickler call", asCommand], ["json", "JSON", asJson], ["validate", "validate line", asRegressionLine]];
    const button = ([name, label, text]) => el("button", { class: "button", data: { copy: name }, on: { click: () => this.copy(text(this.tool, this.text.value, this.exchange.origin)) } }, label);
    return el("div", { class: "buttons" }, el("span", { class: "muted" }, "Copy as"), copies.map(button), this.toast);
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.toast.textContent = "copied";
    } catch {
      this.toast.textContent = "The browser does not allow copying.";
    }
    setTimeout(() => { this.toast.textContent = ""; }, 2000);
  }

  sendButtons(servers) {
    if (servers.length === 0) return el("p", { class: "block-note" }, "To send calls from here, name the servers: stickler ui --config FILE");
    const select = el("select", { "aria-label": "Server" }, servers.map((name) => el("option", { value: name, selected: name === this.exchange.origin.server }, name)));
    return el("div", { class: "buttons" }, select, el("button", { class: "button", id: "send", on: { click: () => this.confirm(select.value) } }, "Send…"));
  }

  confirm(server) {
    const dialog = byId("confirm");
    byId("confirm-text").textContent = `The tool “${this.tool}” of the configured server “${server}” will really run with these arguments:`;
    byId("confirm-call").textContent = this.text.value;
    byId("confirm-no").onclick = () => dialog.close();
    byId("confirm-yes").onclick = () => {
      dialog.close();
      this.send(server);
    };
    dialog.showModal();
  }

  async send(server) {
    show(this.sent, el("p", { class: "muted" }, "Sending…"));
    try {
      const answer = await post("send", { server, tool: this.tool, arguments: this.text.value, confirmed: true });
      const text = answer.failed ?? pretty(JSON.stringify(answer.result));
      show(this.sent, chip({ outcome: answer.failed ? "server-error" : "passed", flags: 0 }), el("pre", { class: "code" }, text));
    } catch (error) {
      show(this.sent, el("p", { class: "problem" }, error.message));
    }
  }

  async validate() {
    this.controller?.abort();
    this.controller = new AbortController();
    try {
      const call = { session: this.exchange.s, tool: this.tool, arguments: this.text.value };
      this.showResult(await post("validate", call, this.controller.signal));
    } catch (error) {
      if (error.name !== "AbortError") show(this.verdict, error.message);
    }
  }

  showResult(result) {
    if (!result.known) {
      this.text.removeAttribute("aria-invalid");
      show(this.verdict, el("span", { class: "muted" }, result.message));
      show(this.problems);
      return;
    }
    this.text.setAttribute("aria-invalid", String(!result.valid));
    const count = result.errors.length;
    show(this.verdict, chip({ outcome: result.valid ? "passed" : "rejected", flags: 0 }),
      result.valid ? result.unchecked ?? "The arguments satisfy the schema." : `${count} ${count === 1 ? "problem" : "problems"}`,
      result.corrected ? el("button", { class: "button", id: "use-corrected", on: { click: () => this.use(result.corrected) } }, "Use the corrected call") : null);
    show(this.problems, result.valid ? [] : result.errors.map((error) => this.problem(error)));
  }

  problem(error) {
    const suggestions = (error.suggestions ?? []).filter(() => error.kind === "unknown_field" || error.kind === "unknown_tool");
    return el("div", { class: "finding", data: { severity: "error" } },
      el("span", { class: "rule" }, error.kind.replaceAll("_", " ")),
      el("p", {}, error.message),
      suggestions.length ? el("span", { class: "suggestions" }, "Did you mean", suggestions.map((name) => el("button", { data: { suggestion: name }, on: { click: () => this.rename(error, name) } }, name))) : null,
      error.path ? el("span", { class: "path" }, error.path) : null);
  }

  /** Renames the last name of the path in the text. */
  rename(error, name) {
    if (error.kind === "unknown_tool") {
      this.tool = name;
    } else {
      const field = error.path.slice(error.path.lastIndexOf("/") + 1).replaceAll("~1", "/").replaceAll("~0", "~");
      this.text.value = this.text.value.replace(`${JSON.stringify(field)}`, JSON.stringify(name));
    }
    this.validate();
  }

  use({ name, arguments: text }) {
    this.tool = name;
    this.text.value = pretty(text);
    this.validate();
  }
}
