// The difference between two texts, line by line.

import { el } from "./dom.js";

const MAX_LINES = 600;

/** Returns lines as `[kind, text]` with the kinds same, removed and added; null if the texts are too long. */
export function difference(before, after) {
  const [old, young] = [before.split("\n"), after.split("\n")];
  if (old.length > MAX_LINES || young.length > MAX_LINES) return null;
  // Length of the longest common subsequence from each pair of lines on.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(young.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = young.length - 1; j >= 0; j -= 1) {
      common[i][j] = old[i] === young[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const result = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      result.push(["same", old[i]]);
      i += 1;
      j += 1;
    } else if (j >= young.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) {
      result.push(["removed", old[i]]);
      i += 1;
    } else {
      result.push(["added", young[j]]);
      j += 1;
    }
  }
  return result;
}

export function differenceView(before, after) {
  const lines = difference(before, after) ?? [["same", after]];
  return el("div", { class: "difference" }, lines.map(([kind, text]) => el("div", { class: kind }, text)));
}
