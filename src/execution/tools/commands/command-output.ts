/** Reads a command's streams to their end at the pace of the consumer. */
import type { Readable } from "node:stream";
import type { CommandEnd, SandboxProcess } from "#execution/sandboxes/sandbox.ts";

/** After its end a command's pipes hold a little more at most; nobody may keep them open. */
const DRAIN_MS = 2000;

export interface OutputSink {
  stdout(chunk: Buffer): Promise<void> | void;
  stderr(chunk: Buffer): Promise<void> | void;
}

export async function readCommand(
  process: SandboxProcess,
  taker: OutputSink,
  stdin = "",
): Promise<CommandEnd> {
  // A command need not read its input; the pipe then breaks, which is expected.
  process.stdin.on("error", () => {}).end(stdin);
  const read = Promise.all([
    readAll(process.stdout, taker.stdout),
    readAll(process.stderr, taker.stderr),
  ]);
  const end = await process.ended;
  const timer = setTimeout(() => {
    process.stdout.destroy();
    process.stderr.destroy();
  }, DRAIN_MS);
  await read;
  clearTimeout(timer);
  return end;
}

async function readAll(stream: Readable, take: (chunk: Buffer) => Promise<void> | void) {
  try {
    for await (const chunk of stream) await take(chunk);
  } catch {
    // The stream was cut: the output so far is all there is.
  }
}
