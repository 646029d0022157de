import type { Settings } from "./index.js";

/** Settings of `repairToolCall`. The default mode is `assist`. */
export interface RepairSettings extends Settings {
  /**
   * Which corrections are made: `unambiguous` (default) only those beyond doubt, such as `"5"` for `5` or `filePath` for
   * `file_path`; `all` every correction that satisfies the schema, including renames by meaning. A call that is not
   * corrected fails, and the model receives the help as its result.
   */
  apply?: "unambiguous" | "all";
}

/**
 * A function for the option `repairToolCall` of `generateText` and `streamText` (`experimental_repairToolCall` before
 * version 7).
 *
 * ```ts
 * const result = await generateText({ model, tools, repairToolCall: repairToolCall() });
 * ```
 */
export function repairToolCall(settings?: RepairSettings): (options: any) => Promise<any>;
