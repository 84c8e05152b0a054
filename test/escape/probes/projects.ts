/**
 * Folders of the machine that sessions work in directly. Others can reach them too, and put
 * something else in their place: above all a link to Muster's own folder.
 */
import { spawn } from "node:child_process";
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Refusal } from "#base/refusal.ts";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import { filesOf } from "#execution/tools/files/confined-files.ts";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import type { Probe } from "../probe.ts";
import type { Stage } from "../stage.ts";

const RACES = 25;
const STEAL = "cat owner.key runner.token; echo gone > made-by-probe; echo ran";
/**
 * Both states last equally and briefly, so that a check and the access after it meet different
 * ones.
 */
const SWAP = `$| = 1; my $i = 0; sub rest { select undef, undef, undef, rand 0.004 }
until (-e "stop") { rename "app", "real"; rename "link", "app"; rest;
  rename "app", "link"; rename "real", "app"; rest; $i++ } print $i`;
let count = 0;

interface Scene {
  stage: Stage;
  /** Folder with the project `app`. */
  folder: string;
  app: string;
  /** Folder with the canary, which no session may reach. */
  loot: string;
}

/** A probe that acts outside, after a command that does nothing. */
function scene(name: string, expects: RegExp, play: (scene: Scene) => Promise<string>): Probe {
  return {
    name: `project: ${name}`,
    script: () => "true",
    evidence: ({ files }) => join(dirname(files.ownerKey), "made-by-probe"),
    afterwards(stage) {
      const folder = join(stage.folder, "projects", String(count++));
      const app = join(folder, "app");
      mkdirSync(app, { recursive: true });
      writeFileSync(join(app, "mine"), "mine\n");
      return play({ stage, folder, app, loot: dirname(stage.files.ownerKey) });
    },
    expects,
  };
}

const open = ({ stage }: Scene, name: string, projectDir: string) =>
  stage.workspaces.open({ ...NOTHING, sessionId: `ses_${name}_${count}`, projectDir });
const sleep = ({ stage }: Scene, name: string) =>
  stage.workspaces.hibernate(`ses_${name}_${count}`);
const NOTHING = { repository: null, mayUsePath: true, branch: null, projectDir: null };

async function run(workspace: Workspace, script: string): Promise<string> {
  const running = workspace.sandbox.run({ argv: ["/bin/sh", "-c", script], timeoutMs: 10_000 });
  running.stdin.end();
  const texts = await Promise.all([
    collectText(running.stdout),
    collectText(running.stderr),
    running.ended,
  ]);
  return `${texts[0]}${texts[1]}`;
}

async function read(workspace: Workspace, path: string): Promise<string> {
  const opened = await filesOf(workspace).open(path);
  const { handle } = opened.kind === "file" ? opened : opened.folder;
  try {
    return opened.kind === "file" ? await handle.readFile("utf8") : "";
  } finally {
    await handle.close();
  }
}

/** The result, or the word for a refusal. */
async function say(work: () => Promise<unknown>): Promise<string> {
  try {
    return `did ${JSON.stringify((await work()) ?? null)};`;
  } catch (error) {
    return error instanceof Refusal ? `refused ${error.code};` : `failed ${error};`;
  }
}

/** Every way in which the runner or an agent reads a workspace. */
async function useAll(workspace: Workspace): Promise<string> {
  const ways = [
    () => run(workspace, STEAL),
    () => read(workspace, "owner.key"),
    () => filesOf(workspace).replace("made-by-probe", "x"),
    () =>
      filesOf(workspace)
        .create("made-by-probe")
        .then((file) => file.close()),
    () => workspace.mark("later"),
    () => workspace.changes("before"),
    () => workspace.snapshot(),
    () => workspace.instructions(),
    () => workspace.diskBytes(),
  ];
  const said: string[] = [];
  for (const way of ways) said.push(await say(way));
  return said.join("\n");
}

const ALL_REFUSED = /^\s*swapped\n(refused workspace_refused;\n?){9}\s*$/;
const leadsTo = (path: string, loot: string) => (realpathSync(path) === loot ? "swapped\n" : "");

function swap({ app, loot }: Scene): string {
  renameSync(app, `${app}-away`);
  symlinkSync(loot, app);
  return leadsTo(app, realpathSync(loot));
}

