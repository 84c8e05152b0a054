import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { type ReactNode, useState } from "react";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import type { UsageItem, UsageSum } from "#features/usage/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { PlainPage } from "#surfaces/web/kit/plain-page.tsx";
import { countWords, moneyWords, plural } from "#surfaces/web/kit/text/money-words.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { UsageBars } from "./usage-bars.tsx";
import { firstDay, RANGES, type Range, type UsageBy, usageRows } from "./usage-rows.ts";

const GROUPS: Record<UsageBy, string> = { day: "By day", model: "By model", session: "By session" };

export function UsagePage() {
  const [by, setBy] = useState<UsageBy>("day");
  const [range, setRange] = useState<Range>("30");
  const from = firstDay(range, Date.now());
  const found = useQuery({
    queryKey: keys.usage(by, from),
    queryFn: ({ signal }) =>
      api.usage.list({ query: { by, from, limit: PAGE_LIMIT_MAX } }, { signal }),
    placeholderData: (earlier) => (earlier?.items.length === 0 ? earlier : undefined),
  });
  const total = found.data?.total;
  const isEmpty = total !== undefined && total.requests === 0 && total.turns === 0;
  return (
    <PlainPage
      title="Usage"
      aside={
        <select
          aria-label="Period"
          value={range}
          onChange={(event) => setRange(event.target.value as Range)}
          className="h-8 rounded-lg border border-line bg-raised px-1.5 text-xs max-md:h-10 max-md:text-base"
        >
          {Object.entries(RANGES).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      {found.isError && (
        <div className="space-y-2">
          <InlineError>{messageOf(found.error)}</InlineError>
          <Button size="small" onClick={() => void found.refetch()}>
            Try again
          </Button>
        </div>
      )}
      <Totals total={total} />
      <GroupTabs by={by} onChange={setBy} />
      {isEmpty ? (
        <NothingYet />
      ) : (
        <div className={clsx("space-y-6", found.isPlaceholderData && "opacity-60")}>
          {by === "day" && found.data && (
            <UsageBars items={found.data.items} from={from} today={Date.now()} />
          )}
          {found.data && (
            <UsageTable by={by} items={found.data.items} hasMore={found.data.next !== null} />
          )}
        </div>
      )}
    </PlainPage>
  );
}

function Totals({ total }: { total: UsageSum | undefined }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-4">
      <Total name="Cost" note={total && unpricedNote(total)}>
        {total && moneyWords(total.costMicros)}
      </Total>
      <Total name="Tokens in" note={total && `${countWords(total.cachedInputTokens)} cached`}>
        {total && countWords(total.inputTokens)}
      </Total>
      <Total name="Tokens out" note={total && `${countWords(total.reasoningTokens)} reasoning`}>
        {total && countWords(total.outputTokens)}
      </Total>
      <Total name="Turns" note={total && plural(total.toolCalls, "tool call")}>
        {total && countWords(total.turns)}
      </Total>
    </dl>
  );
}

function unpricedNote({ unpricedRequests, costMicros }: UsageSum): string {
  if (unpricedRequests === 0) return "all priced";
  const count = plural(unpricedRequests, "request");
  return costMicros === null ? `${count} without a price` : `and ${count} without a price`;
}

interface TotalProps {
  name: string;
  note: string | undefined;
  children: ReactNode;
}

function Total({ name, note, children }: TotalProps) {
  return (
    <div className="bg-raised px-4 py-3">
      <dt className="text-2xs text-ink-faint">{name}</dt>
      <dd className="mt-0.5 min-h-7 text-lg font-semibold tabular-nums">{children}</dd>
      <dd className="min-h-4 text-2xs text-ink-faint">{note}</dd>
    </div>
  );
}

function GroupTabs({ by, onChange }: { by: UsageBy; onChange: (by: UsageBy) => void }) {
  return (
    <fieldset className="inline-flex rounded-lg border border-line bg-panel p-0.5">
      <legend className="sr-only">Group by</legend>
      {(Object.keys(GROUPS) as UsageBy[]).map((value) => (
        <button
          key={value}
          type="button"
          aria-pressed={by === value}
          onClick={() => onChange(value)}
          className={clsx(
            "h-7 rounded-md px-3 text-xs font-medium max-md:h-9",
            by === value ? "bg-raised shadow-sm" : "text-ink-soft hover:text-ink",
          )}
        >
          {GROUPS[value]}
        </button>
      ))}
    </fieldset>
  );
}

function NothingYet() {
  return (
    <p className="rounded-xl border border-dashed border-line-strong px-4 py-12 text-center text-ink-soft">
      No usage in this period. Tokens, cost and tool calls appear here as soon as a session works.
    </p>
  );
}

interface UsageTableProps {
  by: UsageBy;
  items: readonly UsageItem[];
  hasMore: boolean;
}

function UsageTable({ by, items, hasMore }: UsageTableProps) {
  const rows = usageRows(by, items);
  const most = Math.max(
    1,
    ...rows.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
  );
  return (
    <div className="overflow-x-auto rounded-xl border border-line bg-raised">
      <table className="w-full text-xs tabular-nums">
        <thead>
          <tr className="border-b border-line text-left text-2xs text-ink-faint [&>th]:px-3 [&>th]:py-2 [&>th]:font-medium">
            <th scope="col">{GROUPS[by].slice(3).replace(/^./, (first) => first.toUpperCase())}</th>
            <th scope="col" className="text-right max-sm:hidden">
              Turns
            </th>
            <th scope="col" className="text-right max-sm:hidden">
              Tools
            </th>
            <th scope="col" className="text-right">
              Tokens in
            </th>
            <th scope="col" className="text-right">
              Tokens out
            </th>
            <th scope="col" className="text-right">
              Cost
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={row.key} className="[&>td]:px-3 [&>td]:py-2 [&>th]:px-3 [&>th]:py-2">
              <th scope="row" className="w-2/5 max-w-0 text-left font-normal">
                <RowName by={by} row={row} />
                <Bar share={(row.inputTokens + row.outputTokens) / most} />
              </th>
              <td className="text-right max-sm:hidden">{countWords(row.turns)}</td>
              <td className="text-right max-sm:hidden">{countWords(row.toolCalls)}</td>
              <td className="text-right">{countWords(row.inputTokens)}</td>
              <td className="text-right">{countWords(row.outputTokens)}</td>
              <td
                className={clsx(
                  "text-right whitespace-nowrap",
                  row.costMicros === null && "text-ink-faint",
                )}
                title={row.unpricedRequests > 0 ? unpricedNote(row) : undefined}
              >
                {row.costMicros !== null && row.unpricedRequests > 0 && "≥ "}
                {moneyWords(row.costMicros)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasMore && (
        <p className="border-t border-line px-3 py-2 text-2xs text-ink-faint">
          Showing the first {rows.length}. Totals include everything.
        </p>
      )}
    </div>
  );
}

function RowName({ by, row }: { by: UsageBy; row: UsageItem }) {
  if (by !== "session")
    return <span className="block truncate">{revealLine(row.key || "none")}</span>;
  if (row.key === "") return <span className="block truncate">Deleted sessions</span>;
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: row.key }}
      search={true}
      className="block truncate font-medium hover:underline"
    >
      {revealLine(row.title ?? UNTITLED)}
    </Link>
  );
}

function Bar({ share }: { share: number }) {
  return (
    <span aria-hidden className="mt-1 block h-1 overflow-hidden rounded-full bg-panel">
      <span
        className="block h-full rounded-full bg-accent/70"
        style={{ width: `${Math.max(share * 100, share > 0 ? 1 : 0)}%` }}
      />
    </span>
  );
}
