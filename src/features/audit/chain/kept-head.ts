/**
 * The end of the trail as this server last saw it, kept in a file of the data folder. Whoever can write to
 * the database alone can rewrite every row and every hash, but can neither sign the new end of the trail nor
 * roll this file back. The file is written after each commit: after a crash it may lag behind the database,
 * and is never ahead of it.
 */
import { existsSync, readFileSync } from "node:fs";
import * as z from "zod";
import { savePrivateFile } from "#base/machine/private-files.ts";
import { isSameDigest, keyedDigest } from "#base/secrets/secret-key.ts";

export interface Head {
  seq: number;
  hash: string;
}

const keptSchema = z.object({
  version: z.literal(1),
  seq: z.number().int(),
  hash: z.string(),
  at: z.number(),
  /** Recorded when the trail did not continue from this server's last head. */
  breaks: z.array(z.object({ at: z.number(), seq: z.number().int(), why: z.string() })),
  /** Restores of the database with `muster restore`. */
  restores: z.array(z.object({ id: z.string(), at: z.number(), seq: z.number().int() })),
});
export type KeptHead = z.infer<typeof keptSchema>;
const fileSchema = keptSchema.extend({ mac: z.string() });

/** Further breaks and restores add no information. */
const MAX_NOTES = 100;
const HEAD_PURPOSE = "muster audit head";
const FILE_PURPOSE = "muster audit head file";
const RESTORE_PURPOSE = "muster audit restore";
const CUT_PURPOSE = "muster audit cut";

/** Position and time at which the oldest rows were cut off. */
export interface Cut extends Head {
  throughAt: number;
  at: number;
}

export interface HeadKeeper {
  sign(head: Head): string;
  isSigned(head: Head & { mac: string }): boolean;
  signRestore(restore: { id: string } & Head): string;
  isSignedRestore(restore: { id: string; mac: string } & Head): boolean;
  signCut(cut: Cut): string;
  isSignedCut(cut: Cut & { mac: string }): boolean;
  /** Returns undefined without a file, and "changed" when the file is not as this server wrote it. */
  load(): KeptHead | "changed" | undefined;
  save(kept: KeptHead): Promise<void>;
}

/** Creates the keeper of the head. Tests give no file: then the head stays in memory. */
export function createHeadKeeper(secretKey: string, file?: string): HeadKeeper {
  let inMemory: KeptHead | undefined;
  const mac = (purpose: string, value: unknown) =>
    keyedDigest(secretKey, purpose, JSON.stringify(value));
  const sign = ({ seq, hash }: Head) => mac(HEAD_PURPOSE, [seq, hash]);
  const signRestore = ({ id, seq, hash }: { id: string } & Head) =>
    mac(RESTORE_PURPOSE, [id, seq, hash]);
  const signCut = ({ seq, hash, throughAt, at }: Cut) =>
    mac(CUT_PURPOSE, [seq, hash, throughAt, at]);
  return {
    signCut,
    isSignedCut: (cut) => isSameDigest(signCut(cut), cut.mac),
    sign,
    isSigned: (head) => isSameDigest(sign(head), head.mac),
    signRestore,
    isSignedRestore: (restore) => isSameDigest(signRestore(restore), restore.mac),
    load() {
      if (file === undefined) return inMemory;
      if (!existsSync(file)) return undefined;
      const parsed = fileSchema.safeParse(parseJson(readFileSync(file, "utf8")));
      if (!parsed.success) return "changed";
      const { mac: written, ...kept } = parsed.data;
      return isSameDigest(mac(FILE_PURPOSE, canonical(kept)), written) ? kept : "changed";
    },
    async save(kept) {
      const short = {
        ...kept,
        breaks: kept.breaks.slice(0, MAX_NOTES),
        restores: kept.restores.slice(-MAX_NOTES),
      };
      if (file === undefined) inMemory = short;
      else {
        const signed = { ...short, mac: mac(FILE_PURPOSE, canonical(short)) };
        await savePrivateFile(file, `${JSON.stringify(signed, null, 2)}\n`);
      }
    },
  };
}

function canonical({ version, seq, hash, at, breaks, restores }: KeptHead): unknown[] {
  return [
    version,
    seq,
    hash,
    at,
    breaks.map((one) => [one.at, one.seq, one.why]),
    restores.map((one) => [one.id, one.at, one.seq]),
  ];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
