/** The list of features, in order, in sight. Sign-in is wired by the server, because everything needs it. */
import type { Feature } from "#engine/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { audit } from "#features/audit/index.ts";
import { policy } from "#features/policy/index.ts";
import { usage } from "#features/usage/index.ts";

export const features: readonly Feature[] = [policy, approvals, audit, usage];
