// `muster server` with the store's output gate left open, so that it answers before its disk has
// synced. The power round must notice.
import { systemClock } from "#base/clock.ts";
import { loadConfig } from "#base/config.ts";
import { createLog } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import { assembleServer } from "#main/server/server.ts";

const config = loadConfig();
const log = createLog({ level: config.logLevel });
const store = await openStore({
  url: config.databaseUrl,
  clock: systemClock,
  log,
  onSyncFailure: () => process.exit(1),
  gate: "left_open",
});
await assembleServer(config, log, config.home, store);
