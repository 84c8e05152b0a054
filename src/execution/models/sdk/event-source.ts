/** Server-sent events: takes bytes as they come, returns the data of each complete event. */
import { createParser } from "eventsource-parser";

/** Sets no limit of its own: `WireGuard` bounds every line and the whole answer. */
export class EventSource {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => this.#complete.push(data) });
  #complete: string[] = [];

  push(bytes: Uint8Array): string[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }
}
