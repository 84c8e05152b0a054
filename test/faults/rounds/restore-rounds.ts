/**
 * Backup and restore while native agents work in their workspaces. A backup is taken under load,
 * everything is killed, the copy is restored, and every session must continue with its files.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Prompt } from "#protocol/sessions.ts";
import { Api, NoAnswer } from "../clients/api.ts";
import { findPrompt } from "../clients/observe.ts";
import { ModelLine } from "../program/model-line.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import type { FaultRound, Report, RoundContext } from "../round.ts";
import { needSandbox } from "./native-rounds.ts";

const CYCLES_PER_RESTORE = 3;
const SESSIONS = 3;
const SETTLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;
const FILE = "work.txt";

interface Sent {
  id: string;
  sessionId: string;
  token: string;
}

interface Scene {
  stage: Stage;
  random: Random;
  /** The runner is a separate process with its own token. */
  isRemote: boolean;
  sessions: string[];
  restores: number;
  violations: string[];
}

export const restoreRounds: FaultRound[] = [
  { name: "restore", play: (context) => play(context, false) },
  { name: "restore-remote", play: (context) => play(context, true) },
];

async function play(context: RoundContext, isRemote: boolean): Promise<Report> {
  const { cleanup, program, cycles, random } = context;
  await needSandbox();
  const line = await ModelLine.open();
  const stage = await Stage.create({ cleanup, program, env: line.env });
  const violations: string[] = [];
  const scene: Scene = { stage, random, isRemote, sessions: [], restores: 0, violations };
  const sums = { acknowledged: 0, running: 0, killedRestores: 0, emptied: 0 };
  try {
    await begin(scene);
    scene.sessions = await makeSessions(scene);
    const wanted = Math.ceil(cycles / CYCLES_PER_RESTORE);
    while (scene.restores < wanted && violations.length === 0) {
      const { acknowledged, running } = await restoreUnderLoad(scene, sums);
      sums.acknowledged += acknowledged;
      sums.running += running;
    }
    if (violations.length > 0) violations.push(stage.logTail());
  } finally {
    await stage.killAll();
    await line.close();
  }
  const { acknowledged, running, killedRestores, emptied } = sums;
  const summary = `${scene.restores} restores (${emptied} into a data folder that had lost its database and keys, ${killedRestores} of them killed once): ${acknowledged} prompts acknowledged before the backups, ${running} of them unsettled then, ${violations.length} violations`;
  return { violations, summary };
}

async function begin({ stage, isRemote }: Scene): Promise<void> {
  if (!isRemote) return stage.startBoth();
  await stage.startServer();
  await stage.startRunner();
}

function apiOf({ stage }: Scene): Api {
  return new Api({ url: stage.url, key: stage.key });
}

/** Each session has a repository with a commit and an uncommitted change. */
async function makeSessions(scene: Scene): Promise<string[]> {
  const api = apiOf(scene);
  const ids: string[] = [];
  for (let n = 0; n < SESSIONS; n++) {
    const { session } = await api.patient.sessions.create({
      body: { title: `restore ${n}`, runtime: "native" },
    });
    const { id } = session;
    const setUp = `git init -q . && echo first > ${FILE} && git add . && git -c user.name=a -c user.email=a@b commit -qm one && echo uncommitted-${n} >> ${FILE}`;
    const sent = await send(api, id, setUp, "set-up");
    await settled(scene, [sent]);
    ids.push(id);
  }
  return ids;
}

async function send(api: Api, sessionId: string, command: string, token: string): Promise<Sent> {
  const content = `${token}\nCALL bash ${JSON.stringify({ command })}\nSAY ${token} is over`;
  const { prompt } = await api.patient.prompts.create({
    id: sessionId,
    body: { content, dispatchId: `${token}-${randomUUID()}` },
  });
  return { id: prompt.id, sessionId, token };
}

