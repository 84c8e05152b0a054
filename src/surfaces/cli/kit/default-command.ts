/** Default command of a group, which does not take a misspelt command for an argument. */
import type { Command } from "commander";

export const BY_DEFAULT = { isDefault: true } as const;

/** Only for a command without arguments. */
export function asDefault(command: Command): Command {
  return command.allowExcessArguments().hook("preAction", () => {
    const [unknown] = command.args;
    if (unknown === undefined) return;
    const group = command.parent ?? command;
    const names = group.commands.map((one) => one.name()).join(", ");
    command.error(`error: unknown command '${unknown}'. Commands: ${names}`);
  });
}
