/** The read tool: returns lines of a text file with their numbers, or an image to look at. */
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { readInput } from "#protocol/tools.ts";
import { binaryTypeOf, imageTypeOf, MAX_IMAGE_BYTES, SNIFF_BYTES } from "../file-type.ts";
import { createTool, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool, ToolOutcome } from "../tool.ts";
import { filesOf } from "./confined-files.ts";
import { type LineRange, readLines } from "./line-range.ts";

const DEFAULT_LIMIT = 2000;

export function createReadTool(): RunnerTool {
  return createTool("read", readInput, async (context, input) => {
    const opened = await filesOf(await context.workspace()).open(input.path);
    if (opened.kind === "folder") {
      await opened.folder.handle.close();
      const pattern = opened.shown === "." ? "*" : `${opened.shown}/*`;
      throw new ToolProblem(
        `${opened.shown} is a folder. List it with glob, such as ${pattern}, or with bash: ls.`,
      );
    }
    const { handle, stats, shown } = opened;
    try {
      const start = await readStart(handle, SNIFF_BYTES);
      const image = imageTypeOf(start);
      if (image !== null) return await showImage(handle, stats, image, shown);
      const binary = binaryTypeOf(start);
      if (binary !== null) {
        throw new ToolProblem(
          `${shown} is not text but ${binary} (${stats.size} bytes). Inspect it with bash.`,
        );
      }
      const { offset = 1, limit = DEFAULT_LIMIT } = input;
      return showLines(await readLines(handle, offset, limit, context.signal), offset, shown);
    } finally {
      await handle.close();
    }
  });
}

async function readStart(handle: FileHandle, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

async function showImage(
  handle: FileHandle,
  stats: Stats,
  mediaType: string,
  shown: string,
): Promise<ToolOutcome> {
  if (stats.size > MAX_IMAGE_BYTES) {
    throw new ToolProblem(
      `${shown} is an image of ${stats.size} bytes; the limit is ${MAX_IMAGE_BYTES}. Make a smaller copy of it first.`,
    );
  }
  // The file may have grown meanwhile: never reads more than was judged.
  const bytes = await readStart(handle, stats.size);
  return {
    output: `${shown}: ${mediaType}, ${bytes.length} bytes.`,
    error: null,
    images: [{ mediaType, data: bytes.toString("base64") }],
  };
}

function showLines({ lines, end, lineCount }: LineRange, offset: number, shown: string) {
  if (lineCount === 0) return done(`${shown} is empty.`);
  if (lineCount !== null && lines.length === 0) {
    throw new ToolProblem(`${shown} has only ${lineCount} lines, none from ${offset} on.`);
  }
  if (end === "too_far" && lines.length === 0) {
    throw new ToolProblem(`Line ${offset} is too far into ${shown}. Search for it with bash.`);
  }
  const numbered = lines.map((line, i) => `${String(offset + i).padStart(6)}\t${line}`);
  if (end === "file") return done(numbered.join("\n"));
  const next = offset + lines.length;
  return done(`${numbered.join("\n")}\n[… there are more lines: continue with offset ${next} …]`);
}

function done(output: string): ToolOutcome {
  return { output, error: null };
}
