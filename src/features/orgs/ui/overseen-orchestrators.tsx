import { useQuery } from "@tanstack/react-query";
import type { OverseenOrchestrator } from "#features/orchestrators/contract.ts";
import type { Member } from "#features/orgs/contract.ts";
import { ActivityLabel } from "#surfaces/web/kit/activity-mark.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { List, Row } from "#surfaces/web/kit/settings/parts.tsx";
import { moneyWords } from "#surfaces/web/kit/text/money-words.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago, clockTime } from "#surfaces/web/kit/text/time-words.ts";

interface OverseenOrchestratorsProps {
  orgId: string;
  members: readonly Member[];
}

/** Lists each person's orchestrator with its state and cost, for admins. Conversations are not shown. */
export function OverseenOrchestrators({ orgId, members }: OverseenOrchestratorsProps) {
  const found = useQuery({
    queryKey: keys.overseenOrchestrators,
    queryFn: async ({ signal }) => (await api.orchestrators.oversee({ orgId }, { signal })).items,
  });
  const names = new Map(members.map(({ userId, name }) => [userId, name]));
  return (
    <List found={found} empty="No orchestrators yet.">
      {(one) => (
        <OrchestratorRow
          key={one.identity.userId}
          orchestrator={one}
          owner={names.get(one.identity.userId) ?? one.identity.userId}
        />
      )}
    </List>
  );
}

interface OrchestratorRowProps {
  orchestrator: OverseenOrchestrator;
  owner: string;
}

function OrchestratorRow({ orchestrator, owner }: OrchestratorRowProps) {
  const now = useNow(60_000);
  const { identity, session } = orchestrator;
  const facts = [
    `For ${revealLine(owner)}`,
    session?.model,
    session && moneyWords(session.cost),
    session && ago(session.updatedAt, now),
  ].filter(Boolean);
  return (
    <Row
      name={
        <>
          {revealLine(identity.name)}{" "}
          <span className="font-normal text-ink-faint">@{identity.handle}</span>
        </>
      }
      text={facts.join(" · ")}
      problem={endWords(orchestrator)}
    >
      {session && !orchestrator.needsRestart && (
        <span className="pr-1.5 text-xs">
          <ActivityLabel activity={session.activity} />
        </span>
      )}
    </Row>
  );
}

/** Returns null unless it was never started or has ended. */
function endWords({ session, needsRestart, recovery }: OverseenOrchestrator): string | null {
  if (session === null) return "Never started.";
  if (!needsRestart) return null;
  return recovery?.nextAttemptAt
    ? `Stopped. Restarts automatically at ${clockTime(recovery.nextAttemptAt)}.`
    : "Stopped. It restarts when its person sends the next message.";
}
