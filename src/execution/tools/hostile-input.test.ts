/** Every tool of the runner with generated inputs that fit its schema: none fails unexpectedly. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { workspaceTools } from "#protocol/tools.ts";
import { UNSTORABLE } from "#test/nasty-strings.ts";
import { Random } from "#test/random.ts";
import { type Schema, valueFor } from "#test/requests/from-schema.ts";
import { createCaller, type FakeWorkspace, openFakeWorkspace } from "./fake-workspace.ts";
import { createRunnerTools } from "./runner-tools.ts";
import type { ToolOutcome } from "./tool.ts";

const TRIES = 60;
const SEED = Date.now() % 1_000_000;
const LIMIT_MS = 300_000;

let workspace: FakeWorkspace;
let call: (name: string, input: unknown) => Promise<ToolOutcome>;
const tools = createRunnerTools({ webFetch: { timeoutMs: 200 } });
/** Without bash, which would run any input as a command. */
const performed = workspaceTools.filter(({ name }) => tools.get(name) && name !== "bash");

beforeAll(async () => {
  workspace = await openFakeWorkspace();
  call = createCaller(tools, workspace);
  writeFileSync(join(workspace.folder, "a.txt"), "alpha\nbeta\n");
});
afterAll(async () => {
  await tools.close();
  await workspace[Symbol.asyncDispose]();
});

describe("hostile input", () => {
  it.each(performed.map((tool) => [tool.name, tool] as const))(
    "to %s is answered with a sentence",
    async (name, { schema }) => {
      const random = new Random(SEED);
      const shape = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
      const known = (field: string) =>
        field === "path" ? random.pick(["a.txt", ".", "none/x"]) : undefined;
      for (let n = 0; n < TRIES; n++) {
        const odds = random.pick([0, 0.2, 0.5]);
        const input = valueFor({ random, components: {}, odds, known }, shape);
        const outcome = await call(name, input).catch((error: unknown) => error);
        expect({ seed: SEED, input, outcome }).toMatchObject({
          outcome: { output: expect.any(String) },
        });
      }
    },
    LIMIT_MS,
  );

  it.each([
    ["grep", "glob", { pattern: "x" }],
    ["grep", "path", { pattern: "x" }],
    ["grep", "pattern", {}],
    ["glob", "pattern", {}],
    ["glob", "path", { pattern: "*" }],
    ["read", "path", {}],
    ["write", "path", { content: "" }],
    ["bash", "command", {}],
  ])("that no program takes is refused by %s in %s", async (name, field, rest) => {
    for (const text of UNSTORABLE) {
      const { error } = await call(name, { ...rest, [field]: text });
      expect(error).toContain(`${field} contains a NUL character or broken Unicode`);
    }
  });
});
