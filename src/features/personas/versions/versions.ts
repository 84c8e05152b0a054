/** Writes and reads versions. A version never changes; equal content makes no new version. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { may, requireSignedIn, type Work } from "#engine/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { SYSTEM } from "../access.ts";
import { type Content, hashesIn, pack, unpack } from "../content.ts";
import type { PersonaVersionRow } from "../schema.ts";
import {
  findVersion,
  insertVersion,
  keepTexts,
  readTexts,
  sumTextBytes,
} from "./version-queries.ts";

const MAX_VERSIONS = 1_000;
const MAX_HISTORY_BYTES = 64 * 1024 * 1024;

/** A person, or the product itself. */
export type Author = UserPrincipal | typeof SYSTEM;
export const authorId = (author: Author) => (author === SYSTEM ? SYSTEM : author.userId);

export interface VersionDraft {
  id: string;
  orgId: string;
  personaId: string;
  content: Content;
}

/** Returns the new version, or the present one if nothing is different. */
export async function addVersion(
  work: Work,
  author: Author,
  { id, orgId, personaId, content }: VersionDraft,
  before: PersonaVersionRow | undefined,
): Promise<PersonaVersionRow> {
  const { sha256, manifest, texts } = pack(content);
  if (before?.sha256 === sha256) return before;
  await requireRoom(work, personaId, before);
  const row: PersonaVersionRow = {
    id,
    org_id: orgId,
    persona_id: personaId,
    number: (before?.number ?? 0) + 1,
    sha256,
    manifest,
    ...policyAuthor(author, content, before),
    created_by: authorId(author),
    created_at: work.now,
  };
  await keepTexts(work.tx, personaId, texts);
  await insertVersion(work.tx, row);
  return row;
}

/**
 * Returns the author of the tool policy. Allow rules count by their author, and a person who changes
 * something else does not approve rules that they may never have looked at.
 */
function policyAuthor(
  author: Author,
  content: Content,
  before: PersonaVersionRow | undefined,
): Pick<PersonaVersionRow, "policy_author" | "policy_trusted"> {
  if (before) {
    const was = (JSON.parse(before.manifest) as Content).toolPolicy;
    if (JSON.stringify(was) === JSON.stringify(plainRules(content)))
      return { policy_author: before.policy_author, policy_trusted: before.policy_trusted };
  }
  if (author !== SYSTEM && (before !== undefined || content.toolPolicy.length > 0))
    requireSignedIn(author, "Changing the rules of a persona");
  const isTrusted = author === SYSTEM || may(author, "policy.manage", { orgId: author.orgId });
  return { policy_author: authorId(author), policy_trusted: isTrusted ? 1 : 0 };
}

function plainRules({ toolPolicy }: Content) {
  return toolPolicy.map(({ tool, pattern, effect }) => ({ tool, pattern, effect }));
}

async function requireRoom(
  work: Work,
  personaId: string,
  before: PersonaVersionRow | undefined,
): Promise<void> {
  const isFull =
    (before?.number ?? 0) >= MAX_VERSIONS ||
    (before !== undefined && (await sumTextBytes(work.tx, personaId)) >= MAX_HISTORY_BYTES);
  if (!isFull) return;
  throw new Refusal(
    "limit",
    "persona_history_full",
    "This persona has the maximum number of versions. Export it and create a new one.",
  );
}

export async function readContent(reader: Reader, version: PersonaVersionRow): Promise<Content> {
  const texts = await readTexts(reader, version.persona_id, hashesIn(version.manifest));
  return unpack(version.manifest, texts);
}

/** Refused if the persona was deleted between two reads. */
export async function getVersion(reader: Reader, id: string): Promise<PersonaVersionRow> {
  const version = await findVersion(reader, id);
  if (!version) throw notFound("persona");
  return version;
}
