import { memo } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";

const LINK = { target: "_blank", rel: "noreferrer noopener" };

const COMPONENTS: Components = {
  // The words of a link may say anything: where it leads is shown too.
  a: ({ href, children }) =>
    !href || href.startsWith("#") ? (
      <span>{children}</span>
    ) : (
      <a href={href} title={href} {...LINK}>
        {children}
      </a>
    ),
  // A picture would be fetched without a click, and tell its server who reads: show it as a link.
  img: ({ src, alt }) => {
    const address = typeof src === "string" ? src : "";
    if (address === "") return <span>{alt || "image"}</span>;
    return (
      <a href={address} title={address} {...LINK}>
        {alt || address}
      </a>
    );
  },
  table: ({ children }) => (
    <div className="table-frame">
      <table>{children}</table>
    </div>
  ),
};

// "~5 to ~10" is no deletion.
const PLUGINS: Options["remarkPlugins"] = [[remarkGfm, { singleTilde: false }]];

/** These make text read backwards: of no use in an answer, and of much in a deception. */
const OVERRIDES = /[\u202d\u202e]/g;

export const MarkdownBody = memo(function MarkdownBody({ text }: { text: string }) {
  return (
    <ReactMarkdown components={COMPONENTS} remarkPlugins={PLUGINS}>
      {text.replace(OVERRIDES, "\ufffd")}
    </ReactMarkdown>
  );
});
