import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ShieldQuestion } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { type Approval, type Scope, shownOf } from "#surfaces/web/kit/approval.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { focusOnMount } from "#surfaces/web/kit/hooks/focus-on-mount.ts";
import { ReadScope, useReadGate } from "#surfaces/web/kit/read-gate.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { Revealed } from "#surfaces/web/kit/text/revealed.tsx";
import { CallInFull } from "./call-in-full.tsx";
import { CardFrame, UNARMED } from "./card-frame.tsx";
import { RuleDialog } from "./rule-dialog.tsx";
import { Unread } from "./unread.tsx";
import { useAnswer, useArmed } from "./use-approvals.ts";

const HEADLINES: Record<string, string> = {
  bash: "Run this command?",
  write: "Write this file?",
  edit: "Change this file?",
  read: "Read this file?",
  web_fetch: "Fetch this URL?",
};

/** Asks a person to approve a tool call, and shows all of the call first. */
export function ApprovalCard({ approval }: { approval: Approval }) {
  const { tool, input, reason, cwd, sandboxed } = shownOf(approval);
  const [step, setStep] = useState<"choose" | "deny" | "always">("choose");
  const isArmed = useArmed();
  const { answer, isBusy, problem } = useAnswer(approval);
  const allow = (scope: Scope) => answer({ decision: "allow", scope });
  const rule = approval.rulePreview;
  const isWaiting = !isArmed || isBusy;
  const gate = useReadGate(approval.id);
  const mayAllow = !isWaiting && gate.isRead;
  const unreadId = useId();
  const unarmedStyle = isArmed || !gate.isRead ? "" : UNARMED;
  return (
    <CardFrame
      approval={approval}
      icon={<ShieldQuestion size={17} aria-hidden />}
      title={HEADLINES[tool] ?? `Use the tool ${revealLine(tool)}?`}
      problem={problem}
    >
      {reason && <Reason text={reason} />}
      <ReadScope gate={gate}>
        <CallInFull tool={tool} input={input} cwd={cwd} />
      </ReadScope>
      {step === "deny" ? (
        <DenyForm
          isBusy={isBusy}
          onCancel={() => setStep("choose")}
          onDeny={(words) =>
            answer({ decision: "deny", ...(words === "" ? {} : { reason: words }) })
          }
        />
      ) : (
        <div className="@container">
          <div className="flex flex-wrap gap-2">
            <Button
              look="primary"
              className={clsx("@max-[30rem]:w-full", unarmedStyle)}
              disabled={!mayAllow}
              aria-describedby={unreadId}
              onClick={() => allow("once")}
            >
              Allow once
            </Button>
            {rule !== null && (
              <Button
                className={clsx("@max-[30rem]:flex-1", unarmedStyle)}
                disabled={!mayAllow}
                aria-describedby={unreadId}
                onClick={() => allow("session")}
              >
                {approval.coversChildren
                  ? "Allow for this session and its children"
                  : "Allow for this session"}
              </Button>
            )}
            {rule !== null && (
              <Button
                className={clsx("@max-[30rem]:flex-1", unarmedStyle)}
                disabled={!mayAllow}
                aria-describedby={unreadId}
                onClick={() => setStep("always")}
              >
                Always allow…
              </Button>
            )}
            <Button
              look="danger"
              className={clsx("@max-[30rem]:w-full @min-[30rem]:ml-auto", unarmedStyle)}
              disabled={isWaiting}
              onClick={() => setStep("deny")}
            >
              Deny
            </Button>
          </div>
          <Unread id={unreadId} gate={gate} what="Allow" />
        </div>
      )}
      {rule !== null && (
        <RuleDialog
          rule={rule}
          isSandboxed={sandboxed}
          isOpen={step === "always"}
          isBusy={isBusy}
          onClose={() => setStep("choose")}
          onAllow={() => allow("always")}
        />
      )}
    </CardFrame>
  );
}

/** Shows the reason and, set apart, the rule's name, which the server puts in brackets at the end. */
function Reason({ text }: { text: string }) {
  const [, words = text, rule] = /^(.*) \(([\w:-]+)\)$/s.exec(text) ?? [];
  return (
    <div className="space-y-0.5">
      <p dir="auto" className="break-words">
        <Revealed text={words} />
      </p>
      {rule && (
        <p className="text-xs text-ink-faint">
          Rule:{" "}
          <Link
            to="/rules"
            search={true}
            hash={rule}
            className="underline decoration-line-strong underline-offset-2 hover:text-ink"
          >
            {rule.replace(/^builtin:/, "").replaceAll("-", " ")}
          </Link>
        </p>
      )}
    </div>
  );
}

interface DenyFormProps {
  isBusy: boolean;
  onCancel: () => void;
  onDeny: (reason: string) => void;
}

function DenyForm({ isBusy, onCancel, onDeny }: DenyFormProps) {
  const [words, setWords] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDeny(words.trim());
  };
  return (
    <form className="flex flex-wrap gap-2" onSubmit={submit}>
      <input
        ref={focusOnMount}
        aria-label="Reason (sent to the agent)"
        placeholder="Reason (optional, sent to the agent)"
        maxLength={1000}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onCancel()}
        className="h-9 min-w-0 flex-1 basis-48 rounded-lg border border-line-strong bg-page px-3 outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base"
      />
      <Button type="submit" look="danger" disabled={isBusy} className="max-sm:flex-1">
        Deny
      </Button>
      <Button look="ghost" onClick={onCancel} disabled={isBusy}>
        Back
      </Button>
    </form>
  );
}
