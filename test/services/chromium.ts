/** The `chromium` program; undefined where it is not available; see README.md. */
export const chromiumFile = process.env.MUSTER_TEST_CHROMIUM;
