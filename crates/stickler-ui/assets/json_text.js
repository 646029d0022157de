// Shows a JSON text with indentation, exactly as written: numbers keep their digits, repeated keys stay.
//
// A text that is not JSON is shown as it is. Places with findings are underlined, and the findings follow their line.

import { el } from "./dom.js";

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]|\s+/gy;
const MAX_LINES = 3000;
const MAX_STRING = 1200;

/** Splits a text into tokens; null if it is not JSON or is cut off. */
function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (!match) return null;
    if (match[0].trim()) found.push(match[0]);
  }
  return found;
}

const escaped = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

function unquoted(token) {
  try {
    return JSON.parse(token);
  } catch {
    return token.slice(1, -1);
  }
}

/** Turns tokens into lines: depth, parts with their kind, and the JSON Pointer of the line's value. */
export function lines(text) {
  const all = tokens(text);
  if (!all) return null;
  const result = [];
  const stack = [];
  let line = null;
  let pending = null;
  const begin = (pointer) => {
    line = { depth: stack.length, parts: [], pointer };
    result.push(line);
  };
  const pointer = () => {
    const top = stack.at(-1);
    if (!top) return "";
    return `${top.pointer}/${top.isArray ? top.index : escaped(pending ?? "")}`;
  };
  for (let at = 0; at < all.length; at += 1) {
    const token = all[at];
    const top = stack.at(-1);
    if (token === "}" || token === "]") {
      stack.pop();
      if (all[at - 1] === "{" || all[at - 1] === "[") line.parts.push(["mark", token]);
      else {
        begin(top?.pointer ?? "");
        line.isEnd = true;
        line.parts.push(["mark", token]);
      }
      pending = null;
    } else if (token === ",") {
      line?.parts.push(["mark", ","]);
      if (top?.isArray) top.index += 1;
      pending = null;
    } else if (token === ":") {
      line?.parts.push(["mark", ": "]);
    } else if (top && !top.isArray && pending === null && token[0] === '"' && all[at + 1] === ":") {
      pending = unquoted(token);
      begin(pointer());
      line.parts.push(["key", token]);
    } else {
      if (!line || !top || top.isArray) begin(pointer());
      if (token === "{" || token === "[") {
        stack.push({ pointer: line.pointer, isArray: token === "[", index: 0 });
        line.parts.push(["mark", token]);
        pending = null;
      } else {
        const kind = token[0] === '"' ? "string" : /^[-\d]/.test(token) ? "number" : "literal";
        line.parts.push([kind, token]);
      }
    }
  }
  return result;
}

/** The text with indentation, for differences and the editor; the text itself if it is not JSON. */
export function pretty(text) {
  const found = lines(text);
  if (!found) return text;
  return found.map((line) => "  ".repeat(line.depth) + line.parts.map(([, part]) => part).join("")).join("\n");
}

function part([kind, text], mark) {
  const wrong = mark && kind !== "mark" ? ` wrong ${mark}` : "";
  if (text.length <= MAX_STRING) return el("span", { class: kind + wrong }, text);
  const span = el("span", { class: kind + wrong }, text.slice(0, MAX_STRING));
  const more = el("button", { class: "more", on: { click: () => { span.textContent = text; more.remove(); } } }, `… ${(text.length - MAX_STRING).toLocaleString("en")} more characters`);
  return [span, more];
}

/** Where a finding is shown: its own line, or that of the nearest value around it. */
function placeOf(path, pointers) {
  for (let place = path; ; place = place.slice(0, place.lastIndexOf("/"))) {
    if (pointers.has(place)) return place;
    if (place === "" || !place.includes("/")) return "";
  }
}

/** Creates the view of a JSON text with findings `{path, message, severity}`. */
export function jsonView(text, findings = []) {
  const found = lines(text);
  if (!found) return el("div", { class: "json" }, el("div", { class: "json-line" }, text), findings.map((one) => note(one, 0)));
  const pointers = new Set(found.filter((line) => !line.isEnd).map((line) => line.pointer));
  const placed = new Map();
  for (const finding of findings) {
    const place = placeOf(finding.path, pointers);
    placed.set(place, [...(placed.get(place) ?? []), finding]);
  }
  const shown = [];
  for (const line of found.slice(0, MAX_LINES)) {
    const here = line.isEnd ? [] : placed.get(line.pointer) ?? [];
    const exact = here.filter((finding) => finding.path === line.pointer);
    const mark = exact.length ? severity(exact) : null;
    const element = el("div", { class: "json-line", data: { pointer: line.isEnd ? "" : line.pointer } }, line.parts.map((one) => part(one, mark)));
    element.style.setProperty("--depth", line.depth);
    shown.push(element, ...here.map((finding) => note(finding, line.depth)));
  }
  if (found.length > MAX_LINES) {
    const more = el("button", { class: "more" }, `… ${(found.length - MAX_LINES).toLocaleString("en")} more lines`);
    more.addEventListener("click", () => more.replaceWith(el("div", { class: "json-line" }, found.slice(MAX_LINES).map((line) => `${"  ".repeat(line.depth)}${line.parts.map(([, text]) => text).join("")}\n`).join(""))));
    shown.push(more);
  }
  return el("div", { class: "json", tabindex: "0" }, shown);
}

const severity = (findings) => (findings.some((finding) => finding.severity === "error") ? "error" : "warning");

function note(finding, depth) {
  const element = el("span", { class: `json-note ${finding.severity === "error" ? "" : "warning"}` }, finding.message);
  element.style.setProperty("--depth", depth);
  return element;
}
