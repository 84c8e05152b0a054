/**
 * Avatar images: uploaded as a base64 `data:` URL, stored by the server and served from its own
 * address, so that no other server learns who looks at them.
 */
import { createHash } from "node:crypto";
import { Refusal } from "#base/refusal.ts";
import type { Tx } from "#base/store/index.ts";
import type { Person } from "#engine/index.ts";
import { deleteAvatar, saveAvatar } from "../queries.ts";
import { MAX_AVATAR_BYTES } from "./avatar-limits.ts";

/** Signature of each file type. SVG is left out, because it can contain scripts. */
const SIGNATURES: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  "image/png": (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")),
  "image/jpeg": (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])),
  "image/gif": (bytes) => /^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6)),
  "image/webp": (bytes) =>
    bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP",
};

export function avatarPath(userId: string): string {
  return `/api/agents/${userId}/avatar`;
}

/**
 * Stores or removes the image for `given` and returns the value that the identity shows: an emoji
 * or an address unchanged, an upload as its path, whose `v` changes with the image.
 */
export async function settleAvatar(
  tx: Tx,
  person: Person,
  given: string | null,
  current: string | null,
): Promise<string | null> {
  if (given === current) return current;
  if (given?.startsWith("/")) throw invalid("is not the address of your agent's image");
  if (!given?.startsWith("data:")) {
    await deleteAvatar(tx, person);
    return given;
  }
  const { mediaType, data } = readImage(given);
  const sha256 = createHash("sha256").update(data).digest("hex");
  const row = { org_id: person.orgId, user_id: person.userId, media_type: mediaType, data };
  await saveAvatar(tx, { ...row, updated_at: tx.now });
  return `${avatarPath(person.userId)}?v=${sha256.slice(0, 16)}`;
}

function readImage(url: string): { mediaType: string; data: Buffer } {
  const [, mediaType = "", base64 = ""] =
    /^data:(image\/[a-z]+);base64,([A-Za-z0-9+/]+={0,2})$/.exec(url) ?? [];
  const hasSignature = SIGNATURES[mediaType];
  if (!hasSignature) throw invalid("must be a PNG, JPEG, GIF or WebP image as a base64 data: URL");
  const data = Buffer.from(base64, "base64");
  if (data.length > MAX_AVATAR_BYTES)
    throw invalid(`must have at most ${MAX_AVATAR_BYTES / 1024} KiB; make it smaller`);
  if (!hasSignature(data)) throw invalid(`is not an image of the type ${mediaType}`);
  return { mediaType, data };
}

function invalid(why: string): Refusal {
  const details = [{ path: "avatar", message: why }];
  return new Refusal("invalid", "avatar_invalid", `avatar: ${why}.`, { details });
}
