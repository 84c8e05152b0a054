import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Session } from "#protocol/sessions.ts";
import { ActivityLabel } from "#surfaces/web/kit/activity-mark.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import {
  useMyOrchestrator,
  useOrchestratorSession,
} from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { LoadProblem, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { moneyWords, plural } from "#surfaces/web/kit/text/money-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { IdentityForm } from "./identity-form.tsx";
import { PreferencesForm } from "./orchestrator-preferences.tsx";

/** Identity and preferences of one's orchestrator, and its restart. */
export function OrchestratorTab() {
  const mine = useMyOrchestrator();
  const session = useOrchestratorSession();
  if (mine.isError) return <LoadProblem error={mine.error} onRetry={() => void mine.refetch()} />;
  if (mine.data === undefined) return <p className="text-ink-faint">Loading…</p>;
  const { identity, needsRestart } = mine.data;
  if (identity === null) {
    return (
      <p className="rounded-xl border border-dashed border-line-strong px-4 py-8 text-center text-ink-soft">
        You have no orchestrator yet.{" "}
        <Link to="/" search={true} className="text-accent underline underline-offset-2">
          Start a conversation
        </Link>{" "}
        to create it.
      </p>
    );
  }
  return (
    <>
      <Section
        title="Your orchestrator"
        text="The agent you talk to. It answers you, or delegates work to other agents and reports back."
      >
        <IdentityForm key={identity.updatedAt} identity={identity} />
      </Section>
      <PreferencesForm />
      {session && <Life session={session} needsRestart={needsRestart} />}
    </>
  );
}

function Life({ session, needsRestart }: { session: Session; needsRestart: boolean }) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const [isAsking, setIsAsking] = useState(false);
  const restart = useMutation({
    mutationFn: () => api.orchestrators.restart({ body: { force: true } }),
    onSuccess: () => toasts.show("Orchestrator restarted"),
    onError: (error) => toasts.fail("Couldn't restart the orchestrator", error),
    onSettled: () => {
      setIsAsking(false);
      void queryClient.invalidateQueries({ queryKey: keys.orchestrator });
      void queryClient.invalidateQueries({ queryKey: keys.session(session.id) });
    },
  });
  return (
    <Section
      title="State"
      text="Keeps running when you close the page, and restarts automatically."
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-line bg-raised px-3.5 py-3">
        <div className="min-w-0 flex-1 basis-56 space-y-0.5">
          <p className="text-[0.8125rem] font-medium">
            {needsRestart ? "Stopped" : <ActivityLabel activity={session.activity} />}
          </p>
          <p className="text-xs text-ink-faint">
            {incarnationWords(session.incarnation)} · {moneyWords(session.cost)} so far
          </p>
        </div>
        <Button disabled={restart.isPending} onClick={() => setIsAsking(true)}>
          Restart
        </Button>
      </div>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Restart your orchestrator?"
        text={
          needsRestart
            ? "It restarts and keeps its conversation."
            : "The running turn is stopped. Its queue and its child sessions stay."
        }
        action="Restart"
        isBusy={restart.isPending}
        onConfirm={() => restart.mutate()}
      />
    </Section>
  );
}

function incarnationWords(incarnation: number): string {
  return incarnation <= 1 ? "Never restarted" : `Restarted ${plural(incarnation - 1, "time")}`;
}
