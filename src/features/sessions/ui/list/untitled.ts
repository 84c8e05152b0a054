/** What a session without a title is called. */
export const UNTITLED = "Untitled session";
