/**
 * A model provider stored in the settings, across restarts: the server (with its runner as a
 * process, inline, or separate) is killed or asked to end while turns call the model through the
 * server and others wait. No turn may fail, and none may be answered by another model.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { TEST_MODEL } from "#test/model-server/model-server.ts";
import { check } from "../checker.ts";
import { Api } from "../clients/api.ts";
import { Load } from "../clients/load.ts";
import { talkStyle } from "../clients/native-scripts.ts";
import { observe } from "../clients/observe.ts";
import { ModelLine } from "../program/model-line.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import { type FaultRound, type Report, type RoundContext, Tally } from "../round.ts";

const SESSIONS = 8;
const MAX_OPEN = 3;
/** After this many restarts everything must settle and is checked. */
const STRETCH = 10;
const PROVIDER = "house";

type Setup = "process" | "inline" | "remote";
const SETUPS: readonly Setup[] = ["process", "inline", "remote"];

export const providerRounds: FaultRound[] = [{ name: "stored-provider", play: playSetups }];

async function playSetups(context: RoundContext): Promise<Report> {
  const { cycles, random } = context;
  const tally = new Tally();
  const setups = SETUPS.slice(0, cycles);
  await Promise.all(
    setups.map((setup, n) => {
      const mine = Math.ceil((cycles - n) / setups.length);
      return playSetup({ ...context, cycles: mine, random: random.fork() }, setup, tally);
    }),
  );
  return { violations: tally.violations, summary: `${cycles} restarts: ${tally}` };
}

async function playSetup(context: RoundContext, setup: Setup, tally: Tally): Promise<void> {
  const { cleanup, program, cycles, random } = context;
  const line = await ModelLine.open();
  const stage = await Stage.create({ cleanup, program, env: settings(setup) });
  try {
    await begin(stage, setup);
    await storeProvider(stage, line);
    if (setup === "remote") await stage.startRunner();
    for (let struck = 0; struck < cycles && tally.violations.length === 0; ) {
      const load = new Load({
        urls: [stage.url],
        key: stage.key,
        random: random.fork(),
        sessions: SESSIONS,
        pauseMs: [50, 300],
        maxOpen: MAX_OPEN,
        // Sessions that name the model, and sessions that use the default.
        styles: [{ ...talkStyle, session: { model: `${PROVIDER}/${TEST_MODEL}` } }, talkStyle],
      });
      await load.start();
      for (let n = 0; n < STRETCH && struck < cycles; n++, struck++) {
        await line.asked.next(5_000);
        await sleep(random.between(0, 600));
        await strike(stage, setup, random);
      }
      tally.add(check(load.history, await observe(load), { mayExhaust: false }));
    }
  } finally {
    if (tally.violations.length > 0) tally.violations.push(`${setup}\n${stage.logTail()}`);
    await stage.killAll();
    await line.close();
  }
}

/** Only the stored model can be used. */
function settings(setup: Setup): Record<string, string> {
  return {
    MUSTER_RUNNER: setup === "remote" ? "none" : setup,
    OLLAMA_HOST: "127.0.0.1:9",
    ANTHROPIC_API_KEY: "",
    OPENAI_API_KEY: "",
    OPENROUTER_API_KEY: "",
  };
}

function begin(stage: Stage, setup: Setup): Promise<void> {
  return setup === "remote" ? stage.startServer() : stage.startBoth();
}

async function storeProvider(stage: Stage, line: ModelLine): Promise<void> {
  const api = new Api({ url: stage.url, key: stage.key });
  const body = { kind: "anthropic", baseUrl: line.url, apiKey: "sk-house-0123456789" } as const;
  await api.patient.providers.set({ name: PROVIDER, body });
}

async function strike(stage: Stage, setup: Setup, random: Random): Promise<void> {
  if (random.chance(0.5)) await stage.killServer();
  else await stage.stopServer();
  // The server stays away for longer than a provider would be retried.
  if (setup === "remote" && random.chance(0.3)) await sleep(random.between(1_000, 9_000));
  if (random.chance(0.2)) {
    stage.launchServer(setup === "remote" ? "server" : "up");
    await sleep(random.between(0, 600));
    await stage.killServer();
  }
  await begin(stage, setup);
}
