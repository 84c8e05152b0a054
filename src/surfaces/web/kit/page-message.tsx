import type { ReactNode } from "react";

interface PageMessageProps {
  title: string;
  /** True if the page has its own heading. */
  isPart?: boolean;
  children?: ReactNode;
}

/** Shows a page or pane that contains only a message. */
export function PageMessage({ title, isPart = false, children }: PageMessageProps) {
  const Heading = isPart ? "h2" : "h1";
  return (
    <div className="grid h-full place-items-center p-6">
      <div className="max-w-sm text-center">
        <Heading className="text-base font-semibold">{title}</Heading>
        {children && <div className="mt-2 text-ink-soft">{children}</div>}
      </div>
    </div>
  );
}
