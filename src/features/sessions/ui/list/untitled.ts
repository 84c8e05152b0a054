/** Title of a session without one. */
export const UNTITLED = "Untitled session";
