import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Archive, Ellipsis, type LucideIcon, Moon, Sun, Wallet } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useState } from "react";
import { shareSession } from "#features/sessions/ui/list/use-session-lists.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { IconButton } from "#surfaces/web/kit/button.tsx";
import { moneyWords } from "#surfaces/web/kit/text/money-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { ArchiveDialog } from "./dialogs/archive-dialog.tsx";
import { BudgetDialog } from "./dialogs/budget-dialog.tsx";

interface HeaderAction {
  label: string;
  Icon: LucideIcon;
  /** Tooltip that says more than the label. */
  hint?: string;
  isBusy?: boolean;
  run: () => void;
}

/** Sleep, budget and archive actions of an open session: buttons, or a menu where there is little room. */
export function HeaderActions({
  session,
  hasChildren,
}: {
  session: Session;
  hasChildren: boolean;
}) {
  const [openDialog, setOpenDialog] = useState<"budget" | "archive" | null>(null);
  const close = () => setOpenDialog(null);
  const sleep = useSleepAction(session);
  const budget = session.budget === null ? "" : `: ${moneyWords(session.budget)}`;
  const actions: HeaderAction[] = [
    ...(sleep ? [sleep] : []),
    { label: `Budget and memory${budget}`, Icon: Wallet, run: () => setOpenDialog("budget") },
  ];
  if (!session.isOrchestrator)
    actions.push({ label: "Archive session", Icon: Archive, run: () => setOpenDialog("archive") });
  return (
    <>
      {actions.map(({ label, Icon, hint = label, isBusy, run }) => (
        <IconButton
          key={label}
          label={label}
          title={hint}
          className="max-sm:hidden"
          disabled={isBusy}
          onClick={run}
        >
          <Icon size={17} aria-hidden />
        </IconButton>
      ))}
      <MoreMenu actions={actions} />
      <BudgetDialog session={session} isOpen={openDialog === "budget"} onClose={close} />
      <ArchiveDialog
        session={session}
        hasChildren={hasChildren}
        isOpen={openDialog === "archive"}
        onClose={close}
      />
    </>
  );
}

function MoreMenu({ actions }: { actions: readonly HeaderAction[] }) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <IconButton label="More actions" className="sm:hidden">
          <Ellipsis size={17} aria-hidden />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={12}
          className="animate-rise z-50 min-w-52 rounded-xl border border-line bg-raised p-1 shadow-float"
        >
          {actions.map(({ label, Icon, isBusy = false, run }) => (
            <DropdownMenu.Item
              key={label}
              disabled={isBusy}
              onSelect={run}
              className="flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-2.5 outline-none data-[highlighted]:bg-hover"
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

/** Returns null for a working session, which can neither be put to sleep nor woken. */
function useSleepAction(session: Session): HeaderAction | null {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const isAsleep = session.lifecycle === "hibernated";
  const change = useMutation({
    mutationFn: () =>
      isAsleep ? api.sessions.wake({ id: session.id }) : api.sessions.hibernate({ id: session.id }),
    onSuccess: ({ session: changed }) => shareSession(queryClient, changed),
    onError: (error) =>
      toasts.fail(
        isAsleep ? "Couldn't wake the session" : "Couldn't put the session to sleep",
        error,
      ),
  });
  if (!isAsleep && !isAtRest(session)) return null;
  return {
    label: isAsleep ? "Wake session" : "Put session to sleep",
    Icon: isAsleep ? Sun : Moon,
    ...(!isAsleep && {
      hint: "Put session to sleep: files are kept, background processes end",
    }),
    isBusy: change.isPending,
    run: () => change.mutate(),
  };
}

function isAtRest({ activity, isOrchestrator }: Session): boolean {
  return !isOrchestrator && (activity === "done" || activity === "idle" || activity === "failed");
}
