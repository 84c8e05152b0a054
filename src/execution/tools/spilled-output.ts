/** Where output that is too long to show is kept: a file in the scratch folder, readable by the agent. */
import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import { filesOf } from "./confined-files.ts";
import { type BufferedOutput, OutputBuffer, type Spill } from "./output-buffer.ts";
import { errnoOf } from "./perform-tool.ts";
import type { ToolContext, ToolOutcome } from "./tool.ts";

const FOLDER = "muster-output";

export function createSpill(workspace: Workspace, callId: string): () => Promise<Spill> {
  const files = filesOf(workspace);
  const name = callId.replaceAll(/[^\w-]/g, "_").slice(0, 100) || "output";
  const pathOf = (file: string) => posix.join(workspace.scratchPath, FOLDER, `${file}.txt`);
  return async () => {
    try {
      return { file: await files.create(pathOf(name)), path: pathOf(name) };
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    // A model may use an id twice.
    const path = pathOf(`${name}-${randomBytes(6).toString("hex")}`);
    return { file: await files.create(path), path };
  };
}

/** Makes an outcome of text of any length. A workspace is asked for only if the text is too long. */
export async function boundText(context: ToolContext, text: string): Promise<ToolOutcome> {
  const buffer = new OutputBuffer({
    openSpill: async () => await createSpill(await context.workspace(), context.callId)(),
  });
  await buffer.write(Buffer.from(text));
  return toOutcome(await buffer.finish());
}

export function toOutcome({ text, spilled }: BufferedOutput): ToolOutcome {
  return { output: text, error: null, ...(spilled ? { spilled } : {}) };
}
