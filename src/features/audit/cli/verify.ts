import type { Command } from "commander";
import type { Verification } from "#features/audit/contract.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

export function addAuditVerifyCommand(group: Command, host: CliHost): void {
  group
    .command("verify")
    .description("Verify that the audit trail has not been changed.")
    .action((_options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const result = await invocation.api().audit.verify();
        invocation.print(result, linesOf(result));
        return result.ok ? DONE : EXIT.tampered;
      }),
    );
}

function linesOf({
  ok,
  sealed,
  unsealed,
  firstBroken,
  head,
  outside = null,
  restores = [],
  cut = null,
}: Partial<Verification> & Pick<Verification, "ok" | "sealed" | "unsealed" | "head">): string[] {
  // A server of an earlier version does not send the last three.
  if (!ok && firstBroken)
    return [
      `The trail was tampered with: ${firstBroken.why}.`,
      `The ${sealed} rows before it are unchanged. Restore a backup to see what followed.`,
    ];
  const tail = unsealed === 0 ? "" : ` ${unsealed} more will be sealed shortly.`;
  return [
    cut
      ? `The trail is unchanged: rows ${cut.seq + 1} to ${sealed}.${tail}`
      : `The trail is unchanged: ${sealed} rows.${tail}`,
    ...(cut
      ? [
          `Rows up to ${cut.seq}, from before ${cut.through}, were removed by retention at ${cut.at}. The record of the removal is signed.`,
        ]
      : []),
    ...restores.map(
      ({ at, seq }) =>
        `It was restored from a backup at ${at}; in that backup it ended with row ${seq}.`,
    ),
    outside
      ? `Its end is signed and also kept in the data folder: row ${outside.seq}, at ${outside.at}.`
      : "This server has not yet kept the end of the trail outside the database.",
    `Its head is ${head.hash === "" ? "empty" : `${head.seq} ${head.hash}`}. Note it elsewhere to prove later that nothing was rewritten.`,
  ];
}
