import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { ApiKey } from "#features/auth/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextField } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { List, Remove, Row, Section, ShownOnce } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { agoWords, until } from "#surfaces/web/kit/text/time-words.ts";
import { expiryOf, type KeyScope, LIFETIMES, SCOPE_WORDS, scopesToGive } from "./key-choices.ts";

/** API keys for programs that act in the person's name. */
export function KeysTab() {
  const found = useQuery({
    queryKey: keys.apiKeys,
    queryFn: async ({ signal }) => (await api.me.listApiKeys({}, { signal })).items,
  });
  return (
    <>
      <CreateKey />
      <Section
        title="Your keys"
        text="A key acts as you, within its scopes. Claude Code, Cursor and other MCP clients need one to talk to your orchestrator: `muster mcp --new-key NAME` creates it and prints the client's configuration."
      >
        <List found={found} empty="No keys yet.">
          {(key) => <KeyRow key={key.id} apiKey={key} />}
        </List>
      </Section>
    </>
  );
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const now = useNow(60_000);
  const { id, name, scopes, expiresAt, lastUsedAt } = apiKey;
  const revoke = useChange(() => api.me.revokeApiKey({ id }), {
    stale: keys.apiKeys,
    done: () => `Revoked ${name}`,
    failed: `Couldn't revoke ${name}`,
  });
  const facts = [
    scopes.join(", "),
    lastUsedAt === null ? "never used" : `last used ${agoWords(lastUsedAt, now)}`,
    expiresAt === null ? "never expires" : `expires ${until(expiresAt, now) || "now"}`,
  ];
  return (
    <Row name={name} text={facts.join(" · ")}>
      <Remove
        label={`Revoke ${name}`}
        text="Programs that use it are refused from now on, and so is every key or token created with it."
        action="Revoke"
        isBusy={revoke.isPending}
        onConfirm={() => revoke.mutate(undefined)}
      />
    </Row>
  );
}

type NewKey = BodyOf<ApiRoutes["me"]["createApiKey"]>;

const FIRST_SCOPES: KeyScope[] = ["sessions:read", "sessions:write"];

function CreateKey() {
  const offered = scopesToGive(useMe()?.scopes ?? [], useIsAdmin());
  const [name, setName] = useState("");
  const [days, setDays] = useState<number>(LIFETIMES[0].days);
  const [scopes, setScopes] = useState(FIRST_SCOPES);
  const [shown, setShown] = useState<string>();
  const create = useChange((body: NewKey) => api.me.createApiKey({ body }), {
    stale: keys.apiKeys,
    onDone: ({ key }) => {
      setShown(key);
      setName("");
    },
  });
  const chosen = scopes.filter((scope) => offered.includes(scope));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const expiresAt = expiryOf(days, Date.now());
    create.mutate(
      { name: name.trim(), scopes: chosen, ...(expiresAt && { expiresAt }) },
      { onSettled: (_, error) => !error && create.reset() },
    );
  };
  const toggle = (scope: KeyScope, isOn: boolean) =>
    setScopes((now) => (isOn ? [...now, scope] : now.filter((one) => one !== scope)));
  return (
    <Section title="New key">
      {shown !== undefined && (
        <ShownOnce label="Key" value={shown} onDone={() => setShown(undefined)} />
      )}
      <form aria-label="New key" className="space-y-3" onSubmit={submit}>
        <div className="grid gap-3 sm:grid-cols-[2fr_1fr]">
          <TextField
            label="Name"
            hint="what it is for"
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <SelectField
            label="Expires"
            value={days}
            onChange={(event) => setDays(Number(event.target.value))}
          >
            {LIFETIMES.map((lifetime) => (
              <option key={lifetime.days} value={lifetime.days}>
                {lifetime.name}
              </option>
            ))}
          </SelectField>
        </div>
        <fieldset className="grid gap-x-4 gap-y-1 sm:grid-cols-2">
          <legend className="mb-1 text-xs font-medium text-ink-soft">Scopes</legend>
          {offered.map((scope) => (
            <label key={scope} className="flex items-center gap-2 py-0.5">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={(event) => toggle(scope, event.target.checked)}
              />
              {SCOPE_WORDS[scope]}
            </label>
          ))}
        </fieldset>
        {create.isError && <InlineError>{messageOf(create.error)}</InlineError>}
        <Button
          type="submit"
          look="primary"
          disabled={create.isPending || name.trim() === "" || chosen.length === 0}
        >
          Create key
        </Button>
      </form>
    </Section>
  );
}
