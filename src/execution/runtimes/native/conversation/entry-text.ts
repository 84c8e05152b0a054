/** Earlier entries of a thread as text: their size, shortened, and as lines to be summed up. */
import type { HistoryItem } from "#protocol/frames.ts";
import { authorWords } from "../../prompt-author.ts";

type Entry = HistoryItem["item"];

/** Size of an image for a model, in characters of text. */
const IMAGE_CHARS = 6_000;
/** Limit of an attached text, in characters. */
export const MAX_ATTACHED_CHARS = 200_000;
const SHOWN_CHARS = 4_000;
const SHORTENED = "\n[… shortened …]";

export function shortenText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}${SHORTENED}`;
}

/** Size of the entry for a model, in characters. */
export function sizeOf(item: Entry): number {
  switch (item.type) {
    case "prompt":
      return item.attachments.reduce((sum, one) => sum + attachedChars(one), item.text.length);
    case "message":
    case "notice":
      return item.text.length;
    case "pre_tool":
      return jsonText(item.input).length;
    case "post_tool":
      return (
        jsonText(item.output).length +
        (item.error?.length ?? 0) +
        (item.images?.length ?? 0) * IMAGE_CHARS
      );
    default:
      return 0;
  }
}

function attachedChars({ mediaType, size }: { mediaType: string; size: number }): number {
  return mediaType.startsWith("image/") ? IMAGE_CHARS : Math.min(size, MAX_ATTACHED_CHARS);
}

/**
 * Shortens an entry that is too far back to be kept whole; null when it can be left out. The
 * provider's metadata goes too: a signature does not fit shortened text.
 */
export function clipEntry(item: Entry): Entry | null {
  switch (item.type) {
    case "prompt":
      return { ...item, text: shortenText(item.text, SHOWN_CHARS), attachments: [] };
    case "message": {
      if (item.kind === "reasoning") return null;
      const { meta: _meta, ...rest } = item;
      return { ...rest, text: shortenText(item.text, SHOWN_CHARS) };
    }
    case "pre_tool": {
      const { meta: _meta, ...rest } = item;
      const text = jsonText(item.input);
      return text.length <= SHOWN_CHARS
        ? rest
        : { ...rest, input: { shortened: text.slice(0, SHOWN_CHARS) } };
    }
    case "post_tool": {
      const { images: _images, ...rest } = item;
      const output = shortenText(plainText(item.output), SHOWN_CHARS);
      const error = item.error === null ? null : shortenText(item.error, SHOWN_CHARS);
      return { ...rest, input: null, output, error };
    }
    default:
      return null;
  }
}

/** Line of an entry for the model that sums up; empty when there is nothing to tell. */
export function lineOf(item: Entry): string {
  switch (item.type) {
    case "prompt": {
      const attached = item.attachments.map(({ name }) => ` [attached: ${name}]`).join("");
      const { author } = item;
      // The session's owner is not known here: the name of a person is enough.
      const family = { ownerId: author.id, parentSessionId: null };
      const from = authorWords(author, family) ?? author.name;
      return `${from}: ${shorten(item.text)}${shorten(attached)}`;
    }
    case "message":
      return item.kind === "text" ? `agent: ${shorten(item.text)}` : "";
    case "pre_tool":
      return `agent calls ${item.tool}: ${shorten(jsonText(item.input))}`;
    case "post_tool":
      return `${item.tool} gives: ${shorten(item.error ?? plainText(item.output))}`;
    default:
      return "";
  }
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)} …` : text;
}

function plainText(value: unknown): string {
  return typeof value === "string" ? value : jsonText(value);
}

function jsonText(value: unknown): string {
  return JSON.stringify(value ?? null);
}
