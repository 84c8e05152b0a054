import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import type { Rule } from "#features/policy/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { PlainPage } from "#surfaces/web/kit/plain-page.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { ago, fullTime } from "#surfaces/web/kit/text/time-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

/** Lists permission rules (allow, ask, deny) and lets a person remove one. */
export function RulesPage() {
  const found = useQuery({
    queryKey: keys.rules,
    queryFn: ({ signal }) => api.policy.list({}, { signal }),
  });
  const rules = found.data?.items ?? [];
  const own = rules.filter(({ level }) => level === "user");
  const org = rules.filter(({ level }) => level === "org");
  const builtin = rules.filter(({ level }) => level === "builtin");
  return (
    <PlainPage title="Rules">
      {found.isError && (
        <div className="space-y-2">
          <InlineError>{messageOf(found.error)}</InlineError>
          <Button size="small" onClick={() => void found.refetch()}>
            Try again
          </Button>
        </div>
      )}
      {found.isSuccess && (
        <>
          <Group title="Yours" text="Created when you allowed something for a session or always.">
            {own.length > 0 ? (
              <RuleList rules={own} isRemovable />
            ) : (
              <p className="rounded-xl border border-dashed border-line-strong px-4 py-8 text-center text-ink-soft">
                No rules yet. When an agent asks for permission, choose “Always allow” to add one.
              </p>
            )}
          </Group>
          {org.length > 0 && (
            <Group title="Organisation" text="Apply to everyone. Only admins can change them.">
              <RuleList rules={org} isRemovable />
            </Group>
          )}
          <Group title="Built-in" text="Apply when no rule above matches. Deny always wins.">
            <RuleList rules={builtin} />
          </Group>
        </>
      )}
    </PlainPage>
  );
}

function Group({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <section className="space-y-2">
      <div>
        <h2 className="font-semibold">{title}</h2>
        <p className="text-xs text-ink-faint">{text}</p>
      </div>
      {children}
    </section>
  );
}

function RuleList({ rules, isRemovable = false }: { rules: Rule[]; isRemovable?: boolean }) {
  const now = useNow(60_000);
  const linkedRuleId = useLocation({ select: ({ hash }) => hash });
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
      {rules.map((rule) => (
        <li
          key={rule.id}
          ref={rule.id === linkedRuleId ? scrollToRule : null}
          className={clsx(
            "flex items-start gap-3 py-2.5 pr-2 pl-3.5",
            rule.id === linkedRuleId && "bg-accent-soft",
          )}
        >
          <Effect effect={rule.effect} />
          <div className="min-w-0 flex-1 space-y-0.5">
            <p className="font-mono text-xs [overflow-wrap:anywhere]">
              <span className="font-semibold">{rule.tool}</span>{" "}
              <span className="text-ink-soft">{revealLine(rule.pattern)}</span>
            </p>
            <p className="text-2xs break-words text-ink-faint">
              <RuleNote rule={rule} now={now} />
            </p>
          </div>
          {isRemovable && <RemoveRule rule={rule} />}
        </li>
      ))}
    </ul>
  );
}

function scrollToRule(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "center" });
}

function RuleNote({ rule, now }: { rule: Rule; now: number }) {
  return (
    <>
      {rule.note ?? (rule.match === "exact" ? "Exact match" : "Pattern match")}
      {rule.sessionId !== null && (
        <>
          {" · only in "}
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: rule.sessionId }}
            search={true}
            className="underline underline-offset-2"
          >
            one session
          </Link>
          {rule.coversChildren && " and its children"}
        </>
      )}
      {rule.sandboxedOnly && " · only in a sandbox"}
      {rule.createdAt !== null && (
        <time dateTime={rule.createdAt} title={fullTime(rule.createdAt)}>
          {" "}
          · {ago(rule.createdAt, now)}
        </time>
      )}
    </>
  );
}

const EFFECTS: Record<Rule["effect"], { word: string; tone: string }> = {
  allow: { word: "allow", tone: "bg-accent-soft text-accent" },
  ask: { word: "ask", tone: "bg-warn-soft text-warn" },
  deny: { word: "deny", tone: "bg-bad-soft text-bad" },
};

function Effect({ effect }: { effect: Rule["effect"] }) {
  const { word, tone } = EFFECTS[effect];
  return (
    <span
      className={clsx("mt-px w-11 shrink-0 rounded-full text-center text-2xs font-medium", tone)}
    >
      {word}
    </span>
  );
}

function RemoveRule({ rule }: { rule: Rule }) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const remove = useMutation({
    mutationFn: () => api.policy.delete({ id: rule.id }),
    onSuccess: () => toasts.show("Rule removed", "You will be asked again."),
    onError: (error) => toasts.fail("Couldn't remove the rule", error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.rules }),
  });
  return (
    <IconButton
      size="small"
      label={`Remove the rule for ${rule.tool}: ${rule.pattern.slice(0, 80)}`}
      disabled={remove.isPending}
      onClick={() => remove.mutate()}
    >
      <Trash2 size={15} aria-hidden />
    </IconButton>
  );
}
