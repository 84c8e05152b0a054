#!/usr/bin/env node
// The `muster` program of a checkout: the same bootstrap as `npm start`, then `muster <arguments>`.
import { bootstrap } from "./bootstrap/bootstrap.mjs";

await bootstrap("run", process.argv.slice(2), { quiet: true });
