/** Server-sent events: takes bytes as they come, gives the data of each event that is complete. */

export class EventSource {
  readonly #decoder = new TextDecoder();
  /** The beginning of a line whose end has not come yet. */
  #rest = "";
  #data: string[] = [];

  push(bytes: Uint8Array): string[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const complete: string[] = [];
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#takeLine(this.#rest + text.slice(from, end), complete);
      this.#rest = "";
      from = end + 1;
    }
    this.#rest += text.slice(from);
    return complete;
  }

  #takeLine(ended: string, complete: string[]): void {
    const line = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
    if (line === "") {
      if (this.#data.length > 0) complete.push(this.#data.join("\n"));
      this.#data = [];
    } else if (line.startsWith("data:")) {
      this.#data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    }
  }
}
