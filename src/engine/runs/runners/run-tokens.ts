/**
 * Run tokens identify an agent program as the session it works for. A token names a run and its
 * fence and is signed; it is valid as long as that attempt holds the run, so it needs no row, and
 * ends with the attempt wherever it was copied to.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const PREFIX = "mrt_";

export interface RunRef {
  runId: string;
  fence: number;
}

export interface RunTokens {
  mint(ref: RunRef): string;
  /**
   * Reads the run that a token signed here names. Does not check that the attempt still holds the
   * run.
   */
  read(token: string): RunRef | undefined;
}

export function isRunToken(secret: string): boolean {
  return secret.startsWith(PREFIX);
}

export function createRunTokens(secretKey: string): RunTokens {
  const sign = (body: string) =>
    createHmac("sha256", secretKey).update(`run-token\0${body}`).digest("base64url");
  return {
    mint({ runId, fence }) {
      const body = `${runId}.${fence}`;
      return `${PREFIX}${body}.${sign(body)}`;
    },
    read(token) {
      const match = /^mrt_((run_\w{1,100})\.(\d{1,15}))\.([\w-]{43})$/.exec(token);
      const [, body = "", runId = "", fence = "", given = ""] = match ?? [];
      if (!match || !timingSafeEqual(Buffer.from(sign(body)), Buffer.from(given))) return undefined;
      return { runId, fence: Number(fence) };
    },
  };
}
