import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  type FormEvent,
  type KeyboardEvent,
  useDeferredValue,
  useMemo,
  useRef,
  useState,
} from "react";
import type { LetterType } from "#features/mailbox/contract.ts";
import { messageOf } from "#surfaces/web/kit/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextArea } from "#surfaces/web/kit/field.tsx";
import { inboxApi } from "#surfaces/web/kit/inbox-api.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { randomId } from "#surfaces/web/kit/random-id.ts";
import { settingsApi } from "#surfaces/web/kit/settings-api.ts";
import { useMe } from "#surfaces/web/kit/use-me.ts";
import { listedSessions } from "#surfaces/web/pages/sessions/session-list-cache.ts";
import { useSessionList } from "#surfaces/web/pages/sessions/use-session-lists.ts";
import { RecipientField } from "./recipient-field.tsx";
import { type Recipient, recipientsOf } from "./recipients.ts";
import { MAX_LETTER_CHARS } from "./reply-form.tsx";
import { refreshLetters } from "./use-letters.ts";

/** What a person writes; the rest comes from agents and the platform. */
const KINDS: Partial<Record<LetterType, string>> = {
  message: "Message",
  question: "Question: wakes an agent that sleeps",
  notification: "Notification: asks for nothing",
  escalation: "Escalation: wakes an agent that sleeps",
};

export function ComposeForm({ onSent }: { onSent: () => void }) {
  const [chosen, setChosen] = useState<Recipient>();
  const [typed, setTyped] = useState("");
  const [messageType, setMessageType] = useState<LetterType>("message");
  const [content, setContent] = useState("");
  const everybody = useEverybody(typed);
  const send = useSend(onSent);
  const to = chosen?.to ?? typed.trim();
  const isReady = to !== "" && content.trim() !== "" && !send.isPending;
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (isReady) send.mutate({ to, content, messageType });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
  };
  return (
    <form aria-label="New letter" className="space-y-3.5" onSubmit={submit} onKeyDown={onKeyDown}>
      <RecipientField
        chosen={chosen}
        typed={typed}
        everybody={everybody}
        onChoose={setChosen}
        onType={setTyped}
      />
      <SelectField
        label="Type"
        value={messageType}
        onChange={({ target }) => setMessageType(target.value as LetterType)}
      >
        {Object.entries(KINDS).map(([type, words]) => (
          <option key={type} value={type}>
            {words}
          </option>
        ))}
      </SelectField>
      <TextArea
        label="Letter"
        rows={6}
        maxLength={MAX_LETTER_CHARS}
        value={content}
        onChange={(event) => setContent(event.target.value)}
      />
      {send.isError && <InlineError>{messageOf(send.error)}</InlineError>}
      <div className="flex items-center justify-end gap-3">
        <span className="text-2xs text-ink-faint max-md:hidden">Ctrl+Enter sends</span>
        <Button type="submit" look="primary" disabled={!isReady}>
          {send.isPending ? "Sending…" : "Send"}
        </Button>
      </div>
    </form>
  );
}

function useSend(onSent: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  // Sent again after an answer that did not come, it is the same letter; a changed one is another.
  const sent = useRef({ body: "", key: "" });
  return useMutation({
    mutationFn: (body: Parameters<typeof inboxApi.send>[0]) => {
      const text = JSON.stringify(body);
      if (sent.current.body !== text) sent.current = { body: text, key: randomId() };
      return inboxApi.send(body, sent.current.key);
    },
    onSuccess: ({ letter }) => {
      onSent();
      void navigate({
        to: "/inbox/$threadId",
        params: { threadId: letter.threadId },
        search: (before: object) => ({ ...before, box: "sent" }) as never,
      });
    },
    onSettled: () => refreshLetters(queryClient),
  });
}

/** All whom one may choose from: people and agents of the organisation, and one's own sessions. */
function useEverybody(typed: string): Recipient[] {
  const me = useMe();
  const orgId = me?.org.id ?? "";
  const members = useQuery({
    queryKey: keys.members,
    queryFn: ({ signal }) => settingsApi.listMembers(orgId, signal),
  });
  const agents = useQuery({
    queryKey: keys.agents,
    queryFn: ({ signal }) => inboxApi.listAgents(signal),
  });
  const q = useDeferredValue(typed.trim().replace(/^@.*/, ""));
  const sessions = useSessionList({ q: q === "" ? undefined : q });
  return useMemo(
    () =>
      recipientsOf({
        myId: me?.user.id ?? "",
        members: members.data ?? [],
        agents: agents.data?.items ?? [],
        sessions: listedSessions(sessions.data),
      }),
    [me, members.data, agents.data, sessions.data],
  );
}
