import type { InspectedLink } from "#features/auth/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Logo } from "#surfaces/web/kit/logo.tsx";

interface LinkConsentProps {
  link: InspectedLink;
  onSignIn: () => void;
  onLeave: () => void;
}

/** Names the person that a link signs in, and the person it would replace. */
export function LinkConsent({ link: { user, current }, onSignIn, onLeave }: LinkConsentProps) {
  const isOther = current !== null && current.id !== user.id;
  return (
    <main className="grid h-full place-items-center overflow-y-auto p-5">
      <div className="w-full max-w-sm">
        <Logo size={36} />
        <h1 className="mt-5 text-xl font-semibold tracking-tight break-words">
          {isOther
            ? `You are signed in as ${current.name}. Switch to ${user.name}?`
            : `Sign in as ${user.name}?`}
        </h1>
        <p className="mt-2 text-ink-soft">
          {isOther
            ? "This link belongs to someone else. After you sign in with it, everything you write goes into their account."
            : "Everything you write after signing in goes into this account. If it isn't yours, someone else sent you this link: don't use it."}
        </p>
        <div className="mt-5 flex flex-wrap gap-2">
          <Button look={isOther ? "plain" : "primary"} onClick={onSignIn}>
            Sign in as {user.name}
          </Button>
          <Button look={isOther ? "primary" : "plain"} onClick={onLeave}>
            {current === null ? "Cancel" : `Stay signed in as ${current.name}`}
          </Button>
        </div>
      </div>
    </main>
  );
}