export const projectProbes: Probe[] = [
  scene("a link put there by another session", /swapped\nrefused workspace_refused;/, async (s) => {
    await open(s, "victim", s.app);
    await sleep(s, "victim");
    const attacker = await open(s, "attacker", s.folder);
    await run(attacker, `mv app old; ln -s '${s.loot}' app`);
    await sleep(s, "attacker");
    const swapped = leadsTo(s.app, realpathSync(s.loot));
    return swapped + (await say(async () => run(await open(s, "victim", s.app), STEAL)));
  }),
  scene("a link put there before a session begins", /swapped\nrefused/, async (s) => {
    const swapped = swap(s);
    return swapped + (await say(() => open(s, "new", s.app)));
  }),
  scene("a link put there while it is open", ALL_REFUSED, async (s) => {
    const workspace = await open(s, "open", s.app);
    await workspace.mark("before");
    return swap(s) + (await useAll(workspace));
  }),
  scene("a link in the place of a folder above", ALL_REFUSED, async (s) => {
    const workspace = await open(s, "open", s.app);
    await workspace.mark("before");
    // The target of the link has a folder of the same name, with the secret in it.
    const decoy = join(s.stage.folder, "data", `decoy-${count}`);
    mkdirSync(decoy);
    renameSync(s.folder, `${s.folder}-away`);
    symlinkSync(decoy, s.folder);
    symlinkSync(s.loot, join(decoy, "app"));
    return leadsTo(s.app, realpathSync(s.loot)) + (await useAll(workspace));
  }),
  scene("another folder in its place", /^\s*(refused workspace_refused;\n?){9}\s*$/, async (s) => {
    const workspace = await open(s, "open", s.app);
    await workspace.mark("before");
    renameSync(s.app, `${s.app}-away`);
    mkdirSync(s.app);
    writeFileSync(join(s.app, "owner.key"), s.stage.canary);
    const said = await useAll(workspace);
    rmSync(s.app, { recursive: true });
    return said;
  }),
  scene("a link in and out, again and again", /swaps and \d+ tries/, async (s) => {
    const workspace = await open(s, "race", s.app);
    symlinkSync(s.loot, join(s.folder, "link"));
    const swapper = spawn("sh", ["-c", 'exec perl -e "$1"', "sh", SWAP], {
      cwd: s.folder,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const swapped = collectText(swapper.stdout);
    const said: string[] = [];
    // Most attempts are refused at once; only those that were let through count.
    for (let tries = 0, begun = 0; begun < RACES && tries < 100 * RACES; tries++) {
      const [ran, seen] = [
        await say(() => run(workspace, STEAL)),
        await say(() => read(workspace, "owner.key")),
      ];
      if (ran.startsWith("did")) begun++;
      else await new Promise((resolve) => setTimeout(resolve, 1));
      said.push(ran, seen);
    }
    writeFileSync(join(s.folder, "stop"), "");
    return `${said.join("\n")}\n${(await swapped).trim()} swaps and ${said.length} tries`;
  }),
  scene("a link in and out inside, by its own command in the background", /\d read;/, async (s) => {
    // The same swaps, seen from the project around it.
    const workspace = await open(s, "own", s.folder);
    symlinkSync(s.loot, join(s.folder, "link"));
    const swapper = workspace.sandbox.run({ argv: ["perl", "-e", SWAP] });
    swapper.stdout.resume();
    swapper.stderr.resume();
    let found = 0;
    const said: string[] = [];
    for (let i = 0; i < 10 * RACES; i++) {
      if ((await say(() => read(workspace, "app/mine"))).includes("mine")) found++;
      said.push(await say(() => read(workspace, "app/owner.key")));
      said.push(await say(() => filesOf(workspace).replace("app/made-by-probe", "x")));
      if (i % 50 === 0) said.push(await say(() => run(workspace, `cd app; ${STEAL}`)));
    }
    await workspace.mark("racing");
    writeFileSync(join(s.folder, "stop"), "");
    await swapper.ended;
    return `${said.join("\n")}\n${found} read;`;
  }),
  scene(
    "a folder around another session's, or inside it",
    /^\s*(refused workspace_refused;){2}\s*$/,
    async (s) => {
      mkdirSync(join(s.app, "in"));
      await open(s, "victim", s.app);
      const around = await say(() => open(s, "around", s.folder));
      return around + (await say(() => open(s, "inside", join(s.app, "in"))));
    },
  ),
  scene(
    "Muster's own folder as a repository, by a link",
    /^\s*(refused workspace_refused;){2}\s*$/,
    async (s) => {
      const link = join(s.folder, "repo");
      symlinkSync(s.loot, link);
      const clone = (repo: string) => {
        const repository = storedRepositoryAddress(repo);
        const wish = { ...NOTHING, sessionId: `ses_clone_${count}`, repository };
        return say(() => s.stage.workspaces.open(wish));
      };
      return (await clone(link)) + (await clone(`file://${link}`));
    },
  ),
];
