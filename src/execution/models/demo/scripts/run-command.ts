/** "Run …": bash gets the command as written, and the policy judges it like any other. */
import { excerpt, fenced, type MadeCall, play, type Script, succeeded } from "../script.ts";

const MAX_COMMAND_CHARS = 2000;

export const runCommand: Script = {
  name: "run-command",
  fits: ({ said }) => commandIn(said) !== null,
  next(scene) {
    const command = commandIn(scene.said) ?? "";
    const stage = {
      say: `Running ${inline(command)}.`,
      call: { tool: "bash", input: { command } },
      isNeeded: true,
    };
    return play({ stages: [stage], close: ([call]) => describe(call ?? null) }, scene);
  },
};

function commandIn(said: string): string | null {
  const fence = /```(?:\w*\n)?([\s\S]+?)```/.exec(said)?.[1];
  const quoted = fence ?? /`([^`\n]+)`/.exec(said)?.[1];
  const plain =
    /^\s*(?:please\s+)?(?:run|execute)\s+(?!it\b|this\b|that\b|a\b|the\b|some\b)(.+?)\s*$/i.exec(
      said,
    )?.[1];
  const command = (quoted ?? plain)?.trim().slice(0, MAX_COMMAND_CHARS);
  return command ? command : null;
}

function inline(command: string): string {
  return /[`\n]/.test(command) ? "it" : `\`${command.slice(0, 200)}\``;
}

function describe(call: MadeCall | null): string {
  const text = excerpt(call?.result?.text ?? "", 40);
  const said = text === "" ? "There was no output." : `Output:\n\n${fenced(text)}`;
  return succeeded(call) ? `Done. ${said}` : `That failed. ${said}`;
}
