/** Options of a run, kept on its prompt until the run exists. */
import * as z from "zod";
import { EXECUTION_MODES, RUN_TYPES, requirementsSchema } from "#protocol/runs.ts";

const runOptionsSchema = z.object({
  type: z.enum(RUN_TYPES).default("resume_session"),
  executionMode: z.enum(EXECUTION_MODES).default("async_poll"),
  agentName: z.string().nullable().default(null),
  demands: requirementsSchema.default({}),
});
export type RunOptions = z.infer<typeof runOptionsSchema>;

const PLAIN: RunOptions = {
  type: "resume_session",
  executionMode: "async_poll",
  agentName: null,
  demands: {},
};

export function parseRunOptions(text: string | null): RunOptions {
  return text === null ? PLAIN : runOptionsSchema.parse(JSON.parse(text));
}
