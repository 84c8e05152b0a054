import { clsx } from "clsx";
import { ClipboardList } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { isRecord } from "#surfaces/web/kit/api/api-client.ts";
import { type Approval, shownOf } from "#surfaces/web/kit/approval.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { focusOnMount } from "#surfaces/web/kit/hooks/focus-on-mount.ts";
import { type ReadGate, ReadScope, useReadGate } from "#surfaces/web/kit/read-gate.tsx";
import { Revealed } from "#surfaces/web/kit/text/revealed.tsx";
import { CallInFull } from "./call-in-full.tsx";
import { CardFrame, UNARMED } from "./card-frame.tsx";
import { Unread } from "./unread.tsx";
import { useAnswer, useArmed } from "./use-approvals.ts";

type Step = "choose" | "revise" | "deny";

/** Shows an agent's plan; the agent does nothing before somebody approves it. */
export function PlanCard({ approval }: { approval: Approval }) {
  const { tool, input } = shownOf(approval);
  const [step, setStep] = useState<Step>("choose");
  const isArmed = useArmed();
  const { answer, isBusy, problem } = useAnswer(approval);
  const { summary, ...rest } = isRecord(input) ? input : { summary: null, input };
  const gate = useReadGate(approval.id);
  return (
    <CardFrame
      approval={approval}
      icon={<ClipboardList size={17} aria-hidden />}
      title="Approve this plan?"
      problem={problem}
    >
      {typeof summary === "string" && (
        <p dir="auto" className="font-medium break-words">
          <Revealed text={summary} />
        </p>
      )}
      <ReadScope gate={gate}>
        <CallInFull tool={tool} input={rest} />
      </ReadScope>
      {step === "choose" ? (
        <Choices
          isWaiting={!isArmed || isBusy}
          unarmedStyle={isArmed ? "" : UNARMED}
          gate={gate}
          onApprove={() => answer({ decision: "allow" })}
          onStep={setStep}
        />
      ) : (
        <WordsForm
          key={step}
          step={step}
          isBusy={isBusy}
          onCancel={() => setStep("choose")}
          onSend={(words) => answer({ decision: step, ...(words === "" ? {} : { reason: words }) })}
        />
      )}
    </CardFrame>
  );
}

interface ChoicesProps {
  isWaiting: boolean;
  unarmedStyle: string;
  gate: ReadGate;
  onApprove: () => void;
  onStep: (step: Step) => void;
}

function Choices({ isWaiting, unarmedStyle, gate, onApprove, onStep }: ChoicesProps) {
  const unreadId = useId();
  return (
    <div className="@container">
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          className={clsx("@max-[30rem]:w-full", gate.isRead && unarmedStyle)}
          disabled={isWaiting || !gate.isRead}
          aria-describedby={unreadId}
          onClick={onApprove}
        >
          Approve
        </Button>
        <Button
          className={clsx("@max-[30rem]:flex-1", unarmedStyle)}
          disabled={isWaiting}
          onClick={() => onStep("revise")}
        >
          Request changes…
        </Button>
        <Button
          look="danger"
          className={clsx("@max-[30rem]:flex-1 @min-[30rem]:ml-auto", unarmedStyle)}
          disabled={isWaiting}
          onClick={() => onStep("deny")}
        >
          Reject…
        </Button>
      </div>
      <Unread id={unreadId} gate={gate} what="Approve" />
    </div>
  );
}

const WORDS = {
  revise: {
    label: "What to change",
    hint: "What to change; the agent will present a new plan",
    send: "Request changes",
  },
  deny: {
    label: "Reason (sent to the agent)",
    hint: "Reason (optional, sent to the agent)",
    send: "Reject",
  },
} as const;

interface WordsFormProps {
  step: keyof typeof WORDS;
  isBusy: boolean;
  onCancel: () => void;
  onSend: (words: string) => void;
}

/** Requires a comment: a plan sent back without one would only be presented again. */
function WordsForm({ step, isBusy, onCancel, onSend }: WordsFormProps) {
  const [words, setWords] = useState("");
  const { label, hint, send } = WORDS[step];
  const isMissing = step === "revise" && words.trim() === "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isMissing) onSend(words.trim());
  };
  return (
    <form className="space-y-2" onSubmit={submit}>
      <textarea
        ref={focusOnMount}
        aria-label={label}
        placeholder={hint}
        rows={3}
        maxLength={4_000}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onCancel()}
        className="block w-full resize-y rounded-lg border border-line-strong bg-page px-3 py-2 outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base"
      />
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          look={step === "deny" ? "danger" : "primary"}
          disabled={isBusy || isMissing}
          className="max-sm:flex-1"
        >
          {send}
        </Button>
        <Button look="ghost" onClick={onCancel} disabled={isBusy}>
          Back
        </Button>
      </div>
    </form>
  );
}
