import { Check, ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { QueueMode } from "#protocol/sessions.ts";

const MODES: Record<QueueMode, { name: string; means: string }> = {
  followup: { name: "Follow-up", means: "Runs after the current turn and the queue" },
  collect: { name: "Collect", means: "While busy, combines your messages into one prompt" },
  steer: { name: "Steer", means: "Ends the running turn, keeps its work, then runs this" },
  interrupt: { name: "Interrupt", means: "Aborts the running turn immediately" },
};

const AVAILABLE_MODES: readonly QueueMode[] = ["followup", "collect", "steer"];

export function ModeMenu({
  mode,
  onChange,
}: {
  mode: QueueMode;
  onChange: (mode: QueueMode) => void;
}) {
  const modes = AVAILABLE_MODES.includes(mode) ? AVAILABLE_MODES : [...AVAILABLE_MODES, mode];
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        aria-label={`Queue mode: ${MODES[mode].name}`}
        className="flex h-8 items-center gap-1 rounded-lg px-2 text-xs font-medium text-ink-soft hover:bg-hover data-[state=open]:bg-hover"
      >
        {MODES[mode].name}
        <ChevronDown size={14} aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          side="top"
          align="start"
          sideOffset={6}
          collisionPadding={12}
          className="animate-rise z-50 w-80 max-w-[calc(100vw-1.5rem)] rounded-xl border border-line bg-raised p-1 shadow-float"
        >
          <DropdownMenu.RadioGroup
            value={mode}
            onValueChange={(value) => onChange(value as QueueMode)}
          >
            {modes.map((value) => (
              <DropdownMenu.RadioItem
                key={value}
                value={value}
                className="flex gap-2.5 rounded-lg px-2.5 py-2 outline-none data-[highlighted]:bg-hover"
              >
                <span className="grid w-4 shrink-0 place-items-center text-accent">
                  <DropdownMenu.ItemIndicator>
                    <Check size={15} aria-hidden />
                  </DropdownMenu.ItemIndicator>
                </span>
                <span>
                  <span className="block font-medium">{MODES[value].name}</span>
                  <span className="block text-xs text-ink-soft">{MODES[value].means}</span>
                </span>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
