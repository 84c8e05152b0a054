import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Invitation, Member } from "#features/orgs/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextField } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { Badge, List, Remove, Row, Section, ShownOnce } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { agoWords, until } from "#surfaces/web/kit/text/time-words.ts";
import { Oversight } from "./oversight.tsx";

type Role = Member["role"];

/** Members of the organisation; admins manage invitations and roles. */
export function MembersTab() {
  const orgId = useMe()?.org.id ?? "";
  const isAdmin = useIsAdmin();
  const members = useQuery({
    queryKey: keys.members,
    queryFn: async ({ signal }) => (await api.orgs.listMembers({ orgId }, { signal })).items,
  });
  const invitations = useQuery({
    queryKey: keys.invitations,
    queryFn: async ({ signal }) => (await api.orgs.listInvitations({ orgId }, { signal })).items,
    enabled: isAdmin,
  });
  return (
    <>
      {isAdmin && <Invite orgId={orgId} />}
      <Section title="Members" text={isAdmin ? undefined : "Only admins can change members."}>
        <List found={members} empty="No members yet.">
          {(member) => (
            <MemberRow key={member.userId} orgId={orgId} member={member} isAdmin={isAdmin} />
          )}
        </List>
      </Section>
      {isAdmin && (
        <Section title="Invitations" text="Links that have not been used yet.">
          <List found={invitations} empty="No pending invitations.">
            {(invitation) => (
              <InvitationRow key={invitation.id} orgId={orgId} invitation={invitation} />
            )}
          </List>
        </Section>
      )}
      {isAdmin && <Oversight orgId={orgId} members={members.data ?? []} />}
    </>
  );
}

interface MemberRowProps {
  orgId: string;
  member: Member;
  isAdmin: boolean;
}

function MemberRow({ orgId, member, isAdmin }: MemberRowProps) {
  const now = useNow(60_000);
  const { userId, name, role, email, joinedAt } = member;
  const isSelf = useMe()?.user.id === userId;
  const changeRole = useChange(
    (wanted: Role) => api.orgs.updateMember({ orgId, userId, body: { role: wanted } }),
    {
      stale: keys.members,
      failed: `Couldn't change the role of ${name}`,
    },
  );
  const remove = useChange(() => api.orgs.removeMember({ orgId, userId }), {
    stale: keys.members,
    done: () => `Removed ${name}`,
    failed: `Couldn't remove ${name}`,
  });
  return (
    <Row
      name={
        <>
          {name}
          {isSelf && <Badge>You</Badge>}
        </>
      }
      text={[email, `joined ${agoWords(joinedAt, now)}`].filter(Boolean).join(" · ")}
    >
      {isAdmin && !isSelf ? (
        <>
          <select
            aria-label={`Role of ${name}`}
            className="h-7 rounded-lg border border-line-strong bg-page px-2 text-xs"
            value={role}
            disabled={changeRole.isPending}
            onChange={(event) => changeRole.mutate(event.target.value as Role)}
          >
            <option value="member">Member</option>
            <option value="admin">Admin</option>
          </select>
          <Remove
            label={`Remove ${name}`}
            text="Their sessions stop and they are signed out everywhere. Their data stays."
            action="Remove"
            isBusy={remove.isPending}
            onConfirm={() => remove.mutate(undefined)}
          />
        </>
      ) : (
        <span className="pr-2 text-xs text-ink-soft">{role}</span>
      )}
    </Row>
  );
}

function InvitationRow({ orgId, invitation }: { orgId: string; invitation: Invitation }) {
  const now = useNow(60_000);
  const { id, email, role, expiresAt } = invitation;
  const who = email ?? "Anyone with the link";
  const withdraw = useChange(() => api.orgs.withdrawInvitation({ orgId, id }), {
    stale: keys.invitations,
    done: () => "Invitation withdrawn",
    failed: "Couldn't withdraw the invitation",
  });
  return (
    <Row name={who} text={`as ${role} · expires ${until(expiresAt, now) || "now"}`}>
      <Remove
        label={`Withdraw the invitation for ${email ?? "anyone with the link"}`}
        text="Its link stops working."
        action="Withdraw"
        isBusy={withdraw.isPending}
        onConfirm={() => withdraw.mutate(undefined)}
      />
    </Row>
  );
}

function Invite({ orgId }: { orgId: string }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [link, setLink] = useState<string>();
  const invite = useChange(
    (body: { email?: string; role: Role }) => api.orgs.invite({ orgId, body }),
    {
      stale: keys.invitations,
      onDone: (answer) => {
        setLink(answer.link);
        setEmail("");
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = email.trim() === "" ? { role } : { email: email.trim(), role };
    invite.mutate(body, { onSettled: (_, error) => !error && invite.reset() });
  };
  return (
    <Section
      title="Invite someone"
      text="Anyone who opens the link can join. It works once, for 7 days."
    >
      {link !== undefined && (
        <ShownOnce label="Link" value={link} onDone={() => setLink(undefined)} />
      )}
      <form aria-label="Invite someone" className="space-y-2" onSubmit={submit}>
        <div className="grid items-end gap-2 sm:grid-cols-[2fr_1fr_auto]">
          <TextField
            label="E-mail"
            hint="optional; limits the link to this address"
            type="email"
            maxLength={254}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <SelectField
            label="Role"
            value={role}
            onChange={(event) => setRole(event.target.value as Role)}
          >
            <option value="member">Member</option>
            <option value="admin">Admin</option>
          </SelectField>
          <Button type="submit" look="primary" disabled={invite.isPending}>
            Create link
          </Button>
        </div>
        {invite.isError && <InlineError>{messageOf(invite.error)}</InlineError>}
      </form>
    </Section>
  );
}
