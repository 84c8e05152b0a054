/** Report of a restore, in sentences. */
import type { Restored } from "./restore-database.ts";

export function reportRestored(restored: Restored): string[] {
  const { path, kept, rows, runsPutBack, runsFenced, credentialsRevoked, outboxHeld } = restored;
  const count = rows === null ? 0 : Object.values(rows).reduce((sum, n) => sum + n, 0);
  return [
    `Restored ${path}.`,
    ...(kept ? [`  The database that was there is kept as ${kept}.`] : []),
    ...(rows === null
      ? []
      : [`  ${count} rows of ${Object.keys(rows).length} tables were copied and counted.`]),
    `  ${runsFenced} unfinished runs were fenced off from the runners of before; ${runsPutBack} of them wait to be taken again.`,
    `  ${credentialsRevoked} runner tokens, run tokens, browser sign-ins and sign-in links were revoked.`,
    ...accessLines(restored),
    `  ${outboxHeld} deliveries that had not been made are held, because they may have been made since.`,
    "  For a day nothing is removed for its age. What is to stay longer: npx muster storage keep KIND DAYS",
    ...(restored.hasForgotten
      ? ["  Providers' keys, stored secrets and webhook secrets were removed: set them again."]
      : []),
    ...fileLines(restored),
    "",
    "Next:",
    "  1. Start the server: npm start",
    "  2. Sign in again: npx muster login-link",
    "  3. Make new tokens for runners on other machines: npx muster runners token NAME. They keep their sessions.",
    ...restored.membersToInvite.map(
      ({ id, name, role }) =>
        `  4. Let ${name} in again: npx muster members invite --user ${id}${role === "admin" ? " --admin" : ""}`,
    ),
  ];
}

function accessLines(restored: Restored): string[] {
  const { keysRevoked, invitationsRevoked, membersRemoved, membersToInvite, rulesDropped } =
    restored;
  switch (restored.access) {
    case "kept":
      return [
        "  API keys, passwords, invitations and members are as they were in the copy, as you said.",
      ];
    case "compared":
      return [
        "  What was revoked since the copy was made stays so, by the database that was there:",
        `    ${keysRevoked} keys, ${invitationsRevoked} invitations, ${membersRemoved} members or admin roles, ${rulesDropped} allow rules; passwords are those of now. Other API keys stay good.`,
      ];
    case "ended":
      return [
        "  Nobody can tell what was revoked since the copy was made, so every way in but the owner's was ended:",
        `    ${keysRevoked} keys, ${invitationsRevoked} invitations, ${membersToInvite.length} members' passwords and accounts, ${rulesDropped} allow rules.`,
        "    If you know that nothing was revoked, restore again with --keep-access.",
      ];
  }
}

/** Files are not in the copy: they stay on their machine. */
function fileLines({ files }: Restored): string[] {
  return files.map(({ runnerId, name, sessions, isHere }) =>
    isHere
      ? `  ${sessions} sessions go on with their files in this data folder.`
      : `  ${sessions} sessions have files on ${name} (${runnerId}) and wait until it connects. If those files are lost: npx muster runners rm ${runnerId}`,
  );
}
