// The commands: the parts each needs built, and the program it hands over to.
import { readFileSync } from "node:fs";
import { inRoot } from "./paths.mjs";

// The Node options of the server, runner and command line; the bench uses them too. A small nursery
// keeps an idle server small after a burst. Source maps are left off: they cost 30 MiB.
const MUSTER_NODE_OPTIONS = JSON.parse(readFileSync(inRoot("scripts/node-options.json"), "utf8"));

/** Commands of the program that start a runner on this machine, which needs a sandbox. */
const STARTS_RUNNER = new Set(["up", "runner"]);

const muster = (...fixed) => ({
  builds: ["programs", "web", "docs"],
  nodeOptions: MUSTER_NODE_OPTIONS,
  program: [inRoot("dist/muster.js"), ...fixed],
  keepsWorkingFolder: true,
  startsRunner: ([first]) => STARTS_RUNNER.has(fixed[0] ?? first),
});

const script = (file, ...fixed) => ({
  builds: [],
  nodeOptions: [],
  program: [inRoot("scripts", file), ...fixed],
  keepsWorkingFolder: false,
  startsRunner: () => false,
});

export const commands = {
  start: muster("up"),
  run: muster(),
  bench: {
    builds: ["programs"],
    nodeOptions: [],
    program: [inRoot("test/bench/run.ts")],
    keepsWorkingFolder: false,
    startsRunner: () => false,
  },
  build: script("build.ts", "programs", "web", "docs"),
  test: { ...script("test.ts"), builds: ["programs", "web", "docs"] },
  unit: script("test.ts", "--round", "unit"),
  faults: { ...script("test.ts", "--round", "faults"), builds: ["programs"] },
  simulation: { ...script("test.ts", "--round", "simulation"), builds: ["programs"] },
  requests: script("test.ts", "--round", "requests"),
  soak: script("test.ts", "--round", "soak"),
  escape: script("test.ts", "--round", "escape"),
  check: { ...script("check.ts"), builds: ["programs", "web", "docs"] },
  format: script("format.ts"),
  texts: script("texts.ts"),
};
