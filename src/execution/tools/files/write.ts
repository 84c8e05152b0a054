/** The write tool: writes a whole file of the workspace. */
import { writeInput } from "#protocol/tools.ts";
import { createTool } from "../perform-tool.ts";
import type { RunnerTool } from "../tool.ts";
import { filesOf } from "./confined-files.ts";

export function createWriteTool(): RunnerTool {
  return createTool("write", writeInput, async (context, { path, content }) => {
    const files = filesOf(await context.workspace());
    const { created } = await files.replace(path, content);
    const shown = files.show(files.locate(path));
    const bytes = Buffer.byteLength(content);
    return { output: `${created ? "Created" : "Replaced"} ${shown}, ${bytes} bytes.`, error: null };
  });
}
