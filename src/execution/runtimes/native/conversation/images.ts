/**
 * Images of a conversation. Providers refuse requests that are too large, and an image is much
 * larger than the text about it: only the newest ones are sent, words replace the others.
 */
import type { ModelMessage, UserPart } from "#execution/models/model.ts";
import type { ImageRef } from "#protocol/events.ts";

/** Limit of base64 characters over the whole conversation. */
const MAX_IMAGE_CHARS = 8_000_000;

export const IMAGE_BEFORE = "[an image that was shown earlier]";
const IMAGE_GONE = "[an image that is no longer kept]";
const IMAGE_TOO_LARGE = "[an image that is too large to be shown]";

/** Fetches the content of an image or a text file; null when it is gone. */
export type FetchContent = (sha256: string) => Promise<{ mediaType: string; data: string } | null>;

type ImagePart = Extract<UserPart, { type: "image" }>;

export class ImageBudget {
  readonly #fetch: FetchContent;
  readonly #maxChars: number;
  /** Images that have their place in a message and are not fetched yet. */
  readonly #unfetched = new Map<UserPart, string>();

  constructor(fetch: FetchContent, maxChars = MAX_IMAGE_CHARS) {
    this.#fetch = fetch;
    this.#maxChars = maxChars;
  }

  /** Placeholder for an image, filled when the conversation is sent. */
  put({ sha256, mediaType }: ImageRef): UserPart {
    const part: UserPart = { type: "image", mediaType, data: "" };
    this.#unfetched.set(part, sha256);
    return part;
  }

  /** Fetches the newest images that fit; words replace the others, which are never fetched. */
  async fill(messages: readonly ModelMessage[]): Promise<void> {
    let leftChars = this.#maxChars;
    for (const message of messages.toReversed()) {
      const contents = contentsOf(message);
      if (leftChars > 0) await this.#fetchAll(contents);
      for (const content of contents.toReversed()) leftChars = this.#fit(content, leftChars);
    }
  }

  async #fetchAll(contents: readonly UserPart[][]): Promise<void> {
    const wanted = contents.flat().filter((part) => part.type === "image");
    await Promise.all(wanted.map((part) => this.#fetchOne(part)));
  }

  async #fetchOne(part: ImagePart): Promise<void> {
    const sha256 = this.#unfetched.get(part);
    if (sha256 === undefined) return;
    part.data = (await this.#fetch(sha256))?.data ?? "";
    this.#unfetched.delete(part);
  }

  /** Size left after the images of this content; 0 once one did not fit, so that none older is kept. */
  #fit(content: UserPart[], leftChars: number): number {
    let left = leftChars;
    for (const [index, part] of [...content.entries()].reverse()) {
      if (part.type !== "image") continue;
      const { length } = part.data;
      const why = this.#whyNot(part, left);
      if (why === null) left -= length;
      else {
        content[index] = { type: "text", text: why };
        this.#unfetched.delete(part);
        if (why === IMAGE_BEFORE) left = 0;
      }
    }
    return left;
  }

  #whyNot(part: ImagePart, leftChars: number): string | null {
    if (this.#unfetched.has(part)) return IMAGE_BEFORE;
    const { length } = part.data;
    if (length === 0) return IMAGE_GONE;
    if (length > this.#maxChars) return IMAGE_TOO_LARGE;
    return length > leftChars ? IMAGE_BEFORE : null;
  }
}

function contentsOf(message: ModelMessage): UserPart[][] {
  if (message.role === "user") return [message.content];
  return message.role === "tool" ? message.content.map(({ content }) => content) : [];
}
