import { clsx } from "clsx";
import {
  Bell,
  CircleAlert,
  CircleCheck,
  ListChecks,
  type LucideIcon,
  Mail,
  MessageCircleQuestionMark,
  Repeat,
  ShieldQuestion,
  TriangleAlert,
} from "lucide-react";
import type { MailMessage, MessageEventType, MessageType } from "#features/mailbox/contract.ts";
import { decisionWords, TYPES } from "../message-words.ts";

const ICONS: Record<MessageType, LucideIcon> = {
  message: Mail,
  notification: Bell,
  question: MessageCircleQuestionMark,
  escalation: TriangleAlert,
  approval: ShieldQuestion,
};

/** Icons of platform events that say more than the type's icon. */
const EVENT_ICONS: Partial<Record<MessageEventType, LucideIcon>> = {
  "session.completed": CircleCheck,
  "session.failed": CircleAlert,
  "session.digest": ListChecks,
  "mail.loop_cut": Repeat,
};

const TONES: Record<MessageType, string> = {
  message: "text-ink-faint",
  notification: "text-ink-faint",
  question: "text-warn",
  escalation: "text-bad",
  approval: "text-warn",
};

export function TypeMark({ message, className }: { message: MailMessage; className?: string }) {
  const { messageType, eventType } = message;
  const decided = decisionWords(message);
  const Icon =
    decided === null ? ((eventType && EVENT_ICONS[eventType]) ?? ICONS[messageType]) : CircleCheck;
  const label = decided === null ? TYPES[messageType] : `${TYPES[messageType]}: ${decided}`;
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={clsx("shrink-0", decided ? "text-ink-faint" : TONES[messageType], className)}
    >
      <Icon size={16} aria-hidden />
    </span>
  );
}
