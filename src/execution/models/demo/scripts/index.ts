/** Scripts of the demo, specific ones before general ones. */
import type { Script } from "../script.ts";
import { acknowledgeNotice } from "./acknowledge-notice.ts";
import { askMe } from "./ask-me.ts";
import { collectFacts, delegate } from "./delegate.ts";
import { ownFiles, ownSteps } from "./own-session.ts";
import { runCommand } from "./run-command.ts";
import { sumUp } from "./sum-up.ts";
import { aboutMuster, fallback, welcome } from "./talk.ts";
import { webPage } from "./web-page.ts";
import { writeFile } from "./write-file.ts";

export const scripts: readonly Script[] = [
  sumUp,
  acknowledgeNotice,
  delegate,
  collectFacts,
  webPage,
  askMe,
  runCommand,
  ownSteps,
  ownFiles,
  aboutMuster,
  writeFile,
  welcome,
  fallback,
];
