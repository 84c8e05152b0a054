/**
 * A notice as it is kept and shown: the whole of what somebody wrote stands in the rendered text and
 * in the rows it came from, so the notice itself keeps only beginnings. Pure.
 */
import type { Notice, WorkerEventPayload } from "#protocol/notices/notices.ts";

const EXCERPT_CHARS = 500;

export function shortenNotice(notice: Notice): Notice {
  switch (notice.kind) {
    case "children":
      return {
        ...notice,
        items: notice.items.map((item) => ({ ...item, payload: shortenPayload(item.payload) })),
      };
    case "messages":
      return {
        ...notice,
        items: notice.items.map((item) => ({ ...item, text: excerpt(item.text) })),
      };
    case "board":
      return notice;
    default:
      return { ...notice, text: excerpt(notice.text) };
  }
}

function shortenPayload({ choices: _, ...payload }: WorkerEventPayload): WorkerEventPayload {
  const { text, summary, questions } = payload;
  const isCut = text !== undefined && text.length > EXCERPT_CHARS;
  return {
    ...payload,
    ...(isCut && { text: excerpt(text), isCut, length: payload.length ?? text.length }),
    ...(summary !== undefined && { summary: excerpt(summary) }),
    ...(questions !== undefined && { questions: questions.map(excerpt) }),
  };
}

function excerpt(text: string): string {
  return text.length <= EXCERPT_CHARS ? text : text.slice(0, EXCERPT_CHARS).toWellFormed();
}
