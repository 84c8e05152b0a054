import type { RulePreview } from "#surfaces/web/kit/approval.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { Verbatim } from "#surfaces/web/kit/verbatim.tsx";

interface RuleDialogProps {
  rule: RulePreview;
  isOpen: boolean;
  isBusy: boolean;
  onClose: () => void;
  onAllow: () => void;
}

/** "Always" is a lasting promise: it is made with the rule in sight. */
export function RuleDialog({ rule, isOpen, isBusy, onClose, onAllow }: RuleDialogProps) {
  return (
    <Modal title="Always allow this?" isOpen={isOpen} onClose={onClose}>
      <div className="space-y-3">
        <p className="text-ink-soft">
          This rule is kept. From now on, in every session of yours, you are not asked when{" "}
          <code className="font-mono text-[0.9em] text-ink">{rule.tool}</code> is to be used for
          exactly this:
        </p>
        <Verbatim text={rule.pattern} label="The rule" />
        <p className="text-xs text-ink-faint">You can take it back on the Rules page.</p>
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={isBusy} onClick={onAllow}>
            Always allow
          </Button>
        </div>
      </div>
    </Modal>
  );
}
