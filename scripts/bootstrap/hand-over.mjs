// Runs the program in our place: same terminal, same process group, our exit code is its exit code.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { Stop } from "./progress.mjs";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];
const PARENT_CHECK_MS = 500;

export function handOver(node, { args, cwd }) {
  const child = spawn(node.file, args, { cwd, env: node.env, stdio: "inherit" });
  // Ctrl-C reaches the whole group, a plain `kill` only us: the program may see a signal twice.
  for (const signal of FORWARDED) process.on(signal, () => forward(child, signal));
  if (process.env.npm_lifecycle_event) endWithParent(child);
  return new Promise((_, reject) => {
    child.on("error", (error) => reject(new Stop(`Node could not be started: ${error.message}`)));
    child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  });
}

let forwarded = false;

function forward(child, signal) {
  forwarded = true;
  child.kill(signal);
}

/**
 * npm runs us through a shell that forwards no signal: a killed `npm start` shows as a lost parent.
 */
function endWithParent(child) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    if (!forwarded) forward(child, "SIGTERM");
  }, PARENT_CHECK_MS);
}
