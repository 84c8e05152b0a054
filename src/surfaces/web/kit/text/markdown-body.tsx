import { memo, type ReactNode } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { foreignLink } from "./foreign-link.ts";

const LINK = { target: "_blank", rel: "noreferrer noopener" };

/** Shows the target of a link too, because its text may say anything. */
function ForeignLink({ address, children }: { address: string; children: ReactNode }) {
  const target = foreignLink(address, location.origin);
  if (target === undefined) return <span>{children}</span>;
  return (
    <a href={target} title={target} {...LINK}>
      {children}
    </a>
  );
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <ForeignLink address={href ?? ""}>{children}</ForeignLink>,
  // An image would load without a click, and tell its server who reads: show it as a link.
  img: ({ src, alt }) => {
    const address = typeof src === "string" ? src : "";
    return <ForeignLink address={address}>{alt || address || "image"}</ForeignLink>;
  },
  table: ({ children }) => (
    <div className="table-frame">
      <table>{children}</table>
    </div>
  ),
};

// Single tildes are no deletion: "~5 to ~10".
const PLUGINS: Options["remarkPlugins"] = [[remarkGfm, { singleTilde: false }]];

/** Direction overrides: useless in an answer, useful for deception. */
const OVERRIDES = /[\u202d\u202e]/g;

export const MarkdownBody = memo(function MarkdownBody({ text }: { text: string }) {
  return (
    <ReactMarkdown components={COMPONENTS} remarkPlugins={PLUGINS}>
      {text.replace(OVERRIDES, "\ufffd")}
    </ReactMarkdown>
  );
});
