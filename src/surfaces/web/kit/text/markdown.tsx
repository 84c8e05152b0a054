import { lazy, Suspense } from "react";

const MarkdownBody = lazy(async () => ({
  default: (await import("./markdown-body.tsx")).MarkdownBody,
}));

/** Markdown from a model: never trusted, so raw HTML stays text. Plain text is shown until the renderer is here. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-muster">
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <MarkdownBody text={text} />
      </Suspense>
    </div>
  );
}
