/** The `bwrap` program; undefined where it cannot be had or may not make namespaces; see README.md. */
export const bubblewrapFile = process.env.MUSTER_TEST_BUBBLEWRAP;
