/** The sandbox of a runner's machine as it is reported, stored and shown. */
import * as z from "zod";
import { SANDBOX_FIXES, type SandboxFix } from "./sandboxes.ts";

/** More than there are. A report is stored, and read with every look at the runners. */
const MAX_LIMITS = 50;

export const sandboxReportSchema = z.object({
  /** `bubblewrap`, or `local`: no isolation. */
  kind: z.string().max(50),
  /** Why there is none; null when there is. */
  why: z.string().max(2000).nullable(),
  /** The command that mends it, where one does. */
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
