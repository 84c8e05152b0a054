/** Size limit of avatar images; the page shrinks an image to fit before uploading it. */
export const MAX_AVATAR_BYTES = 64 * 1024;
/** Base64 takes four characters for three bytes; the rest is the head of the URL. */
export const MAX_AVATAR_CHARS = Math.ceil(MAX_AVATAR_BYTES / 3) * 4 + 64;
