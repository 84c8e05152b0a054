import { expect, it, test } from "vitest";
import type { Repo } from "#features/repos/contract.ts";
import { draftOfRepo, repoBodyOf, repoProblems } from "./repo-draft.ts";

const repo = {
  description: "A site",
  defaultBranch: "main",
  setupCommand: null,
  personaSlug: "reviewer",
  credential: null,
  hasWebhookSecret: true,
} as Repo;
const draft = draftOfRepo(repo);

test("only what is different is sent, and an emptied field takes it away", () => {
  expect(repoBodyOf(repo, draft)).toEqual({});
  expect(
    repoBodyOf(repo, { ...draft, description: " ", setupCommand: " npm ci\n", credential: "T" }),
  ).toEqual({ description: null, setupCommand: "npm ci", credential: "T" });
});

test("a webhook secret goes in as it is, stays when nothing is typed, and can be taken away", () => {
  expect(repoBodyOf(repo, { ...draft, webhookSecret: "hush-hush" })).toEqual({
    webhookSecret: "hush-hush",
  });
  const dropped = { ...draft, webhookSecret: "hush-hush", dropsWebhookSecret: true };
  expect(repoBodyOf(repo, dropped)).toEqual({ webhookSecret: null });
});

it.each([
  [{ defaultBranch: "two words" }, "defaultBranch"],
  [{ defaultBranch: "-x" }, "defaultBranch"],
  [{ credential: "ghp_token with spaces" }, "credential"],
  [{ webhookSecret: "short" }, "webhookSecret"],
  [{ webhookSecret: "with some spaces" }, "webhookSecret"],
])("%j is refused at its field", (change, field) => {
  expect(Object.keys(repoProblems({ ...draft, ...change }))).toEqual([field]);
});

test("nothing is wrong with what is there", () => {
  expect(repoProblems(draft)).toEqual({});
});
