/**
 * The API document as others use it: it passes Redocly's recommended rules, and a generated client
 * compiles and runs a turn.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
/** Inside the repository, so that the generated files find their modules. */
const SCRATCH = join(ROOT, "node_modules/.cache");
const COMPILE_LIMIT_MS = 300_000;

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
}
interface ApiDocument {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

let platform: Platform;
let source: string;
let document: ApiDocument;

beforeAll(async () => {
  platform = await startPlatform();
  const { body } = await platform.request<ApiDocument>("GET", "/api/openapi.json");
  document = body;
  source = JSON.stringify(body);
});
afterAll(() => platform.stop());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );

describe("the API document", () => {
  it("passes Redocly's recommended rules, warnings included", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source, config });
    const told = problems.map(
      ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`,
    );
    expect(told).toEqual([]);
  });

  it("names each operation once, and lists its refusals", () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain("postSessionsByIdPrompts");
    for (const { path, method, responses } of operations()) {
      const statuses = Object.keys(responses);
      expect(statuses, `${method} ${path}`).toEqual(expect.arrayContaining(["401", "429", "503"]));
      if (path.includes("{")) expect(statuses, `${method} ${path}`).toContain("404");
    }
    expect(document.servers).toHaveLength(1);
  });

  it("has both statuses of operations that create a thing or find it", () => {
    const start = document.paths["/api/me/orchestrator"]?.post;
    expect(Object.keys(start?.responses ?? {})).toEqual(expect.arrayContaining(["200", "201"]));
  });
});

const CLIENT = `
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const [, , baseUrl, key] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });

const made = await client.POST("/api/sessions", { body: { title: "by a client", runtime: "scripted" } });
if (!made.data) throw new Error(made.error.error.code);
const id: string = made.data.session.id;
const sent = await client.POST("/api/sessions/{id}/prompts", {
  params: { path: { id } },
  body: { content: "say hello from a turn" },
});
if (!sent.data) throw new Error(sent.error.error.code);
for (;;) {
  const now = await client.GET("/api/prompts/{id}", { params: { path: { id: sent.data.prompt.id } } });
  if (!now.data) throw new Error(now.error.error.code);
  const outcome: "completed" | "failed" | "aborted" | "superseded" | "merged" | "withdrawn" | null =
    now.data.prompt.outcome;
  if (outcome !== null) {
    const read = await client.GET("/api/sessions/{id}/transcript", { params: { path: { id } } });
    const texts = read.data?.items.map(({ text }) => text);
    process.stdout.write(JSON.stringify({ outcome, texts }));
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
const missing = await client.GET("/api/sessions/{id}", { params: { path: { id: "ses_none" } } });
if (missing.response.status !== 404 || missing.error?.error.code !== "not_found")
  throw new Error("a missing session must be refused");
`;

const OPTIONS = {
  compilerOptions: {
    strict: true,
    outDir: ".",
    module: "nodenext",
    target: "esnext",
    rewriteRelativeImportExtensions: true,
    types: ["node"],
    skipLibCheck: true,
  },
  files: ["client.mts"],
};

describe("a generated client", () => {
  it(
    "compiles and runs a turn",
    async () => {
      await run("mkdir", ["-p", SCRATCH]);
      const folder = await mkdtemp(join(SCRATCH, "api-client-"));
      try {
        await writeFile(join(folder, "api.json"), source);
        await writeFile(join(folder, "client.mts"), CLIENT);
        await writeFile(join(folder, "tsconfig.json"), JSON.stringify(OPTIONS));
        // The generator uses TypeScript's compiler API, which version 7 does not have.
        const api = join(ROOT, "scripts/check/typescript-for-depcruise.mjs");
        const generate = join(ROOT, "node_modules/openapi-typescript/bin/cli.js");
        const inFolder = { cwd: folder };
        await run(
          process.execPath,
          ["--import", api, generate, "api.json", "-o", "schema.d.ts"],
          inFolder,
        );
        const compile = join(ROOT, "node_modules/typescript/bin/tsc");
        await run(process.execPath, [compile, "-p", "tsconfig.json"], inFolder);
        const program = ["client.mjs", platform.url, platform.key];
        const { stdout } = await run(process.execPath, program, inFolder);
        expect(JSON.parse(stdout)).toMatchObject({
          outcome: "completed",
          texts: expect.arrayContaining(["hello from a turn"]),
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    COMPILE_LIMIT_MS,
  );
});
