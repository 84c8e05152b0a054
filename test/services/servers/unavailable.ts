/** The service is not available here; the message says why, in a few words. */
export class Unavailable extends Error {}
