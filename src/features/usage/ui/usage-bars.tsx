import type { UsageItem } from "#features/usage/contract.ts";
import { countWords, moneyWords } from "#surfaces/web/kit/text/money-words.ts";
import { dayBars } from "./usage-rows.ts";

interface UsageBarsProps {
  items: readonly UsageItem[];
  from: string | undefined;
  today: number;
}

/** Bar chart of tokens per day, input below and output on top. The table beneath has the figures. */
export function UsageBars({ items, from, today }: UsageBarsProps) {
  const bars = dayBars(items, from, today);
  const most = Math.max(1, ...bars.map(({ input, output }) => input + output));
  return (
    <figure className="rounded-xl border border-line bg-raised px-4 pt-3 pb-2">
      <figcaption className="flex items-center gap-3 text-2xs text-ink-faint">
        <span>Tokens per day</span>
        <Key className="bg-accent/35">in</Key>
        <Key className="bg-accent">out</Key>
        <span className="ml-auto tabular-nums">up to {countWords(most)}</span>
      </figcaption>
      <div aria-hidden className="mt-2 flex h-32 items-end gap-px sm:gap-[2px]">
        {bars.map(({ day, input, output, item }) => (
          <div
            key={day}
            title={`${day}: ${countWords(input)} in, ${countWords(output)} out${item ? `, ${moneyWords(item.costMicros)}` : ""}`}
            className="group flex h-full min-w-0 flex-1 flex-col justify-end rounded-sm hover:bg-hover"
          >
            <div
              className="rounded-t-sm bg-accent"
              style={{ height: `${(output / most) * 100}%` }}
            />
            <div
              className="bg-accent/35"
              style={{
                height: `${(input / most) * 100}%`,
                minHeight: input + output > 0 ? 2 : 0,
              }}
            />
          </div>
        ))}
      </div>
      <div
        aria-hidden
        className="mt-1 flex justify-between border-t border-line pt-1 text-2xs text-ink-faint tabular-nums"
      >
        <span>{bars[0]?.day}</span>
        {bars.length > 1 && <span>{bars.at(-1)?.day}</span>}
      </div>
    </figure>
  );
}

function Key({ className, children }: { className: string; children: string }) {
  return (
    <span className="flex items-center gap-1">
      <span aria-hidden className={`size-2 rounded-sm ${className}`} />
      {children}
    </span>
  );
}
