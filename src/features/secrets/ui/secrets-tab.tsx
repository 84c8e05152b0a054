import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import type { Secret, SecretScope } from "#features/secrets/contract.ts";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { listSecrets, removeSecret, setSecret } from "#surfaces/web/kit/api/secrets.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { List, Remove, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { agoWords } from "#surfaces/web/kit/text/time-words.ts";

/** Names of secrets. Values can be set, and are never shown. */
export function SecretsTab() {
  const isAdmin = useIsAdmin();
  return (
    <>
      <SecretScopeSection
        scope="user"
        title="Your secrets"
        text="Only your sessions can use them. They override the organisation's secrets."
        mayChange
      />
      <SecretScopeSection
        scope="org"
        title="Organisation secrets"
        text={isAdmin ? "All sessions can use them." : "Only admins can change them."}
        mayChange={isAdmin}
      />
    </>
  );
}

interface SecretScopeProps {
  scope: SecretScope;
  title: string;
  text: string;
  mayChange: boolean;
}

function SecretScopeSection({ scope, title, text, mayChange }: SecretScopeProps) {
  const orgId = useMe()?.org.id ?? "";
  const found = useQuery({
    queryKey: keys.secrets(scope),
    queryFn: ({ signal }) => listSecrets(orgId, scope, signal),
  });
  return (
    <Section title={title} text={text}>
      {mayChange && <SetSecret scope={scope} title={title} />}
      <List found={found} empty={mayChange ? "No secrets yet. Add one above." : "No secrets yet."}>
        {(secret) => <SecretRow key={secret.name} secret={secret} mayChange={mayChange} />}
      </List>
    </Section>
  );
}

function SecretRow({ secret, mayChange }: { secret: Secret; mayChange: boolean }) {
  const orgId = useMe()?.org.id ?? "";
  const now = useNow(60_000);
  const { name, scope, version, updatedAt, lastUsedAt, description, problem } = secret;
  const remove = useChange(() => removeSecret(orgId, scope, name), {
    stale: keys.secrets(scope),
    done: () => `Deleted ${name}`,
    failed: `Couldn't delete ${name}`,
  });
  const facts = [
    description,
    `version ${version}, set ${agoWords(updatedAt, now)}`,
    lastUsedAt === null ? "never used" : `last used ${agoWords(lastUsedAt, now)}`,
  ];
  return (
    <Row
      name={<span className="font-mono text-xs">{name}</span>}
      text={facts.filter(Boolean).join(" · ")}
      problem={problem}
    >
      {mayChange && (
        <Remove
          label={`Delete ${name}`}
          text="Its value is deleted permanently. Anything that needs it fails until you set it again."
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
        />
      )}
    </Row>
  );
}

/** Same format as the server's. */
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Holds the value only while it is typed: after sending or a refusal it is kept nowhere. */
function SetSecret({ scope, title }: { scope: SecretScope; title: string }) {
  const orgId = useMe()?.org.id ?? "";
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [isRefused, setIsRefused] = useState(false);
  // A ref, and no argument: the mutation cache keeps the arguments of a refused call.
  const secretToSend = useRef("");
  const set = useChange(
    (wanted: string) => {
      const given = secretToSend.current;
      secretToSend.current = "";
      return setSecret(orgId, scope, wanted, given);
    },
    {
      stale: keys.secrets(scope),
      done: (wanted) => `Saved ${wanted}`,
      onDone: () => setName(""),
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isName = NAME.test(name.trim());
    setIsRefused(!isName);
    if (!isName) return;
    secretToSend.current = value;
    setValue("");
    set.mutate(name.trim());
  };
  return (
    <form aria-label={`Set a secret: ${title}`} className="space-y-2" onSubmit={submit}>
      <div className="grid items-start gap-2 sm:grid-cols-[1fr_1fr_auto]">
        <TextField
          label="Name"
          hint="an existing name gets a new value"
          problem={
            isRefused
              ? "Start with a letter. Use up to 64 letters, digits, dots, dashes and underscores."
              : undefined
          }
          spellCheck={false}
          autoComplete="off"
          maxLength={64}
          placeholder="GITHUB_TOKEN"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="Value"
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
        <Button
          type="submit"
          look="primary"
          className="sm:mt-5"
          disabled={set.isPending || name.trim() === "" || value === ""}
        >
          Set
        </Button>
      </div>
      {set.isError && <InlineError>{messageOf(set.error)}</InlineError>}
    </form>
  );
}
