/** What a group does when none of its commands is named, without taking a misspelt one for an argument. */
import type { Command } from "commander";

export const BY_DEFAULT = { isDefault: true } as const;

/** For a command that takes no arguments. */
export function asDefault(command: Command): Command {
  return command.allowExcessArguments().hook("preAction", () => {
    const [unknown] = command.args;
    if (unknown === undefined) return;
    const group = command.parent ?? command;
    const names = group.commands.map((one) => one.name()).join(", ");
    command.error(`error: unknown command '${unknown}'. There are: ${names}`);
  });
}
