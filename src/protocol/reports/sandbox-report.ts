/** Sandbox of a runner's machine as reported, stored and shown. */
import * as z from "zod";
import { SANDBOX_FIXES, type SandboxFix } from "./sandboxes.ts";

/** More than the limits that exist. A report is stored, and read with every list of the runners. */
const MAX_LIMITS = 50;

export const sandboxReportSchema = z.object({
  /** `bubblewrap`, or `local` for no isolation. */
  kind: z.string().max(50),
  /** Reason why there is no sandbox; null when there is one. */
  why: z.string().max(2000).nullable(),
  /** Command that fixes it, if one does. */
  fix: z
    .enum(Object.keys(SANDBOX_FIXES) as [SandboxFix, ...SandboxFix[]])
    .nullable()
    .default(null),
  /** Mechanism that enforces each limit; null when nothing enforces it. */
  enforced: z
    .record(z.string().max(100), z.string().max(200).nullable())
    .refine((limits) => Object.keys(limits).length <= MAX_LIMITS, "too many limits"),
});
export type SandboxReport = z.infer<typeof sandboxReportSchema>;
