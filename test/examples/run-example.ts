/** Runs a program of `examples/` as a user does: a process of its own, with settings by environment. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const ROOT = join(import.meta.dirname, "../..");
const { PATH, HOME } = process.env;

export function startExample(file: string, args: string[], env: Record<string, string>) {
  return spawn(process.execPath, [join(ROOT, "examples", file), ...args], {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export interface ExampleRun {
  code: number | null;
  output: string;
  errors: string;
}

export async function runExample(
  file: string,
  args: string[],
  env: Record<string, string>,
): Promise<ExampleRun> {
  const child = startExample(file, args, env);
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    closed,
  ]);
  return { code, output, errors };
}
