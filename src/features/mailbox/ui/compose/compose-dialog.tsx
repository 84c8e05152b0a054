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
import type { MessageType, NewMessage } from "#features/mailbox/contract.ts";
import { listedSessions } from "#features/sessions/ui/list/session-list-cache.ts";
import { useSessionList } from "#features/sessions/ui/list/use-session-lists.ts";
import { ApiError, api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextArea } from "#surfaces/web/kit/field.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { keepForm, readForm } from "#surfaces/web/kit/prompts/kept-form.ts";
import { randomId } from "#surfaces/web/kit/text/random-id.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { refreshMessages } from "../use-messages.ts";
import { RecipientField } from "./recipient-field.tsx";
import { type Recipient, recipientsOf } from "./recipients.ts";
import { MAX_MESSAGE_CHARS } from "./reply-form.tsx";

/** Message types that a person can write; agents and the platform write the others. */
const KINDS: Partial<Record<MessageType, string>> = {
  message: "Message",
  question: "Question: wakes a sleeping agent",
  notification: "Notification: needs no reply",
  escalation: "Escalation: wakes a sleeping agent",
};

interface MessageDraft {
  chosen: Recipient | null;
  typed: string;
  messageType: MessageType;
  content: string;
}

const EMPTY: MessageDraft = { chosen: null, typed: "", messageType: "message", content: "" };
const DRAFT_KEY = "new message";

/** Keeps the draft when the dialog is closed without sending. */
export function ComposeForm({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(() => readForm(DRAFT_KEY, EMPTY));
  const { chosen, typed, messageType, content } = draft;
  const set = (change: Partial<MessageDraft>) => {
    const next = { ...draft, ...change };
    setDraft(next);
    keepForm(DRAFT_KEY, next);
  };
  const drop = () => {
    keepForm(DRAFT_KEY, null);
    onClose();
  };
  const nextField = useRef<HTMLSelectElement>(null);
  const allRecipients = useRecipients(typed);
  const send = useSend(drop);
  const instead = ownerInstead(send.error, allRecipients);
  const choose = (recipient: Recipient | undefined) => {
    set({ chosen: recipient ?? null });
    send.reset();
    // The field that had the focus is gone: focus the next one.
    if (recipient) nextField.current?.focus();
  };
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
    <form aria-label="New message" className="space-y-3.5" onSubmit={submit} onKeyDown={onKeyDown}>
      <RecipientField
        chosen={chosen ?? undefined}
        typed={typed}
        everybody={allRecipients}
        onChoose={choose}
        onType={(text) => set({ typed: text })}
      />
      <SelectField
        label="Type"
        ref={nextField}
        value={messageType}
        onChange={({ target }) => set({ messageType: target.value as MessageType })}
      >
        {Object.entries(KINDS).map(([type, words]) => (
          <option key={type} value={type}>
            {words}
          </option>
        ))}
      </SelectField>
      <TextArea
        label="Message"
        rows={6}
        maxLength={MAX_MESSAGE_CHARS}
        value={content}
        onChange={(event) => set({ content: event.target.value })}
      />
      {send.isError && (
        <InlineError>
          {instead ? "This agent does not accept your messages." : messageOf(send.error)}
        </InlineError>
      )}
      {instead && (
        <Button onClick={() => choose(instead)}>Send to {revealLine(instead.name)} instead</Button>
      )}
      <div className="flex items-center justify-end gap-3">
        <span className="mr-auto text-2xs text-ink-faint max-md:hidden">Ctrl+Enter to send</span>
        {JSON.stringify(draft) !== JSON.stringify(EMPTY) && (
          <Button look="ghost" onClick={drop}>
            Discard
          </Button>
        )}
        <Button type="submit" look="primary" disabled={!isReady}>
          {send.isPending ? "Sending…" : "Send"}
        </Button>
      </div>
    </form>
  );
}

/** Finds the owner of an agent that does not accept the message: the owner can be written to instead. */
function ownerInstead(
  error: Error | null,
  allRecipients: readonly Recipient[],
): Recipient | undefined {
  if (!(error instanceof ApiError) || error.code !== "mail_not_accepted") return undefined;
  return allRecipients.find(({ kind, to }) => kind === "person" && error.message.includes(to));
}

function useSend(onSent: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  // A request repeated after a lost answer has the same key and creates one message.
  const sent = useRef({ body: "", key: "" });
  return useMutation({
    mutationFn: (body: NewMessage) => {
      const text = JSON.stringify(body);
      if (sent.current.body !== text) sent.current = { body: text, key: randomId() };
      return api.mailbox.send({ body }, { idempotencyKey: sent.current.key });
    },
    onSuccess: ({ message }) => {
      onSent();
      void navigate({
        to: "/inbox/$threadId",
        params: { threadId: message.threadId },
        search: (before: object) => ({ ...before, box: "sent" }) as never,
      });
    },
    onSettled: () => refreshMessages(queryClient),
  });
}

/** Lists all possible recipients: people and agents of the organisation, and one's own sessions. */
function useRecipients(typed: string): Recipient[] {
  const me = useMe();
  const orgId = me?.org.id ?? "";
  const members = useQuery({
    queryKey: keys.members,
    queryFn: async ({ signal }) => (await api.orgs.listMembers({ orgId }, { signal })).items,
  });
  const agents = useQuery({
    queryKey: keys.agents,
    queryFn: ({ signal }) => api.orchestrators.listAgents({}, { signal }),
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
