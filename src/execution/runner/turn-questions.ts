/** What a turn asks its server for while it works: entries, what to read, blobs, its repository. */
import type { Blob, Brief, History } from "#execution/runtimes/runtime.ts";
import type { ServerFrame } from "#protocol/frames.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import type { Link, RunRef, Unnumbered } from "./link.ts";

export class TurnQuestions {
  readonly #link: Link;
  readonly #ref: RunRef;
  #open = 0;

  constructor(link: Link, ref: RunRef) {
    this.#link = link;
    this.#ref = ref;
  }

  /** Whether some have no answer yet. */
  get areOpen(): boolean {
    return this.#open > 0;
  }

  async ask(question: Unnumbered): Promise<ServerFrame> {
    this.#open++;
    try {
      return await this.#link.request(question);
    } finally {
      this.#open--;
    }
  }

  async history(beforeSeq: number | null, limit: number): Promise<History> {
    const answer = await this.ask({ op: "history", ...this.#ref, beforeSeq, limit });
    if (answer.op !== "history") return { items: [], more: false, summary: null };
    return { items: answer.items, more: answer.more, summary: answer.summary };
  }

  async brief(): Promise<Brief | null> {
    const answer = await this.ask({ op: "brief", ...this.#ref });
    if (answer.op !== "brief") return null;
    const { op: _op, id: _id, ...brief } = answer;
    return brief;
  }

  async repository(): Promise<RepositoryAccess | null> {
    const answer = await this.ask({ op: "repository", ...this.#ref });
    return answer.op === "repository" ? answer.access : null;
  }

  async keepBlob({ mediaType, data }: Blob): Promise<string> {
    const answer = await this.ask({ op: "blob", ...this.#ref, mediaType, data });
    if (answer.op !== "blob") throw new Error(`unexpected answer ${answer.op}`);
    return answer.sha256;
  }

  async fetchBlob(sha256: string): Promise<Blob | null> {
    const answer = await this.ask({ op: "fetch_blob", ...this.#ref, sha256 });
    if (answer.op !== "blob" || answer.data === null) return null;
    return { mediaType: answer.mediaType, data: answer.data };
  }
}
