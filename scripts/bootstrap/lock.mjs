// One bootstrap at a time per checkout. The lock is a folder, because making a folder is atomic.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inRoot } from "./paths.mjs";

const LOCK = inRoot(".cache/bootstrap.lock");
const LONGEST_WORK_MS = 20 * 60_000;
const NAMELESS_MS = 5_000;

export async function withLock(progress, work) {
  await acquire(progress);
  const release = () => rmSync(LOCK, { recursive: true, force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.removeListener("exit", release);
    release();
  }
}

async function acquire(progress) {
  mkdirSync(inRoot(".cache"), { recursive: true });
  let told = false;
  while (!tryAcquire()) {
    if (isStale()) {
      breakLock();
      continue;
    }
    if (!told) progress.say("Waiting for another muster process that is preparing this folder …");
    told = true;
    await sleep(200);
  }
}

function tryAcquire() {
  try {
    mkdirSync(LOCK);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  writeFileSync(join(LOCK, "pid"), String(process.pid));
  return true;
}

function isStale() {
  const ageMs = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  const pid = readPid(LOCK);
  if (pid === undefined) return ageMs > NAMELESS_MS;
  return !isAlive(pid) || ageMs > LONGEST_WORK_MS;
}

/** Moving the folder away first lets only one of several waiters break the same lock. */
function breakLock() {
  const aside = `${LOCK}.stale-${process.pid}`;
  try {
    renameSync(LOCK, aside);
  } catch {
    return;
  }
  rmSync(aside, { recursive: true, force: true });
}

function readPid(folder) {
  try {
    return Number(readFileSync(join(folder, "pid"), "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
