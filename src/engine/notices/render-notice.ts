/** Rendering: the one place where a notice becomes text. The text is for the model alone. */
import type { Notice, NoticeKind, NoticeOf } from "#protocol/notices/notices.ts";
import type { SessionRow } from "../schema.ts";

/** Pure. `reader` is the receiving session, because agents of different kinds have different tools. */
export type NoticeRenderers = {
  readonly [K in NoticeKind]: (notice: NoticeOf<K>, reader: SessionRow) => string;
};
export type RenderNotice = (notice: Notice, reader: SessionRow) => string;

/** Each feature words the kinds that it sends; of several renderers of a kind the last one counts. */
export function createNoticeRenderer(
  parts: readonly (Partial<NoticeRenderers> | undefined)[],
): RenderNotice {
  const renderers: Partial<NoticeRenderers> = Object.assign({}, ...parts);
  return (notice, reader) => {
    const render = renderers[notice.kind] as
      | ((notice: Notice, reader: SessionRow) => string)
      | undefined;
    if (!render) throw new Error(`no feature renders notices of kind ${notice.kind}`);
    return render(notice, reader);
  };
}
