/** Draft of an orchestrator's identity: its changes and its problems. Pure. */
import type { Identity, IdentityChange } from "#features/orchestrators/contract.ts";

export interface IdentityDraft {
  name: string;
  handle: string;
  avatar: string;
  style: Identity["style"];
  instructions: string;
}

export function draftOf(identity: Identity): IdentityDraft {
  return {
    name: identity.name,
    handle: identity.handle,
    avatar: identity.avatar ?? "",
    style: identity.style,
    instructions: identity.customInstructions ?? "",
  };
}

/** Returns only the changed fields, so that changes made elsewhere meanwhile stay. */
export function changeOf(identity: Identity, draft: IdentityDraft): IdentityChange {
  const before = draftOf(identity);
  const change: IdentityChange = {};
  const name = draft.name.trim();
  const avatar = draft.avatar.trim();
  if (name !== before.name) change.name = name;
  if (bare(draft.handle) !== before.handle) change.handle = bare(draft.handle);
  if (avatar !== before.avatar) change.avatar = avatar === "" ? null : avatar;
  if (draft.style !== before.style) change.style = draft.style;
  if (draft.instructions !== before.instructions)
    change.customInstructions = draft.instructions.trim() === "" ? null : draft.instructions;
  return change;
}

/** Removes the leading @ of a handle. */
export function bare(handle: string): string {
  return handle.trim().replace(/^@/, "");
}

const HANDLE = /^[A-Za-z0-9][A-Za-z0-9-]{1,29}$/;

export function handleProblem(handle: string): string | undefined {
  return HANDLE.test(handle)
    ? undefined
    : "Use 2 to 30 letters, digits and dashes. Start with a letter or digit.";
}
