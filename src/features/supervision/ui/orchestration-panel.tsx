import { Link } from "@tanstack/react-router";
import { Network } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import type { OrchestrationRole } from "#features/supervision/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { Pill } from "./pill.tsx";
import { SupervisorPanel } from "./supervisor-panel.tsx";
import { useMayOrchestrate, useRole, useSupervisorMode } from "./use-orchestration.ts";

/** Shows the session's role in supervisor mode and its actions, between header and transcript. */
export function OrchestrationPanel({ session }: { session: Session }) {
  const mayOrchestrate = useMayOrchestrate(session);
  return mayOrchestrate ? <Panel sessionId={session.id} /> : null;
}

function Panel({ sessionId }: { sessionId: string }) {
  const found = useRole(sessionId);
  const role = found.data;
  const section = useRef<HTMLElement>(null);
  const before = useRef(role?.role);
  useEffect(() => {
    // The pressed button is gone: keep the focus in this section.
    if (before.current !== undefined && before.current !== role?.role) section.current?.focus();
    before.current = role?.role;
  }, [role?.role]);
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label="Workers and supervisor mode"
      className="max-h-[45dvh] shrink-0 overflow-y-auto border-b border-line bg-panel outline-none"
    >
      <div className="mx-auto w-full max-w-3xl px-3 py-3 sm:px-6">
        {role === undefined && found.isError && <InlineError>{messageOf(found.error)}</InlineError>}
        {role?.role === "supervisor" && <SupervisorPanel role={role} />}
        {role?.role === "worker" && <WorkerPanel role={role} />}
        {role?.role === "standalone" && <StandalonePanel role={role} />}
      </div>
    </section>
  );
}

function StandalonePanel({ role }: { role: OrchestrationRole }) {
  const { enable } = useSupervisorMode(role.sessionId);
  return (
    <Row
      action={
        <Button
          look="primary"
          disabled={!role.mayEnable || enable.isPending}
          onClick={() => enable.mutate(undefined)}
        >
          <Network size={16} aria-hidden />
          Enable supervisor mode
        </Button>
      }
    >
      {role.mayEnable
        ? "As a supervisor, this agent can start workers in the same project, assign tasks to them and receive their results. Its current work continues."
        : "Not available: the session is archived, or it works for another session."}
    </Row>
  );
}

function WorkerPanel({ role }: { role: OrchestrationRole }) {
  return (
    <Row>
      Worker of{" "}
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: role.supervisorId ?? "" }}
        search={true}
        className="font-medium text-accent underline underline-offset-2"
      >
        {role.supervisorName ?? "its supervisor"}
      </Link>
      , which is notified when its turns end. {role.handoff && <Pill tone="accent">Handoff</Pill>}
    </Row>
  );
}

function Row({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <p className="min-w-0 flex-1 basis-64 text-ink-soft">{children}</p>
      {action}
    </div>
  );
}
