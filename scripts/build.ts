// Builds the named parts into dist/:  node scripts/build.ts programs web docs

import { copyDocsFiles } from "./build/docs.ts";
import { buildPrograms } from "./build/programs.ts";
import { buildWeb } from "./build/web.ts";

const builders = { programs: buildPrograms, web: buildWeb, docs: copyDocsFiles };

for (const part of process.argv.slice(2)) {
  if (!(part in builders)) throw new Error(`Unknown part: ${part}`);
  try {
    await builders[part as keyof typeof builders]();
  } catch (error) {
    // Bundlers put file, line and reason into the message; their stack helps nobody.
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
