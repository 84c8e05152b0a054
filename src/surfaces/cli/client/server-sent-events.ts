/** Reads an event stream of the server. */
import { createParser } from "eventsource-parser";

export interface ServerSentEvent {
  id: string | null;
  event: string;
  data: string;
}

/** Limit of one event, which is buffered until its end comes. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let complete: ServerSentEvent[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ id = null, event = "message", data }) => complete.push({ id, event, data }),
    onError: (error) => {
      // Unknown fields are ignored, as the standard requires.
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* complete;
    complete = [];
  }
}
