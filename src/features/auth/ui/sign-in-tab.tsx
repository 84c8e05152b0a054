import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { LinkedAccount, SignInOption } from "#features/auth/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { problemIn } from "#surfaces/web/kit/api/sign-in.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { List, Remove, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { TimePlace } from "#surfaces/web/kit/settings/time-place.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { agoWords } from "#surfaces/web/kit/text/time-words.ts";
import { useSignInProviders } from "./provider-buttons.tsx";

/** The person's account: time zone, locale and linked sign-in accounts. */
export function SignInTab() {
  const providers = useSignInProviders();
  const found = useQuery({
    queryKey: keys.linkedAccounts,
    queryFn: async ({ signal }) => (await api.me.listAccounts({}, { signal })).items,
  });
  return (
    <>
      <TimePlace />
      {providers.length > 0 && <LinkAccount providers={providers} />}
      <Section title="Linked accounts" text="Sign in with any of these instead of a password.">
        <List
          found={found}
          empty={
            providers.length > 0 ? "No keys yet." : "This server has no sign-in services set up."
          }
        >
          {(account) => (
            <AccountRow key={account.id} account={account} name={nameOf(account, providers)} />
          )}
        </List>
      </Section>
    </>
  );
}

/** Falls back to the provider's id when its service is no longer offered. */
function nameOf({ provider }: LinkedAccount, providers: readonly SignInOption[]): string {
  return providers.find(({ id }) => id === provider)?.name ?? provider;
}

function AccountRow({ account, name }: { account: LinkedAccount; name: string }) {
  const now = useNow(60_000);
  const { id, label, linkedAt, lastUsedAt } = account;
  const unlink = useChange(() => api.me.unlinkAccount({ id }), {
    stale: keys.linkedAccounts,
    done: () => `Unlinked ${label}`,
    failed: `Couldn't unlink ${label}`,
  });
  const facts = [
    name,
    `linked ${agoWords(linkedAt, now)}`,
    lastUsedAt === null ? "never used" : `last used ${agoWords(lastUsedAt, now)}`,
  ];
  return (
    <Row name={label} text={facts.join(" · ")}>
      <Remove
        label={`Unlink ${label}`}
        text="You can no longer sign in with it. Your other browsers are signed out."
        action="Unlink"
        isBusy={unlink.isPending}
        onConfirm={() => unlink.mutate(undefined)}
      />
    </Row>
  );
}

function LinkAccount({ providers }: { providers: readonly SignInOption[] }) {
  const [password, setPassword] = useState("");
  // A ref, and no argument: the mutation cache keeps the arguments of a refused call.
  const passwordToSend = useRef("");
  const [problemInAddress] = useState(() => problemIn(location.search));
  useEffect(() => {
    const search = new URLSearchParams(location.search);
    if (!search.has("problem")) return;
    search.delete("problem");
    const rest = search.toString();
    history.replaceState(history.state, "", location.pathname + (rest && `?${rest}`));
  }, []);
  const link = useChange(
    (id: string) =>
      api.auth.startLink({
        provider: id,
        body: { currentPassword: passwordToSend.current || undefined },
      }),
    {
      stale: keys.linkedAccounts,
      onDone: ({ url }) => location.assign(url),
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const pressed = (event.nativeEvent as SubmitEvent).submitter?.getAttribute("value");
    passwordToSend.current = password;
    setPassword("");
    link.mutate(pressed ?? "", {
      onSettled: () => {
        passwordToSend.current = "";
      },
    });
  };
  const problem = link.isError ? messageOf(link.error) : link.isIdle ? problemInAddress : null;
  return (
    <Section title="Link an account">
      <form aria-label="Link an account" className="space-y-3" onSubmit={submit}>
        <TextField
          label="Your Muster password"
          hint="leave empty if you have none"
          type="password"
          autoComplete="current-password"
          maxLength={256}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {problem && <InlineError>{problem}</InlineError>}
        <div className="flex flex-wrap gap-2">
          {providers.map(({ id, name }) => (
            <Button key={id} type="submit" value={id} disabled={link.isPending}>
              Link {name}
            </Button>
          ))}
        </div>
      </form>
    </Section>
  );
}
