/** Report of a restore, in sentences. */
import type { Restored } from "./restore-database.ts";

export function reportRestored(restored: Restored): string[] {
  const { path, kept, rows, runsPutBack, runsFenced, credentialsRevoked, outboxHeld } = restored;
  const count = rows === null ? 0 : Object.values(rows).reduce((sum, n) => sum + n, 0);
  return [
    `Restored ${path}.`,
    ...(kept ? [`  The previous database is kept as ${kept}.`] : []),
    ...(rows === null
      ? []
      : [`  ${count} rows of ${Object.keys(rows).length} tables were copied and counted.`]),
    `  ${runsFenced} unfinished runs were fenced off from their old runners; ${runsPutBack} of them are queued again.`,
    `  ${credentialsRevoked} runner tokens, run tokens, browser sign-ins and sign-in links were revoked.`,
    ...accessLines(restored),
    `  ${outboxHeld} pending deliveries are held, because they may have been made since the backup.`,
    "  Nothing is removed for its age for a day. To keep something longer: npx muster storage keep KIND DAYS",
    ...(restored.hasForgotten
      ? ["  Providers' keys, stored secrets and webhook secrets were removed: set them again."]
      : []),
    ...fileLines(restored),
    "",
    "Next:",
    "  1. Start the server: npm start",
    "  2. Sign in again: npx muster login-link",
    "  3. Create new tokens for runners on other machines: npx muster runners token NAME. They keep their sessions.",
    ...restored.membersToInvite.map(
      ({ id, name, role }) =>
        `  4. Invite ${name} again: npx muster members invite --user ${id}${role === "admin" ? " --admin" : ""}`,
    ),
  ];
}

function accessLines(restored: Restored): string[] {
  const { keysRevoked, invitationsRevoked, membersRemoved, membersToInvite, rulesDropped } =
    restored;
  switch (restored.access) {
    case "kept":
      return [
        "  API keys, passwords, invitations and members are as they were in the backup, as you asked.",
      ];
    case "compared":
      return [
        "  What was revoked since the backup stays revoked, according to the previous database:",
        `    ${keysRevoked} keys, ${invitationsRevoked} invitations, ${membersRemoved} members or admin roles, ${rulesDropped} allow rules; the present passwords stay. Other API keys stay valid.`,
      ];
    case "ended":
      return [
        "  It is unknown what was revoked since the backup, so all access except the owner's was revoked:",
        `    ${keysRevoked} keys, ${invitationsRevoked} invitations, ${membersToInvite.length} members' passwords and accounts, ${rulesDropped} allow rules.`,
        "    If you know that nothing was revoked, restore again with --keep-access.",
      ];
  }
}

/** Files are not in the copy: they stay on their machine. */
function fileLines({ files }: Restored): string[] {
  return files.map(({ runnerId, name, sessions, isHere }) =>
    isHere
      ? `  ${sessions} sessions continue with their files in this data folder.`
      : `  ${sessions} sessions have files on ${name} (${runnerId}) and wait until it connects. If those files are lost: npx muster runners rm ${runnerId}`,
  );
}
