import { RotateCcw } from "lucide-react";
import { useState } from "react";
import type { Session } from "#protocol/sessions.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useRetry } from "../composer/use-retry.ts";
import { ChangeModelDialog } from "./dialogs/change-model-dialog.tsx";

interface FailureActionsProps {
  session: Session;
  /** Prompt that can be sent again; null if there is none. */
  promptId: string | null;
}

/** Buttons for a session whose last turn failed: send it again, or choose another model first. */
export function FailureActions({ session, promptId }: FailureActionsProps) {
  const retry = useRetry();
  const [isChoosing, setIsChoosing] = useState(false);
  return (
    <>
      {promptId !== null && (
        <Button
          size="small"
          disabled={retry.isPending}
          onClick={() => retry.mutate({ sessionId: session.id, promptId })}
        >
          <RotateCcw size={13} aria-hidden />
          Retry
        </Button>
      )}
      {session.runtime === "native" && (
        <Button size="small" onClick={() => setIsChoosing(true)}>
          Change model
        </Button>
      )}
      <ChangeModelDialog
        sessionId={session.id}
        model={session.model}
        promptId={promptId}
        isOpen={isChoosing}
        onClose={() => setIsChoosing(false)}
      />
    </>
  );
}
