/** Defaults for new sessions, and limits on their number. */

export interface SessionLimits {
  activePerUser: number;
  activePerOrg: number;
}

export interface SessionDefaults {
  runtime: string;
  model: string | null;
  limits: SessionLimits;
}
