import { type FormEvent, useState } from "react";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { browserPlace } from "#surfaces/web/kit/api/sign-in.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { Section } from "./parts.tsx";
import { useChange } from "./use-change.ts";

/** Edits the person's time zone and locale, which agents and due dates use. */
export function TimePlace() {
  const here = browserPlace();
  const { timezone = here.timezone, locale = here.locale } = useMe()?.user ?? {};
  const [draft, setDraft] = useState({ timezone, locale });
  const save = useChange(() => api.me.update({ body: draft }), {
    stale: keys.me,
    done: () => "Saved. Applies from the agents' next turn",
  });
  const isNew = draft.timezone !== timezone || draft.locale !== locale;
  const differsFromBrowser = here.timezone !== draft.timezone || here.locale !== draft.locale;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isNew) save.mutate(undefined);
  };
  return (
    <Section
      title="Time"
      text="Agents see your local date. Due dates without a time zone use yours."
    >
      <form aria-label="Time" className="space-y-3" onSubmit={submit}>
        <div className="grid gap-3.5 sm:grid-cols-2">
          <TextField
            label="Time zone"
            hint="for example Europe/Berlin"
            maxLength={100}
            spellCheck={false}
            value={draft.timezone}
            onChange={(event) => setDraft({ ...draft, timezone: event.target.value })}
          />
          <TextField
            label="Locale"
            hint="date format, for example de-CH"
            maxLength={50}
            spellCheck={false}
            value={draft.locale}
            onChange={(event) => setDraft({ ...draft, locale: event.target.value })}
          />
        </div>
        {save.isError && <InlineError>{messageOf(save.error)}</InlineError>}
        <div className="flex gap-2">
          <Button type="submit" look="primary" disabled={!isNew || save.isPending}>
            Save
          </Button>
          {differsFromBrowser && (
            <Button type="button" onClick={() => setDraft(here)}>
              Use browser settings
            </Button>
          )}
        </div>
      </form>
    </Section>
  );
}
