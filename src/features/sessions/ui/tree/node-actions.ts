/** Actions on a session in the tree. Pure. */
import {
  ArrowRight,
  CircleStop,
  type LucideIcon,
  MessageSquare,
  Settings,
  Trash2,
  Unlink,
} from "lucide-react";
import type { Activity, Session } from "#protocol/sessions.ts";

export type NodeAction = "open" | "message" | "stop" | "detach" | "settings" | "end";

interface AvailableAction {
  action: NodeAction;
  label: string;
  Icon: LucideIcon;
  /** True if another click cannot undo it. */
  isGrave: boolean;
}

const ACTIVE_TURN: ReadonlySet<Activity> = new Set([
  "working",
  "needs_you",
  "recovering",
  "unknown",
]);

export function availableActions(session: Session): AvailableAction[] {
  const isOpen = session.lifecycle === "active" || session.lifecycle === "hibernated";
  const offered: (AvailableAction | false)[] = [
    { action: "open", label: "Open", Icon: ArrowRight, isGrave: false },
    isOpen && { action: "message", label: "Send a message…", Icon: MessageSquare, isGrave: false },
    ACTIVE_TURN.has(session.activity) && {
      action: "stop",
      label: "Stop turn",
      Icon: CircleStop,
      isGrave: false,
    },
    session.parentSessionId !== null && {
      action: "detach",
      label: "Detach from parent…",
      Icon: Unlink,
      isGrave: false,
    },
    session.isOrchestrator
      ? { action: "settings", label: "Settings", Icon: Settings, isGrave: false }
      : isOpen && { action: "end", label: "End session…", Icon: Trash2, isGrave: true },
  ];
  return offered.filter((action) => action !== false);
}
