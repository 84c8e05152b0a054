/** What a new session gets that nobody has said otherwise of, and how many there may be. */

export interface SessionLimits {
  activePerUser: number;
  activePerOrg: number;
}

export interface SessionDefaults {
  runtime: string;
  model: string | null;
  limits: SessionLimits;
}
