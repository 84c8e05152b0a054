/** The `chromium` program; undefined where it cannot be had; see README.md. */
export const chromiumFile = process.env.MUSTER_TEST_CHROMIUM;
