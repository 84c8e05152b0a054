import type { ReactNode } from "react";

/** A page or pane that has only something to say. */
export function PageMessage({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="grid h-full place-items-center p-6">
      <div className="max-w-sm text-center">
        <h1 className="text-base font-semibold">{title}</h1>
        {children && <div className="mt-2 text-ink-soft">{children}</div>}
      </div>
    </div>
  );
}
