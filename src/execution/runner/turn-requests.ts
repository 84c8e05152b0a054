/**
 * Requests of a turn to its server: history, brief, blobs, repository. Material that came with the
 * assignment is not requested.
 */
import type { Blob, Brief, History } from "#execution/runtimes/runtime.ts";
import type { Assignment, Material, ServerFrame } from "#protocol/frames.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import type { FrameWithoutId, RunRef, ServerLink } from "./connection/server-link.ts";

export class TurnRequests {
  readonly #link: ServerLink;
  readonly #ref: RunRef;
  readonly #hasBrief: boolean;
  readonly #history: Material["history"];
  #brief: Material["brief"];
  #open = 0;

  constructor(link: ServerLink, { run, fence, hasBrief, material }: Assignment) {
    this.#link = link;
    this.#ref = { run, fence };
    this.#hasBrief = hasBrief;
    this.#history = material?.history;
    this.#brief = material?.brief;
  }

  /** True while requests are unanswered. */
  get hasOpen(): boolean {
    return this.#open > 0;
  }

  async send(question: FrameWithoutId): Promise<ServerFrame> {
    this.#open++;
    try {
      return await this.#link.request(question);
    } finally {
      this.#open--;
    }
  }

  async history(beforeSeq: number | null, limit: number): Promise<History> {
    if (beforeSeq === null && this.#history) return newestOf(this.#history, limit);
    const answer = await this.send({ op: "history", ...this.#ref, beforeSeq, limit });
    if (answer.op !== "history") return { items: [], more: false, summary: null };
    const { items, more, summary, summaryDue } = answer;
    return { items, more, summary, summaryDue };
  }

  async brief(): Promise<Brief | null> {
    if (!this.#hasBrief) return null;
    this.#brief ??= await this.#requestBrief();
    return this.#brief ?? null;
  }

  async register(): Promise<string | null> {
    if (!this.#hasBrief) return null;
    if (this.#brief?.register === undefined) this.#brief = await this.#requestBrief();
    return this.#brief?.register ?? null;
  }

  async #requestBrief(): Promise<Material["brief"]> {
    const answer = await this.send({ op: "brief", ...this.#ref });
    if (answer.op !== "brief") return undefined;
    const { op: _op, id: _id, ...brief } = answer;
    return brief;
  }

  async repository(): Promise<RepositoryAccess | null> {
    const answer = await this.send({ op: "repository", ...this.#ref });
    return answer.op === "repository" ? answer.access : null;
  }

  async keepBlob({ mediaType, data }: Blob): Promise<string> {
    const answer = await this.send({ op: "blob", ...this.#ref, mediaType, data });
    if (answer.op !== "blob") throw new Error(`unexpected answer ${answer.op}`);
    return answer.sha256;
  }

  async fetchBlob(sha256: string): Promise<Blob | null> {
    const answer = await this.send({ op: "fetch_blob", ...this.#ref, sha256 });
    if (answer.op !== "blob" || answer.data === null) return null;
    return { mediaType: answer.mediaType, data: answer.data };
  }
}

function newestOf(history: History, limit: number): History {
  if (history.items.length <= limit) return history;
  return { ...history, items: history.items.slice(-limit), more: true };
}
