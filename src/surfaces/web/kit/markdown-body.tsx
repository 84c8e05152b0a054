import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // A picture from elsewhere would tell that server who reads: show it as a link.
  img: ({ src, alt }) => {
    const address = typeof src === "string" ? src : "";
    if (address.startsWith("/") && !address.startsWith("//"))
      return <img src={address} alt={alt ?? ""} />;
    return (
      <a href={address} target="_blank" rel="noreferrer noopener">
        {alt || address || "image"}
      </a>
    );
  },
};

/** These make text read backwards: of no use in an answer, and of much in a deception. */
const OVERRIDES = /[\u202d\u202e]/g;

export const MarkdownBody = memo(function MarkdownBody({ text }: { text: string }) {
  return <ReactMarkdown components={COMPONENTS}>{text.replace(OVERRIDES, "\ufffd")}</ReactMarkdown>;
});
