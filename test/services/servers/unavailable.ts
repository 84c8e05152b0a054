/** The service cannot be had here; the message says why, in a few words. */
export class Unavailable extends Error {}
