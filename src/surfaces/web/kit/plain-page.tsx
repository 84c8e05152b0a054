import type { ReactNode } from "react";
import { useDocumentTitle } from "./hooks/use-document-title.ts";
import { DrawerButton } from "./side-drawer.tsx";

interface PlainPageProps {
  title: string;
  /** Content at the right of the title. */
  aside?: ReactNode;
  children: ReactNode;
}

/** Page that is no session: a fixed title and a scrolling column beside the list. */
export function PlainPage({ title, aside, children }: PlainPageProps) {
  useDocumentTitle(title);
  return (
    <div className="h-full overflow-y-auto">
      <header className="sticky top-0 z-10 flex min-h-14 items-center gap-1 border-b border-line bg-page px-2 md:px-6">
        <DrawerButton />
        <h1 className="flex-1 text-[0.9375rem] font-semibold">{title}</h1>
        {aside}
      </header>
      <div className="mx-auto max-w-4xl space-y-6 px-4 py-6 md:px-6">{children}</div>
    </div>
  );
}
