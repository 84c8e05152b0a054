// Holds a lock on a database file, as a backup program might:  hold-lock.ts <file> <milliseconds>
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";

const [file = "", milliseconds = "0"] = process.argv.slice(2);
const db = new Database(file, { timeout: 5_000 });
db.exec("begin exclusive");
process.stdout.write("held\n");
await sleep(Number(milliseconds));
db.exec("rollback");
db.close();
