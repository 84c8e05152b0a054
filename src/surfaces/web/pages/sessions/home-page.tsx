import { useDocumentTitle } from "#surfaces/web/kit/use-document-title.ts";
import { NewSessionForm } from "./new-session-form.tsx";

/** Beside the list, when no session is open: the shortest way to a new one. */
export function HomePage() {
  useDocumentTitle("Sessions");
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-xl px-6 pt-[16vh] pb-10">
        <h1 className="text-2xl font-semibold tracking-tight">What should be done?</h1>
        <p className="mt-1.5 mb-6 text-ink-soft">
          Start a session, or pick one from the list. You can close this page at any time: the work
          goes on.
        </p>
        <NewSessionForm takesFocus={false} />
      </div>
    </div>
  );
}
