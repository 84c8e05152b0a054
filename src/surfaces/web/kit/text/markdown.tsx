import { lazy, Suspense } from "react";

const MarkdownBody = lazy(async () => ({
  default: (await import("./markdown-body.tsx")).MarkdownBody,
}));

/** Renders untrusted markdown: raw HTML stays text. Shows plain text until the renderer is loaded. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-muster">
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <MarkdownBody text={text} />
      </Suspense>
    </div>
  );
}
