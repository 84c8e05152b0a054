// The process behind cleanup.ts: reads a list of things to clean up, line by line, and removes them
// when the input ends.
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";

const folders = new Set<string>();
const groups = new Set<number>();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

for await (const line of createInterface({ input: process.stdin })) {
  const [what, value = ""] = line.split(/ (.*)/);
  if (what === "folder") folders.add(value);
  if (what === "group") groups.add(Number(value));
  // Processes that the group's leader left running are still part of the group.
  if (what === "group-ended") killGroup(Number(value));
}

for (const pid of groups) killGroup(pid);
for (const folder of folders) {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

function killGroup(pid: number): void {
  groups.delete(pid);
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is empty.
  }
}
