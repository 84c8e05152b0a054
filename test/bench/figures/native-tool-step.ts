/** One tool step: the model calls `true` in bash, and the next request carries the result. */
import { spawn } from "node:child_process";
import type { Contender } from "../contenders.ts";
import { type Figure, interleave, median, type Row } from "../figure.ts";
import { MODELS, TOOL_STEPS } from "../model/answers.ts";
import { turns } from "../native-rounds.ts";
import type { BenchTools } from "../tools.ts";

export const toolStep: Figure = { name: "native-tool", quick: true, measure };

const BARE = ["bash", "-c", "true"];
/** The smallest sandbox that keeps a command away from the machine. */
const SANDBOXED = [
  ..."bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --proc /proc".split(" "),
  ...BARE,
];

async function measure(tools: BenchTools): Promise<Row[]> {
  const { port: modelPort } = await tools.model();
  const ours = await tools.ours({ runtime: "native", modelPort });
  const once = () => oneTurn(tools, ours);
  await once();
  const results = await interleave(tools.quick ? 2 : 10, {
    ours: once,
    bare: () => repeat(TOOL_STEPS, BARE),
    sandboxed: () => repeat(TOOL_STEPS, SANDBOXED),
  });
  const bare = median(results.bare.flat());
  const sandboxed = median(results.sandboxed.flat());
  const ourSteps = results.ours.flatMap(([, ...later]) => later);
  const note = `bash alone ${bare.toFixed(1)} ms; here the floor is bash in a bare bwrap`;
  return [
    {
      figure: "native: tool step, asked → next request, p50",
      unit: "ms",
      floor: sandboxed,
      ours: median(ourSteps),
      note,
    },
    {
      figure: "native: first tool step of a session, p50",
      unit: "ms",
      floor: sandboxed,
      ours: median(results.ours.map(([first = Number.NaN]) => first)),
      note: "makes the workspace too",
    },
  ];
}

/** The steps of one turn in a fresh session, as the model saw them. */
async function oneTurn(tools: BenchTools, ours: Contender): Promise<number[]> {
  const model = await tools.model();
  await turns(tools, ours, { model: MODELS.tool, sessions: 1, turnsEach: 1 });
  const { steps } = await model.counts();
  if (steps.length !== TOOL_STEPS)
    throw new Error(`${steps.length} of ${TOOL_STEPS} tool steps were made`);
  return steps;
}

async function repeat(times: number, [program = "", ...args]: readonly string[]) {
  const took: number[] = [];
  for (let time = 0; time < times; time++) {
    const startedAt = performance.now();
    await new Promise<void>((resolve, reject) => {
      const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
      child.on("error", reject);
      child.on("close", (code) =>
        code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)),
      );
    });
    took.push(performance.now() - startedAt);
  }
  return took;
}
