/**
 * The `bwrap` program; undefined where it is not available or may not make namespaces; see
 * README.md.
 */
export const bubblewrapFile = process.env.MUSTER_TEST_BUBBLEWRAP;