/** Sends prompts until it is told to end; acknowledged ones are in `sent`. */
function startLoad(scene: Scene): { sent: Sent[]; end(): Promise<void> } {
  const sent: Sent[] = [];
  const api = apiOf(scene);
  const random = scene.random.fork();
  let isOver = false;
  const clients = scene.sessions.map(async (sessionId, n) => {
    for (let count = 0; !isOver; count++) {
      const token = `t${scene.restores}-${n}-${count}`;
      const pause = random.between(0, 300) / 1000;
      const command = `echo ${token} >> ${FILE}; sleep ${pause}`;
      try {
        sent.push(await send(api, sessionId, command, token));
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
      }
      await sleep(random.between(150, 500));
    }
  });
  return {
    sent,
    async end() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

async function restoreUnderLoad(
  scene: Scene,
  sums: { killedRestores: number; emptied: number },
): Promise<{ acknowledged: number; running: number }> {
  const { stage, random } = scene;
  const load = startLoad(scene);
  await sleep(random.between(300, 1_500));
  const before = [...load.sent];
  const open = await unsettled(apiOf(scene), before);
  const done = before.filter((one) => !open.includes(one));
  const copy = join(stage.home, `backup-${scene.restores}.db`);
  const code = await stage.command(["backup", copy]);
  if (code !== 0) scene.violations.push(`the backup ended with code ${code}`);
  await sleep(random.between(0, 800));
  const ended = load.end();
  await stage.killAll();
  await ended;
  if (code === 0) await restoreCopy(scene, copy, sums);
  scene.restores++;
  // Results after a failure mean nothing; the log of the command does.
  if (scene.violations.length > 0) return { acknowledged: before.length, running: open.length };
  stage.forgetToken();
  await begin(scene);
  await check(scene, before, done);
  rmSync(copy);
  for (const name of readdirSync(stage.home))
    if (name.includes(".replaced-")) rmSync(join(stage.home, name));
  return { acknowledged: before.length, running: open.length };
}

async function restoreCopy(
  { stage, random, violations }: Scene,
  copy: string,
  sums: { killedRestores: number; emptied: number },
): Promise<void> {
  if (random.chance(0.4)) {
    sums.emptied++;
    for (const name of readdirSync(stage.home))
      if (/^(muster\.db|audit\.head|owner\.key|runner\.token)/.test(name))
        rmSync(join(stage.home, name));
  }
  const words = ["restore", copy, "--yes"];
  if (random.chance(0.25)) {
    sums.killedRestores++;
    await stage.command(words, random.between(100, 900));
  }
  const code = await stage.command(words);
  if (code !== 0) violations.push(`the restore ended with code ${code}`);
}

async function check(scene: Scene, before: readonly Sent[], done: readonly Sent[]): Promise<void> {
  const { violations, stage } = scene;
  const api = apiOf(scene);
  // Each session works again, in its own files.
  const again: Sent[] = [];
  for (const sessionId of scene.sessions) {
    const token = `again-${scene.restores}`;
    again.push(await send(api, sessionId, `echo ${token} >> ${FILE}`, token));
  }
  for (const prompt of await settled(scene, [...before, ...again]))
    if (prompt.outcome !== "completed")
      violations.push(`prompt ${prompt.id} ended ${prompt.outcome} ${prompt.error?.code ?? ""}`);
  const workspaces = readWorkspaces(stage);
  scene.sessions.forEach((sessionId, n) => {
    const [work, ...others] = workspaces.filter((one) => one.sessionId === sessionId);
    if (!work || others.length > 0)
      violations.push(`session ${sessionId} has ${others.length + (work ? 1 : 0)} workspaces`);
    const tokens = [...done, ...again].filter((one) => one.sessionId === sessionId);
    for (const token of [`uncommitted-${n}`, ...tokens.map((one) => one.token)])
      if (!work?.lines.includes(token)) violations.push(`lost: ${token} of ${sessionId}`);
  });
  await checkServer(scene, api);
}

async function checkServer({ violations, restores }: Scene, api: Api): Promise<void> {
  const { items: runners } = await api.patient.runners.list();
  if (runners.length !== 1) violations.push(`${runners.length} runners, not the one of before`);
  const deadline = Date.now() + SETTLE_WITHIN_MS;
  for (;;) {
    const trail = await api.patient.audit.verify();
    if (trail.ok && trail.restores.length > 0) return;
    if (!trail.ok || Date.now() > deadline) {
      violations.push(`after ${restores} restores the trail says ${JSON.stringify(trail)}`);
      return;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

async function unsettled(api: Api, sent: readonly Sent[]): Promise<Sent[]> {
  const open: Sent[] = [];
  for (const one of sent) if ((await findPrompt(api, one.id))?.state !== "settled") open.push(one);
  return open;
}

/** Waits until all prompts have settled; missing or stuck ones are violations. */
async function settled(scene: Scene, sent: readonly Sent[]): Promise<Prompt[]> {
  const api = apiOf(scene);
  const deadline = Date.now() + SETTLE_WITHIN_MS;
  const prompts: Prompt[] = [];
  for (const { id, token } of sent) {
    let prompt = await findPrompt(api, id);
    while (prompt && prompt.state !== "settled" && Date.now() < deadline) {
      await sleep(LOOK_EVERY_MS);
      prompt = await findPrompt(api, id);
    }
    if (prompt?.state === "settled") prompts.push(prompt);
    else if (prompt)
      scene.violations.push(`${token}: ${prompt.state}, ${JSON.stringify(prompt.waitingFor)}`);
    else scene.violations.push(`lost: the prompt ${id} (${token})`);
  }
  return prompts;
}

interface Work {
  sessionId: string;
  lines: string[];
}

/** Workspaces in use, of `muster up` or of a separate runner. */
function readWorkspaces({ home }: Stage): Work[] {
  return ["runner", "runner-home/runner"].flatMap((runner) => {
    const workspaces = join(home, runner, "workspaces");
    const names = existsSync(workspaces) ? readdirSync(workspaces) : [];
    return names.flatMap((name): Work[] => {
      const record = join(workspaces, name, "workspace.json");
      const file = join(workspaces, name, "work", FILE);
      if (!existsSync(record)) return [];
      const { sessionId } = JSON.parse(readFileSync(record, "utf8")) as { sessionId: string };
      return [{ sessionId, lines: existsSync(file) ? readFileSync(file, "utf8").split("\n") : [] }];
    });
  });
}
