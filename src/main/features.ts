/** The list of features, in order, in sight. Sign-in is wired by the server, because everything needs it. */
import type { Feature } from "#engine/index.ts";

export const features: readonly Feature[] = [];
