import type { ErrorComponentProps } from "@tanstack/react-router";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";

/** Shown for a bug in this page, or a part that could not be loaded after an upgrade. */
export function CrashPage({ error }: ErrorComponentProps) {
  return (
    <PageMessage title="Something went wrong on this page">
      <p>Nothing on the server is affected. Reload to continue.</p>
      <pre className="mt-3 max-h-40 overflow-auto rounded-lg bg-panel p-3 text-left text-xs whitespace-pre-wrap">
        {messageOf(error)}
      </pre>
      <Button look="primary" className="mt-4" onClick={() => location.reload()}>
        Reload
      </Button>
    </PageMessage>
  );
}
