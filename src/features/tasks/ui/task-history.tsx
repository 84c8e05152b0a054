import { useState } from "react";
import { SessionLink } from "#features/sessions/ui/session/session-link.tsx";
import type { TaskPage } from "#features/tasks/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { agoWords, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { changeWords } from "./board-words.ts";
import { Part } from "./task-marks.tsx";
import { useAssignees } from "./use-board.ts";
import { useNames } from "./use-names.ts";

const SHOWN = 8;

/** Lists changes with their authors, newest first. */
export function TaskHistory({ page: { task, changes } }: { page: TaskPage }) {
  const now = useNow(60_000);
  const names = useNames(task.id);
  const [isWhole, setIsWhole] = useState(false);
  if (changes.length === 0) return null;
  const shown = isWhole ? changes : changes.slice(0, SHOWN);
  return (
    <Part title="History">
      <ul className="space-y-1 text-xs">
        {shown.map((change, at) => {
          const { did, from, to } = changeWords(change, names);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id, only a position
            <li key={changes.length - at} className="[overflow-wrap:anywhere]">
              <By by={change.by} isFirst /> {did}
              {(from !== null || to !== null) && (
                <span className="text-ink-soft">
                  : <bdi>{from ?? "none"}</bdi> → <bdi>{to ?? "none"}</bdi>
                </span>
              )}{" "}
              <time dateTime={change.at} title={fullTime(change.at)} className="text-ink-faint">
                · {agoWords(change.at, now)}
              </time>
            </li>
          );
        })}
      </ul>
      {shown.length < changes.length && (
        <Button size="small" look="ghost" className="mt-1" onClick={() => setIsWhole(true)}>
          Show all {changes.length}
        </Button>
      )}
    </Part>
  );
}

interface ByProps {
  by: string;
  /** True at the beginning of a sentence. */
  isFirst?: boolean;
}

/** Names the author of a change, from the server's key. */
export function By({ by, isFirst = false }: ByProps) {
  const me = useMe();
  const assignees = useAssignees();
  if (me && by === `user:${me.user.id}`) return <>{isFirst ? "You" : "you"}</>;
  if (by.startsWith("session:")) {
    const id = by.slice("session:".length);
    const name = assignees.find((one) => one.id === id)?.name ?? null;
    return <SessionLink sessionId={id} name={name} />;
  }
  if (by === "system") return <>Muster</>;
  return <>{isFirst ? "Someone" : "someone"}</>;
}
