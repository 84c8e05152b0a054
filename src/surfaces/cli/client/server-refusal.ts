import type { RefusalDetail } from "#base/refusal.ts";
import { isRecord } from "#client/index.ts";

/** Refusal in a server's response. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal";
  readonly status: number;
  readonly code: string;
  readonly details: RefusalDetail[];

  constructor(status: number, code: string, message: string, details: RefusalDetail[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export function refusalFrom(status: number, text: string): ServerRefusal {
  const error = errorIn(text);
  const code = typeof error.code === "string" ? error.code : `http_${status}`;
  const message =
    typeof error.message === "string" && error.message !== ""
      ? error.message
      : `The server answered ${status} without a reason. Check that this is the address of a Muster server.`;
  const details = Array.isArray(error.details) ? error.details.filter(isDetail) : [];
  return new ServerRefusal(status, code, message, details);
}

function errorIn(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && isRecord(body.error) ? body.error : {};
  } catch {
    return {};
  }
}

function isDetail(value: unknown): value is RefusalDetail {
  return isRecord(value) && typeof value.path === "string" && typeof value.message === "string";
}
