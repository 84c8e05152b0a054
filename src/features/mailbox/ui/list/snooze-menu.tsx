import { Clock } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { type FormEvent, useState } from "react";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { TextField } from "#surfaces/web/kit/field.tsx";
import { clockTime } from "#surfaces/web/kit/text/time-words.ts";
import { chosenTime, fieldTime, morning, snoozeTimes } from "./snooze-times.ts";

interface SnoozeMenuProps {
  /** Label for screen readers. */
  label: string;
  className: string;
  tabIndex?: number;
  onSnooze: (until: string) => void;
}

const ITEM =
  "flex cursor-pointer items-baseline justify-between gap-6 rounded-lg px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover max-md:py-2.5";

/** Menu of snooze times: presets, or a chosen day and time. */
export function SnoozeMenu({ label, className, tabIndex, onSnooze }: SnoozeMenuProps) {
  const [isChoosing, setIsChoosing] = useState(false);
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger
          aria-label={label}
          title="Snooze"
          className={className}
          tabIndex={tabIndex}
        >
          <Clock size={16} aria-hidden />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="end"
            sideOffset={4}
            collisionPadding={12}
            className="animate-rise z-50 min-w-56 rounded-xl border border-line bg-raised p-1 shadow-float"
          >
            {snoozeTimes(new Date()).map(({ words, at }) => (
              <DropdownMenu.Item
                key={words}
                onSelect={() => onSnooze(at.toISOString())}
                className={ITEM}
              >
                {words}
                <span className="text-xs text-ink-faint tabular-nums">{timeWords(at)}</span>
              </DropdownMenu.Item>
            ))}
            <DropdownMenu.Item onSelect={() => setIsChoosing(true)} className={ITEM}>
              Choose a time…
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <Modal title="Snooze until" isOpen={isChoosing} onClose={() => setIsChoosing(false)}>
        <TimeForm
          onChoose={(at) => {
            setIsChoosing(false);
            onSnooze(at.toISOString());
          }}
        />
      </Modal>
    </>
  );
}

function TimeForm({ onChoose }: { onChoose: (at: Date) => void }) {
  const [field, setField] = useState(() => fieldTime(morning(new Date())));
  const [problem, setProblem] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const at = chosenTime(field, new Date());
    if (at === undefined) setProblem("Choose a time in the future.");
    else onChoose(at);
  };
  return (
    <form className="space-y-4" onSubmit={submit}>
      <TextField
        label="Return to inbox at"
        type="datetime-local"
        data-autofocus
        value={field}
        problem={problem}
        onChange={(event) => {
          setField(event.target.value);
          setProblem(undefined);
        }}
      />
      <div className="flex justify-end">
        <Button type="submit" look="primary">
          Snooze
        </Button>
      </div>
    </form>
  );
}

function timeWords(at: Date): string {
  const day = at.toLocaleDateString(undefined, { weekday: "short" });
  return `${day} ${clockTime(at.toISOString())}`;
}
