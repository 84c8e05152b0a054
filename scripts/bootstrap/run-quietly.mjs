import { spawn } from "node:child_process";

/** Runs a program and captures its output; resolves with `{ code, output }`. */
export function runQuietly(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/** The end of a program's output, without control characters: it is shown on a terminal. */
export const lastLines = (text, count = 15) =>
  text
    .replaceAll(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, "")
    .trimEnd()
    .split("\n")
    .slice(-count)
    .join("\n");
