import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Identity, MailRule } from "#features/orchestrators/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import {
  type MyOrchestrator,
  useMyOrchestrator,
} from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { List, LoadProblem, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";

const RULES: Record<MailRule, { name: string; means: string }> = {
  none: { name: "Nobody", means: "Others can message you instead." },
  list: { name: "Selected people", means: "The people below and their agents." },
  org: { name: "Everybody in the organisation", means: "People and their agents." },
};

/** Consent to others' messages. Off at first: such a message starts a turn of one's own agent. */
export function MailConsent() {
  const mine = useMyOrchestrator();
  const identity = mine.data?.identity;
  return (
    <Section
      title="Who can message your agent"
      text="Messages from others are answered in a separate conversation, in turns that can only read."
    >
      {mine.error && <LoadProblem error={mine.error} onRetry={() => void mine.refetch()} />}
      {identity === null && (
        <p className="text-ink-soft">
          You have no orchestrator yet.{" "}
          <Link to="/" search={true} className="text-accent underline underline-offset-2">
            Open your conversation
          </Link>{" "}
          to create it.
        </p>
      )}
      {identity && <Rule identity={identity} />}
    </Section>
  );
}

function Rule({ identity }: { identity: Identity }) {
  const queryClient = useQueryClient();
  const save = useChange(
    (acceptsAgentMail: MailRule) =>
      api.orchestrators.updateIdentity({ body: { acceptsAgentMail } }),
    {
      stale: keys.orchestrator,
      done: () => "Saved",
      onDone: ({ identity: saved }) =>
        queryClient.setQueryData<MyOrchestrator>(
          keys.orchestrator,
          (mine) => mine && { ...mine, identity: saved },
        ),
    },
  );
  // Shows the choice at once, and the server's value once it is known.
  const [wanted, setWanted] = useState<MailRule | null>(null);
  const rule = wanted ?? identity.acceptsAgentMail;
  const choose = (value: MailRule) => {
    setWanted(value);
    save.mutate(value, { onSettled: () => setWanted(null) });
  };
  return (
    <>
      <fieldset className="space-y-1.5">
        <legend className="sr-only">Who can message @{identity.handle}</legend>
        {(Object.keys(RULES) as MailRule[]).map((value) => (
          <label
            key={value}
            className="flex cursor-pointer items-start gap-2.5 rounded-lg border border-line bg-raised px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              name="accepts-mail"
              checked={rule === value}
              disabled={save.isPending}
              onChange={() => choose(value)}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span>
              <span className="font-medium">{RULES[value].name}</span>{" "}
              <span className="text-xs text-ink-soft">{RULES[value].means}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {save.isError && <InlineError>{messageOf(save.error)}</InlineError>}
      {rule === "list" && <Contacts />}
    </>
  );
}

function Contacts() {
  const me = useMe();
  const orgId = me?.org.id ?? "";
  const members = useQuery({
    queryKey: keys.members,
    queryFn: async ({ signal }) => (await api.orgs.listMembers({ orgId }, { signal })).items,
    select: (all) => all.filter(({ userId }) => userId !== me?.user.id),
  });
  const contacts = useQuery({
    queryKey: keys.mailContacts,
    queryFn: ({ signal }) => api.mailbox.contacts({}, { signal }),
  });
  const save = useChange(
    (userIds: readonly string[]) => api.mailbox.setContacts({ body: { userIds: [...userIds] } }),
    {
      stale: keys.mailContacts,
      failed: "Could not save the list",
    },
  );
  const known = contacts.data?.items.map(({ userId }) => userId) ?? [];
  const [wanted, setWanted] = useState<readonly string[] | null>(null);
  const chosen = new Set(wanted ?? known);
  const choose = (userId: string, isIn: boolean) => {
    const next = isIn ? [...chosen, userId] : [...chosen].filter((id) => id !== userId);
    setWanted(next);
    save.mutate(next, { onSettled: () => setWanted(null) });
  };
  if (contacts.error)
    return <LoadProblem error={contacts.error} onRetry={() => void contacts.refetch()} />;
  return (
    <fieldset disabled={contacts.data === undefined || save.isPending}>
      <legend className="mb-1 text-xs font-medium text-ink-soft">Selected people</legend>
      <List found={members} empty="Nobody else is in the organisation yet.">
        {({ userId, name, email }) => (
          <li key={userId}>
            <label className="flex cursor-pointer items-center gap-2.5 px-3.5 py-2.5 hover:bg-hover">
              <input
                type="checkbox"
                checked={chosen.has(userId)}
                onChange={(event) => choose(userId, event.target.checked)}
                className="size-4 shrink-0 accent-accent"
              />
              <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{name}</span>
              {email && <span className="truncate text-xs text-ink-faint">{email}</span>}
            </label>
          </li>
        )}
      </List>
    </fieldset>
  );
}
