/** Instructions of an orchestrator, as text and as files in its folder. */
import type { Reader } from "#base/store/index.ts";
import type { Brief, SessionRow } from "#engine/index.ts";
import { findUser } from "#features/auth/index.ts";
import { IDENTITY_FILE, identityText } from "./instructions/identity.ts";
import { SYSTEM, SYSTEM_FILE } from "./instructions/system.ts";
import { findIdentity } from "./queries.ts";

/** The folder that personas use too. */
const FOLDER = ".muster/persona";

export async function brief(
  reader: Reader,
  { kind, org_id: orgId, owner_id: userId }: SessionRow,
): Promise<Brief | undefined> {
  if (kind !== "orchestrator" || userId === null) return undefined;
  const identity = await findIdentity(reader, { orgId, userId });
  const person = (await findUser(reader, userId))?.name ?? userId;
  const instructions = [{ name: SYSTEM_FILE, content: SYSTEM }];
  if (identity)
    instructions.push({ name: IDENTITY_FILE, content: identityText(identity, oneLine(person)) });
  return {
    instructions,
    files: [
      { path: ".muster/.gitignore", content: "*\n" },
      ...instructions.map(({ name, content }) => ({ path: `${FOLDER}/${name}`, content })),
    ],
    setup: null,
  };
}

const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ");
