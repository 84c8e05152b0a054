import { Ellipsis } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useState } from "react";
import type { Session } from "#protocol/sessions.ts";
import { availableActions, type NodeAction } from "./node-actions.ts";

const BUTTON =
  "grid size-7 place-items-center rounded-md text-ink-faint hover:bg-line hover:text-ink data-[state=open]:bg-line max-md:size-9";

interface NodeMenuProps {
  session: Session;
  name: string;
  /** True for the one row of the tree in the Tab order. */
  isReachable: boolean;
  onAction: (action: NodeAction, session: Session) => void;
}

/** Menu of a row, created when first opened: a list may have a thousand rows. */
export function NodeMenu({ session, name, isReachable, onAction }: NodeMenuProps) {
  const [isCreated, setIsCreated] = useState(false);
  const common = {
    "aria-label": `Actions for ${name}`,
    title: "Actions",
    tabIndex: isReachable ? 0 : -1,
    className: BUTTON,
  };
  if (!isCreated) {
    return (
      <button type="button" aria-haspopup="menu" {...common} onClick={() => setIsCreated(true)}>
        <Ellipsis size={16} aria-hidden />
      </button>
    );
  }
  return (
    <DropdownMenu.Root defaultOpen>
      <DropdownMenu.Trigger {...common}>
        <Ellipsis size={16} aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={12}
          className="animate-rise z-50 min-w-48 rounded-xl border border-line bg-raised p-1 shadow-float"
        >
          {availableActions(session).map(({ action, label, Icon, isGrave }) => (
            <DropdownMenu.Item
              key={action}
              onSelect={() => onAction(action, session)}
              className={`flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover max-md:py-2.5 ${isGrave ? "text-bad" : ""}`}
            >
              <Icon size={15} aria-hidden className="shrink-0 opacity-75" />
              {label}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
