// Gets a fresh clone ready and hands over to the program: the right Node, the locked
// dependencies, an up-to-date build. Uses only Node's built-ins and runs on Node 18 or newer.
//
//   node scripts/bootstrap.mjs <command> [arguments…]      (the commands: bootstrap/commands.mjs)
import { bootstrap } from "./bootstrap/bootstrap.mjs";

const [command, ...rest] = process.argv.slice(2);
await bootstrap(command, rest);
