import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import type { QueueMode, Session } from "#protocol/sessions.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError, TextArea } from "#surfaces/web/kit/field.tsx";
import { randomId } from "#surfaces/web/kit/text/random-id.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

const MODES: readonly { mode: QueueMode; name: string; means: string }[] = [
  { mode: "followup", name: "After its turn", means: "Runs when the current turn is done." },
  { mode: "steer", name: "Now", means: "Ends the current turn, keeps its work, then runs this." },
];

/** Sends a message to a session without leaving the page. */
export function MessageDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const toasts = useToasts();
  const [text, setText] = useState("");
  const [mode, setMode] = useState<QueueMode>("followup");
  // The id makes a repeated request, sent after a lost answer, create the same message.
  const dispatchId = useRef(randomId());
  const send = useMutation({
    mutationFn: () =>
      api.prompts.create({
        id: session.id,
        body: { content: text, mode, dispatchId: dispatchId.current },
      }),
    onSuccess: () => {
      toasts.show("Message sent");
      onClose();
    },
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() !== "" && !send.isPending) send.mutate();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
  };
  const write = (next: string) => {
    setText(next);
    dispatchId.current = randomId();
  };
  return (
    <Modal isOpen title={`Message to ${session.title ?? UNTITLED}`} onClose={onClose}>
      <form className="space-y-3.5" onSubmit={submit} onKeyDown={onKeyDown}>
        <TextArea
          label="Message"
          data-autofocus
          rows={4}
          value={text}
          onChange={(event) => write(event.target.value)}
        />
        <fieldset className="space-y-1.5">
          <legend className="mb-1 text-xs font-medium text-ink-soft">When</legend>
          {MODES.map(({ mode: value, name, means }) => (
            <label key={value} className="flex cursor-pointer items-start gap-2.5">
              <input
                type="radio"
                name="when"
                className="mt-1 accent-(--accent)"
                checked={mode === value}
                onChange={() => setMode(value)}
              />
              <span>
                <span className="font-medium">{name}</span>{" "}
                <span className="text-ink-soft">{means}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {send.isError && <InlineError>{messageOf(send.error)}</InlineError>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={text.trim() === "" || send.isPending}>
            Send
          </Button>
        </div>
      </form>
    </Modal>
  );
}
