/** Reads an event stream as the HTML standard writes it. */
export interface ServerSentEvent {
  id: string | null;
  event: string;
  data: string;
}

export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  let fields = emptyFields();
  for await (const line of readLines(body)) {
    if (line !== "") {
      readField(fields, line);
      continue;
    }
    const { id, event, data } = fields;
    if (data.length > 0) yield { id, event: event || "message", data: data.join("\n") };
    fields = emptyFields();
  }
}

interface Fields {
  id: string | null;
  event: string;
  data: string[];
}

const emptyFields = (): Fields => ({ id: null, event: "", data: [] });

function readField(fields: Fields, line: string): void {
  const colon = line.indexOf(":");
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (name === "data") fields.data.push(value);
  else if (name === "event") fields.event = value;
  else if (name === "id") fields.id = value;
}

async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be the first half of a pair.
    const whole = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    const lines = rest.slice(0, whole).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + rest.slice(whole);
    yield* lines;
  }
}
