// The timeline: a list of any length of which only the visible rows exist.
//
// Rows are requested in blocks. After a change the visible blocks are requested again; rows that are not on the screen
// are dropped.

import { coalesced, get } from "./api.js";
import { byId, el } from "./dom.js";
import { chips, count, duration, flags, size, time } from "./format.js";

const BLOCK = 100;
const MAX_HEIGHT = 12e6;
const MARGIN_ROWS = 6;

export class Timeline {
  constructor({ onSelect, onTotal }) {
    this.scroller = byId("timeline");
    this.spacer = byId("spacer");
    this.rows = byId("rows");
    this.onSelect = onSelect;
    this.onTotal = onTotal;
    this.query = { scope: null, filter: "", fold: 1 };
    this.blocks = new Map();
    this.total = 0;
    this.selected = null;
    this.index = -1;
    this.isFollowing = true;
    this.isPaused = false;
    this.end = null;
    this.refresh = coalesced(() => this.load(), 20);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.select(Number(row.dataset.index), true);
    });
    new ResizeObserver(() => this.scrolled()).observe(this.scroller);
  }

  /** Shows the rows of another query. */
  setQuery(query) {
    this.query = query;
    this.blocks.clear();
    this.index = -1;
    this.end = null;
    // A pause keeps new rows out, not another query.
    this.isNew = true;
    if (!this.isFollowing) this.scroller.scrollTop = 0;
    return this.refresh();
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
  }

  /** How many pixels of the list one pixel of the scroll bar stands for. */
  get scale() {
    const height = this.total * this.rowHeight;
    return height > MAX_HEIGHT ? (height - this.scroller.clientHeight) / (MAX_HEIGHT - this.scroller.clientHeight) : 1;
  }

  get visible() {
    const top = this.scroller.scrollTop * this.scale;
    const first = Math.max(0, Math.floor(top / this.rowHeight) - MARGIN_ROWS);
    const shown = Math.ceil(this.scroller.clientHeight / this.rowHeight) + 2 * MARGIN_ROWS;
    return { top, first, last: Math.min(this.total, first + shown) };
  }

  scrolled() {
    const { last } = this.visible;
    const { end, scroller } = this;
    // Moving away from the end stops following; a list or window of another size does not.
    if (this.isFollowing && end && end.height === scroller.clientHeight && end.total === this.total && scroller.scrollTop < end.top - 1) this.follow(false);
    const isLoaded = this.missing().length === 0;
    this.draw();
    if (!isLoaded && last > 0) this.refresh();
  }

  missing() {
    const { first, last } = this.visible;
    const blocks = [];
    for (let block = Math.floor(first / BLOCK); block * BLOCK < last; block += 1) {
      if (!this.blocks.has(block)) blocks.push(block);
    }
    return blocks;
  }

  /** Requests the rows on the screen, and those at the end if the list follows. */
  async load() {
    const query = this.query;
    const isStale = () => query !== this.query;
    const fetchBlock = async (block) => {
      const answer = await get("rows", { ...query, from: block * BLOCK, count: BLOCK });
      if (isStale()) return;
      if (!this.take(answer)) return;
      this.blocks.set(block, answer.rows);
    };
    if (this.isFollowing && !this.isPaused) {
      const probe = await get("rows", { ...query, count: BLOCK });
      if (isStale() || !this.take(probe)) return;
      this.spread(probe);
      this.resize();
      if (this.isFollowing) this.toEnd();
    }
    const { first, last } = this.visible;
    const from = Math.floor(first / BLOCK);
    const to = Math.max(from, Math.ceil(last / BLOCK) - 1);
    for (const block of this.blocks.keys()) if (block < from - 1 || block > to + 1) this.blocks.delete(block);
    for (let block = from; block <= to; block += 1) {
      if (!this.isFollowing || !this.isComplete(block)) await fetchBlock(block);
      if (isStale()) return;
    }
    this.resize();
    this.draw();
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.end = { top: this.scroller.scrollTop, height: this.scroller.clientHeight, total: this.total };
  }

  isComplete(block) {
    const wanted = Math.min(BLOCK, this.total - block * BLOCK);
    return (this.blocks.get(block)?.filter(Boolean).length ?? 0) >= wanted;
  }

  /** Puts the rows of an answer into their blocks. */
  spread({ from, rows }) {
    rows.forEach((row, offset) => {
      const block = Math.floor((from + offset) / BLOCK);
      if (!this.blocks.has(block)) this.blocks.set(block, []);
      this.blocks.get(block)[(from + offset) % BLOCK] = row;
    });
  }

  take(answer) {
    this.onTotal(answer.problem ? 0 : answer.total, answer.problem || null);
    if (answer.problem) return false;
    this.total = this.isPaused && !this.isNew ? Math.min(this.total, answer.total) : answer.total;
    this.isNew = false;
    return true;
  }

  resize() {
    const height = Math.min(this.total * this.rowHeight, MAX_HEIGHT);
    this.spacer.style.height = `${height}px`;
  }

  rowAt(index) {
    return this.blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];
  }

  draw() {
    const { top, first, last } = this.visible;
    const shift = this.scroller.scrollTop - top;
    const drawn = [];
    for (let index = first; index < last; index += 1) {
      const row = this.rowAt(index);
      if (row) drawn.push(this.element(row, index, index * this.rowHeight + shift));
    }
    this.rows.replaceChildren(...drawn);
  }

  element(row, index, top) {
    const isCall = row.flags & flags.call;
    const isSelected = this.selected !== null && this.selected.s === row.s && this.selected.r === row.r;
    const kind = [row.flags & flags.gateway ? "of-gateway" : "", row.flags & flags.notification ? "notification" : "", isCall ? "call" : "method"];
    const where = this.query.scope === null ? row.server : row.flags & flags.gateway ? "gateway" : "";
    const name = row.label || (row.outcome === "noise" ? "not a message" : "response");
    const element = el("div", { class: `row ${kind.join(" ")}`, role: "option", id: `row-${index}`, "aria-selected": isSelected, data: { index } },
      el("span", { class: "row-time" }, time(row.t)),
      el("span", { class: "row-direction", title: row.flags & flags.fromServer ? "from the server" : "from the client" }, row.flags & flags.fromServer ? "←" : "→"),
      el("span", { class: "row-name" }, isCall ? el("b", {}, name) : name, where ? el("span", { class: "where" }, where) : null),
      el("span", { class: "chips" }, chips(row)),
      el("span", { class: "number" }, duration(row.ms)),
      el("span", { class: "number" }, size(row.bytes)),
      el("span", { class: "number" }, count(row.tokens)));
    element.style.top = `${top}px`;
    if (isSelected) this.scroller.setAttribute("aria-activedescendant", element.id);
    return element;
  }

  /** Selects a row by its index; opens it if asked. */
  async select(index, opens) {
    if (this.total === 0) return;
    this.index = Math.max(0, Math.min(index, this.total - 1));
    this.reveal(this.index);
    if (!this.rowAt(this.index)) await this.load();
    const row = this.rowAt(this.index);
    if (!row) return;
    this.selected = row;
    this.draw();
    this.onSelect(row, opens);
  }

  move(step, opens) {
    if (step < 0 || this.index >= 0) this.follow(false);
    const start = this.index < 0 ? Math.floor((this.scroller.scrollTop * this.scale) / this.rowHeight) - Math.sign(step) : this.index;
    return this.select(start + step, opens);
  }

  reveal(index) {
    const height = this.rowHeight;
    const { top } = this.visible;
    const view = this.scroller.clientHeight;
    if (index * height < top) this.scroller.scrollTop = (index * height) / this.scale;
    if ((index + 1) * height > top + view) this.scroller.scrollTop = ((index + 1) * height - view) / this.scale;
  }

  follow(value) {
    this.isFollowing = value;
    byId("follow").setAttribute("aria-pressed", String(value));
    if (value) this.refresh();
  }
}
