import { Network } from "lucide-react";
import type { Session } from "#protocol/sessions.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useMayOrchestrate, useRole } from "./use-orchestration.ts";

interface OrchestrationButtonProps {
  session: Session;
  isOpen: boolean;
  onClick: () => void;
}

/** Shows the button where supervisor mode exists, with the count of pending notices. */
export function OrchestrationButton({ session, ...rest }: OrchestrationButtonProps) {
  return useMayOrchestrate(session) ? <Shown sessionId={session.id} {...rest} /> : null;
}

function Shown({
  sessionId,
  isOpen,
  onClick,
}: Omit<OrchestrationButtonProps, "session"> & { sessionId: string }) {
  const role = useRole(sessionId).data;
  const pending = role?.pending ?? 0;
  const leads = role !== undefined && role.role !== "standalone";
  return (
    <Button
      look={isOpen ? "plain" : "ghost"}
      aria-pressed={isOpen}
      title="Supervisor mode and workers"
      onClick={onClick}
      className="max-md:!px-2.5"
    >
      <Network size={17} aria-hidden className={leads ? "text-accent" : undefined} />
      <span className="max-md:sr-only">Workers</span>
      {pending > 0 && (
        <span className="rounded-full bg-warn-soft px-1.5 text-2xs text-warn">
          {pending}
          <span className="sr-only"> pending</span>
        </span>
      )}
    </Button>
  );
}
