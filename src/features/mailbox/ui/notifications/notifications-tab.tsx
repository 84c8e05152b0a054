import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import type { AnswerOf, ApiRoutes } from "#client/index.ts";
import type { NotificationChannel, PreferenceChange } from "#features/mailbox/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { LoadProblem, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { MailConsent } from "./mail-consent.tsx";
import { CHANNELS, type PreferenceRow, preferenceRows, switched } from "./notification-rows.ts";

type Preferences = AnswerOf<ApiRoutes["mailbox"]["preferences"]>;

/** Notification channels, and the consent to messages to one's agent. */
export function NotificationsTab() {
  const found = useQuery({
    queryKey: keys.notificationPreferences,
    queryFn: ({ signal }) => api.mailbox.preferences({}, { signal }),
  });
  return (
    <>
      <Section
        title="Message delivery"
        text="All messages are in your inbox. Choose more channels for each type. Changes are saved immediately."
      >
        {found.error && <LoadProblem error={found.error} onRetry={() => void found.refetch()} />}
        {found.isPending && <p className="text-ink-faint">Loading…</p>}
        {found.data && <PreferenceTable preferences={found.data} />}
      </Section>
      {found.data && <DigestSection preferences={found.data} />}
      <MailConsent />
    </>
  );
}

const DONE = { messageType: "notification", eventType: "session.completed" } as const;

function DigestSection({ preferences }: { preferences: Preferences }) {
  const save = useChange((body: PreferenceChange) => api.mailbox.setPreference({ body }), {
    stale: keys.notificationPreferences,
    failed: "The setting was not changed",
  });
  const isOn = preferences.items.some((item) => item.eventType === DONE.eventType && item.digest);
  return (
    <Section
      title="Completed sessions"
      text="Messages about completed sessions arrive already read. Sessions that an agent started report to that agent instead."
    >
      <label className="flex items-start gap-2.5 text-sm">
        <input
          type="checkbox"
          checked={isOn}
          disabled={save.isPending}
          onChange={({ target }) => save.mutate({ ...DONE, digest: target.checked })}
          className="mt-0.5 size-4 accent-accent"
        />
        <span>
          Collect them in a digest
          <span className="block text-xs text-ink-faint">
            One unread message lists the sessions completed since you last read it.
          </span>
        </span>
      </label>
    </Section>
  );
}

function PreferenceTable({ preferences }: { preferences: Preferences }) {
  const availableChannels = new Set(preferences.channels);
  const all = Object.keys(CHANNELS) as NotificationChannel[];
  const missing = all.filter((channel) => !availableChannels.has(channel));
  const save = useChange((body: PreferenceChange) => api.mailbox.setPreference({ body }), {
    stale: keys.notificationPreferences,
    failed: "The setting was not changed",
  });
  return (
    <div className="space-y-2">
      <div className="overflow-x-auto rounded-xl border border-line bg-raised">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-xs text-ink-faint [&>th]:px-2 [&>th]:py-2 [&>th]:font-medium">
              <th scope="col" className="!pl-3.5 text-left">
                Message type
              </th>
              <th scope="col">Inbox</th>
              {all.map((channel) => (
                <th key={channel} scope="col">
                  {CHANNELS[channel]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {preferenceRows(preferences.items, availableChannels.size > 0).map((row) => (
              <tr key={`${row.messageType}:${row.eventType}`} className="[&>td]:px-2 [&>td]:py-2">
                <th
                  scope="row"
                  className={clsx(
                    "py-2 pr-2 text-left",
                    row.eventType === null
                      ? "pl-3.5 font-medium"
                      : "pl-7 text-xs font-normal text-ink-soft",
                  )}
                >
                  {row.name}
                </th>
                <Switch row={row} name="Inbox" isOn isDisabled />
                {all.map((channel) => (
                  <Switch
                    key={channel}
                    row={row}
                    name={CHANNELS[channel]}
                    isOn={row.channels.has(channel)}
                    isDisabled={!availableChannels.has(channel) || save.isPending}
                    onChange={(isOn) => save.mutate(switched(row, channel, isOn))}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {missing.length > 0 && (
        <p className="text-xs text-ink-faint">
          {list(missing.map((channel) => CHANNELS[channel]))} {missing.length === 1 ? "is" : "are"}{" "}
          not connected on this server. Your choices apply once{" "}
          {missing.length === 1 ? "it is" : "they are"}.
        </p>
      )}
    </div>
  );
}

interface SwitchProps {
  row: PreferenceRow;
  name: string;
  isOn: boolean;
  isDisabled: boolean;
  onChange?: (isOn: boolean) => void;
}

function Switch({ row, name, isOn, isDisabled, onChange }: SwitchProps) {
  return (
    <td className="text-center">
      <input
        type="checkbox"
        aria-label={`${row.name}: ${name}`}
        checked={isOn}
        disabled={isDisabled}
        onChange={(event) => onChange?.(event.target.checked)}
        className={clsx("size-4 accent-accent", row.isAsType && "opacity-60")}
      />
    </td>
  );
}

function list(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
