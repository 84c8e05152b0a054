import { ensureBuilt } from "./builds.mjs";
import { commands } from "./commands.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { handOver } from "./hand-over.mjs";
import { ensureNode } from "./node.mjs";
import { root } from "./paths.mjs";
import { createProgress, Stop } from "./progress.mjs";
import { ensureSandbox, withUnpacked } from "./sandbox.mjs";

export async function bootstrap(name, args, { quiet = false } = {}) {
  const command = Object.hasOwn(commands, name ?? "") ? commands[name] : undefined;
  if (!command) {
    console.error(`Say one of: ${Object.keys(commands).join(", ")}.`);
    process.exit(2);
  }
  try {
    const progress = createProgress(quiet);
    const node = await ensureNode(progress);
    await ensureDependencies(node, progress);
    await ensureBuilt(command.builds, node, progress);
    const rest = withoutSeparator(args);
    const env = command.startsRunner(rest)
      ? await ensureSandbox(node.env, progress)
      : withUnpacked(node.env);
    await handOver(
      { file: node.file, env },
      {
        args: [...command.nodeOptions, ...command.program, ...rest],
        cwd: command.keepsWorkingFolder ? process.cwd() : root,
      },
    );
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    console.error(`\n${error.message}`);
    process.exit(1);
  }
}

const withoutSeparator = (args) => (args[0] === "--" ? args.slice(1) : args);
