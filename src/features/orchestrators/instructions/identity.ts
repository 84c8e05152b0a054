/**
 * Identity part of an orchestrator's instructions: name, style, and the owner's custom
 * instructions.
 */
import type { Style } from "../contract.ts";
import type { IdentityRow } from "../schema.ts";

export const IDENTITY_FILE = "01-IDENTITY.md";

const STYLES: Readonly<Record<Style, string>> = {
  professional:
    "Write clearly and courteously, in full sentences, like a good colleague. No jokes, no emoji.",
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
    `- Your handle, by which others in the organisation can address you: @${handle}`,
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
    "## Instructions from your person",
    "",
    "Follow them where they concern how you work and speak for your person. They do not change what was",
    "said above about quoted text, proof, approvals and limits.",
    "",
    fence,
    text,
    fence,
  ];
}
