import { useId } from "react";
import type { RulePreview } from "#surfaces/web/kit/approval.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { ReadScope, useReadGate } from "#surfaces/web/kit/read-gate.tsx";
import { Revealed } from "#surfaces/web/kit/text/revealed.tsx";
import { Verbatim } from "#surfaces/web/kit/text/verbatim.tsx";
import { Unread } from "./unread.tsx";

interface RuleDialogProps {
  rule: RulePreview;
  /** True if the command would run in a sandbox. */
  isSandboxed: boolean;
  isOpen: boolean;
  isBusy: boolean;
  onClose: () => void;
  onAllow: () => void;
}

/** Shows the rule that "Always" would create, because a rule is lasting. */
export function RuleDialog({ isOpen, onClose, ...rest }: RuleDialogProps) {
  return (
    <Modal title="Always allow this?" isOpen={isOpen} onClose={onClose}>
      <RuleInFull onClose={onClose} {...rest} />
    </Modal>
  );
}

function RuleInFull({
  rule,
  isSandboxed,
  isBusy,
  onClose,
  onAllow,
}: Omit<RuleDialogProps, "isOpen">) {
  const gate = useReadGate(`rule ${rule.tool} ${rule.pattern}`);
  const unreadId = useId();
  return (
    <ReadScope gate={gate}>
      <div className="space-y-3">
        <p className="text-ink-soft">
          This adds a rule. None of your sessions will ask you again before{" "}
          <code className="font-mono text-[0.9em] text-ink">
            <Revealed text={rule.tool} />
          </code>{" "}
          is used for exactly this:
        </p>
        <Verbatim text={rule.pattern} label="Rule" />
        <p className="text-xs text-ink-faint">
          {isSandboxed && "On a machine without a sandbox, you are still asked. "}
          Remove it any time in Rules.
        </p>
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={isBusy || !gate.isRead}
            aria-describedby={unreadId}
            onClick={onAllow}
          >
            Always allow
          </Button>
        </div>
        <Unread id={unreadId} gate={gate} what="Always allow" />
      </div>
    </ReadScope>
  );
}
