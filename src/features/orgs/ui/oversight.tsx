import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Member } from "#features/orgs/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import type { OverseenSession } from "#protocol/sessions.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { Badge, List, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { moneyWords } from "#surfaces/web/kit/text/money-words.ts";
import { ago, until } from "#surfaces/web/kit/text/time-words.ts";
import { OverseenOrchestrators } from "./overseen-orchestrators.tsx";

/** Lists kept data and everybody's sessions, for admins. Loaded on request. */
export function Oversight({ orgId, members }: { orgId: string; members: readonly Member[] }) {
  return (
    <>
      <OnDemand title="Former members" text="Their data is kept until you purge it.">
        <FormerMembers orgId={orgId} />
      </OnDemand>
      <OnDemand
        title="All orchestrators"
        text="State and cost of each. Conversations are not shown."
      >
        <OverseenOrchestrators orgId={orgId} members={members} />
      </OnDemand>
      <OnDemand
        title="All sessions"
        text="State and cost of each. To read one, give a reason; its owner is notified."
      >
        <Sessions orgId={orgId} members={members} />
      </OnDemand>
    </>
  );
}

function OnDemand({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const [isShown, setIsShown] = useState(false);
  return (
    <Section
      title={title}
      text={text}
      aside={
        <Button size="small" aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>
          {isShown ? "Hide" : "Show"}
        </Button>
      }
    >
      {isShown && children}
    </Section>
  );
}

/** Short polling interval, because a purge progresses by itself. */
const PURGING_REFETCH_MS = 2_000;

function FormerMembers({ orgId }: { orgId: string }) {
  const left = useQuery({
    queryKey: keys.removedMembers,
    queryFn: async ({ signal }) => {
      const query = { removed: "true" } as const;
      const { items } = await api.orgs.listMembers({ orgId, query }, { signal });
      return items.filter(({ state }) => state !== "here");
    },
    refetchInterval: ({ state }) =>
      state.data?.some((one) => one.state === "purging") ? PURGING_REFETCH_MS : false,
  });
  return (
    <List found={left} empty="No former members.">
      {(member) => <FormerMemberRow key={member.userId} orgId={orgId} member={member} />}
    </List>
  );
}

function FormerMemberRow({ orgId, member }: { orgId: string; member: Member }) {
  const { userId, name, email, state } = member;
  const purge = useChange(
    (confirm: string) => api.orgs.purgeMember({ orgId, userId, body: { confirm } }),
    {
      stale: keys.removedMembers,
      done: () => "Removing their data",
    },
  );
  return (
    <Row
      name={
        <>
          {name}
          {state !== "removed" && <Badge>{state}</Badge>}
        </>
      }
      text={email ?? userId}
    >
      {state === "removed" && (
        <ConfirmByTyping
          label={`Purge ${name}`}
          text="Their sessions, private personas, secrets, keys and rules are deleted permanently. This cannot be undone."
          field="Type their name or e-mail address"
          action="Purge permanently"
          change={purge}
        />
      )}
    </Row>
  );
}

function Sessions({ orgId, members }: { orgId: string; members: readonly Member[] }) {
  const sessions = useQuery({
    queryKey: keys.overseen,
    queryFn: async ({ signal }) =>
      (await api.orgs.listSessions({ orgId, query: { limit: PAGE_LIMIT_MAX } }, { signal })).items,
  });
  const names = new Map(members.map(({ userId, name }) => [userId, name]));
  return (
    <List found={sessions} empty="No sessions.">
      {(session) => (
        <SessionRow
          key={session.id}
          orgId={orgId}
          session={session}
          owner={names.get(session.ownerId ?? "") ?? session.ownerId ?? "The organisation"}
        />
      )}
    </List>
  );
}

interface SessionRowProps {
  orgId: string;
  session: OverseenSession;
  owner: string;
}

function SessionRow({ orgId, session, owner }: SessionRowProps) {
  const now = useNow(60_000);
  const { id, kind, activity, cost, updatedAt, openUntil } = session;
  const open = useChange(
    (reason: string) => api.orgs.openSession({ orgId, sessionId: id, body: { reason } }),
    {
      stale: keys.overseen,
      done: () => "You can read the session for an hour",
    },
  );
  const left = openUntil === null ? "" : until(openUntil, now);
  return (
    <Row
      name={owner}
      text={[kind, activity, moneyWords(cost), ago(updatedAt, now), id].join(" · ")}
    >
      {left === "" ? (
        <ConfirmByTyping
          label={`Open a session of ${owner}`}
          text="You can read it for an hour. Its owner sees that you opened it, and your reason."
          field="Reason"
          action="Open"
          change={open}
        />
      ) : (
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: id }}
          search={true}
          className="text-xs font-medium text-accent hover:underline"
        >
          Read (access ends {left})
        </Link>
      )}
    </Row>
  );
}

interface ConfirmByTypingProps {
  label: string;
  text: string;
  /** Label of the text that has to be typed first. */
  field: string;
  action: string;
  change: {
    isPending: boolean;
    isError: boolean;
    error: Error | null;
    mutate(typed: string, options: { onSuccess: () => void }): void;
  };
}

/** Asks for a text typed by hand before an action. */
function ConfirmByTyping({ label, text, field, action, change }: ConfirmByTypingProps) {
  const [isAsking, setIsAsking] = useState(false);
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const close = () => {
      setIsAsking(false);
      setTyped("");
    };
    change.mutate(typed.trim(), { onSuccess: close });
  };
  return (
    <>
      <Button size="small" aria-label={label} onClick={() => setIsAsking(true)}>
        {action}…
      </Button>
      <Modal isOpen={isAsking} onClose={() => setIsAsking(false)} title={label}>
        <form aria-label={label} className="space-y-3" onSubmit={submit}>
          <p className="text-ink-soft">{text}</p>
          <TextField
            label={field}
            required
            minLength={3}
            maxLength={300}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          {change.isError && <InlineError>{messageOf(change.error)}</InlineError>}
          <div className="flex justify-end">
            <Button type="submit" look="danger" disabled={change.isPending || typed.trim() === ""}>
              {action}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
