import { Link, Outlet } from "@tanstack/react-router";
import { PlainPage } from "#surfaces/web/kit/plain-page.tsx";

const TABS = [
  { to: "/settings/orchestrator", name: "Your orchestrator" },
  { to: "/settings/notifications", name: "Notifications" },
  { to: "/settings/personas", name: "Personas" },
  { to: "/settings/repositories", name: "Repositories" },
  { to: "/settings/secrets", name: "Secrets" },
  { to: "/settings/keys", name: "API keys" },
  { to: "/settings/sign-in", name: "Sign-in" },
  { to: "/settings/members", name: "Members" },
  { to: "/settings/machines", name: "Machines" },
] as const;

/** Settings of the organisation and of the person, one page for each kind. */
export function SettingsPage() {
  return (
    <PlainPage title="Settings">
      <nav
        aria-label="Settings"
        className="-mt-2 flex gap-1 overflow-x-auto border-b border-line pb-2"
      >
        {TABS.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            search={true}
            className="shrink-0 rounded-lg px-2.5 py-1.5 font-medium text-ink-soft hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:text-ink"
          >
            {name}
          </Link>
        ))}
      </nav>
      <Outlet />
    </PlainPage>
  );
}
