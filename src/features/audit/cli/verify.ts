import type { Command } from "commander";
import type { Verification } from "#features/audit/contract.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

export function addAuditVerifyCommand(group: Command, host: CliHost): void {
  group
    .command("verify")
    .description("Checks that the trail is as it was written.")
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
      `${sealed} rows before it are as they were written; restore a backup to see what followed.`,
    ];
  const tail = unsealed === 0 ? "" : ` ${unsealed} more are about to be sealed.`;
  return [
    cut
      ? `The trail is as it was written: rows ${cut.seq + 1} to ${sealed}.${tail}`
      : `The trail is as it was written: ${sealed} rows.${tail}`,
    ...(cut
      ? [
          `Rows up to ${cut.seq}, of before ${cut.through}, were removed by retention at ${cut.at}; the record of it is signed.`,
        ]
      : []),
    ...restores.map(
      ({ at, seq }) =>
        `It was put back from a copy at ${at}; in that copy it ended with row ${seq}.`,
    ),
    outside
      ? `Its end is signed, and kept in the data folder too: row ${outside.seq}, at ${outside.at}.`
      : "This server has not kept its end outside the database yet.",
    `Its head is ${head.hash === "" ? "empty" : `${head.seq} ${head.hash}`}; note it elsewhere to know later that nothing was written anew.`,
  ];
}
