import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Eraser } from "lucide-react";
import { createContext, type ReactNode, useContext, useState } from "react";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { forgetRedacted } from "./forget-redacted.ts";

interface RedactionTarget {
  entryId: string;
  /** Name in the question, such as "this prompt". */
  what: string;
}

const AskContext = createContext<(target: RedactionTarget) => void>(() => {});

/** Asks for confirmation before an entry is redacted, for all rows of one session. */
export function RedactProvider({
  sessionId,
  children,
}: {
  sessionId: string;
  children: ReactNode;
}) {
  const [target, setTarget] = useState<RedactionTarget>();
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const redact = useMutation({
    mutationFn: (entryId: string) => api.sessions.redactEntry({ id: sessionId, entryId }),
    onSuccess: ({ redacted }) => {
      setTarget(undefined);
      toasts.show("Content removed");
      forgetRedacted(queryClient, sessionId, redacted);
    },
    onError: (error) => {
      setTarget(undefined);
      toasts.fail("Couldn't remove the content", error);
    },
  });
  return (
    <AskContext.Provider value={setTarget}>
      {children}
      <Confirm
        isOpen={target !== undefined}
        onClose={() => setTarget(undefined)}
        title={`Remove ${target?.what ?? "this"} permanently?`}
        text={
          <>
            <span className="mb-2 block">
              Its text is overwritten here, in search, in what the agent reads from now on, and in
              messages that a call wrote. This cannot be undone.
            </span>
            These stay: its time, the tool name and a note that you removed it; the session title;
            changed files and their diffs; copies that other agents have read; chat messages;
            backups; and the provider's logs. If it contained a secret, change that secret.
          </>
        }
        action="Remove permanently"
        isBusy={redact.isPending}
        onConfirm={() => target && redact.mutate(target.entryId)}
      />
    </AskContext.Provider>
  );
}

/** Adds a button beside a row that redacts it. */
export function Redactable({ entryId, what, children }: RedactionTarget & { children: ReactNode }) {
  const ask = useContext(AskContext);
  const label = `Remove ${what}`;
  return (
    // A tap counts as :hover until the next tap; Tailwind's `hover:` would require a pointer.
    <div className="relative [&:hover>button]:opacity-100">
      {children}
      <button
        type="button"
        aria-label={label}
        title={label}
        onClick={() => ask({ entryId, what })}
        className="absolute top-1 -right-6 grid size-6 place-items-center rounded-md bg-page text-ink-faint opacity-0 hover:bg-hover hover:text-bad focus-visible:opacity-100 max-sm:-right-3.5"
      >
        <Eraser size={13} aria-hidden />
      </button>
    </div>
  );
}
