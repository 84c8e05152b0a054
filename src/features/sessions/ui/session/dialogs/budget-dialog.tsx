import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { shareSession } from "#features/sessions/ui/list/use-session-lists.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { moneyWords } from "#surfaces/web/kit/text/money-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { dollarsText, readBudget } from "./budget-text.ts";

interface BudgetDialogProps {
  session: Session;
  isOpen: boolean;
  onClose: () => void;
}

/** Shows and changes a session's budget and its memory setting. */
export function BudgetDialog({ session, isOpen, onClose }: BudgetDialogProps) {
  return (
    <Modal isOpen={isOpen} onClose={onClose} title="Budget and memory">
      {isOpen && <BudgetForm session={session} onDone={onClose} />}
    </Modal>
  );
}

function BudgetForm({ session, onDone }: { session: Session; onDone: () => void }) {
  const [text, setText] = useState(dollarsText(session.budget));
  const [remembers, setRemembers] = useState(session.enableMemory);
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const budgetId = useId();
  const budget = readBudget(text);
  const save = useMutation({
    mutationFn: () =>
      api.sessions.update({
        id: session.id,
        body: {
          ...(budget !== undefined && budget !== session.budget && { budget }),
          ...(remembers !== session.enableMemory && { enableMemory: remembers }),
        },
      }),
    onSuccess: ({ session: changed }) => {
      shareSession(queryClient, changed);
      onDone();
    },
    onError: (error) => toasts.fail("Couldn't change the session", error),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (budget !== undefined) save.mutate();
  };
  return (
    <form className="space-y-4" onSubmit={submit}>
      <div className="space-y-1">
        <label htmlFor={budgetId} className="font-medium">
          Budget in dollars
        </label>
        <input
          id={budgetId}
          data-autofocus
          inputMode="decimal"
          placeholder="no limit"
          value={text}
          aria-invalid={budget === undefined}
          onChange={(event) => setText(event.target.value)}
          className="h-9 w-full rounded-lg border border-line-strong bg-page px-3 outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base"
        />
        <p className="text-xs text-ink-faint">
          {moneyWords(session.cost)} spent so far. Child sessions share this budget.
        </p>
      </div>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={remembers}
          onChange={(event) => setRemembers(event.target.checked)}
        />
        Remember what it learns for later sessions
      </label>
      <Button type="submit" look="primary" disabled={save.isPending || budget === undefined}>
        Save
      </Button>
    </form>
  );
}
