import { Link } from "@tanstack/react-router";
import { Brain, Inbox, Search, SquareKanban } from "lucide-react";
import { useMessageCount } from "#features/mailbox/ui/use-messages.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";

const PAGES = [
  { to: "/inbox", name: "Inbox", Icon: Inbox },
  { to: "/board", name: "Board", Icon: SquareKanban },
  { to: "/memory", name: "Memory", Icon: Brain },
] as const;

/** Links to pages for daily use besides sessions; settings are at the foot of the list. */
export function PageLinks() {
  return (
    <nav aria-label="Pages" className="flex shrink-0 gap-0.5 px-2 pb-2">
      {PAGES.map(({ to, name, Icon }) => (
        <Link
          key={to}
          to={to}
          search={true}
          className="flex h-8 min-w-0 flex-1 items-center justify-center gap-1.5 rounded-lg px-1 text-xs font-medium text-ink-soft hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:text-ink max-md:h-10"
        >
          <Icon size={15} aria-hidden className="shrink-0" />
          {name}
          {to === "/inbox" && <Unread />}
        </Link>
      ))}
      <Link
        to="/search"
        search={true}
        aria-label="Search everything"
        title="Search everything (Ctrl+K)"
        className="grid h-8 w-9 shrink-0 place-items-center rounded-lg text-ink-soft hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:text-ink max-md:h-10"
      >
        <Search size={15} aria-hidden />
      </Link>
    </nav>
  );
}

const MAX_SHOWN = 99;

function Unread() {
  const count = useMessageCount();
  if (count === 0) return null;
  return (
    <span className="min-w-4 rounded-full bg-accent px-1 text-center text-2xs text-on-accent tabular-nums">
      <span aria-hidden>{count > MAX_SHOWN ? `${MAX_SHOWN}+` : count}</span>
      <span className="sr-only">{plural(count, "unread message")}</span>
    </span>
  );
}
