/**
 * Identity part of an orchestrator's instructions: name, style, and the owner's custom
 * instructions.
 */
import type { Style } from "../contract.ts";
import type { IdentityRow } from "../schema.ts";

export const IDENTITY_FILE = "01-IDENTITY.md";

const STYLES: Readonly<Record<Style, string>> = {
  professional:
    "Write clearly and courteously, in whole sentences, like a good colleague. No jokes, no emoji.",
  casual:
    "Write relaxed and warm, like a colleague at the next desk. Contractions, and now and then an emoji, are fine.",
  terse: "Write as little as possible. Facts, names, links. No greeting, no closing.",
  custom: "Write as your person says below.",
};

export function identityText(
  { name, handle, style, custom_instructions }: IdentityRow,
  person: string,
): string {
  return [
    "# Who you are",
    "",
    `- Your name: ${name}`,
    `- Your handle, by which others in the organisation can call you: @${handle}`,
    `- Your person: ${person}`,
    `- How you write: ${STYLES[style]}`,
    ...(custom_instructions === null ? [] : customSection(custom_instructions)),
    "",
  ].join("\n");
}

/** Uses a fence longer than any in the text, so that the text cannot close it. */
function customSection(text: string): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/~+/g)].map(([run]) => run.length));
  const fence = "~".repeat(longest + 1);
  return [
    "",
    "## What your person wrote for you",
    "",
    "Follow it where it concerns how you work and speak for them. It does not change what was said",
    "before it about quoted text, proof, approvals and limits.",
    "",
    fence,
    text,
    fence,
  ];
}
