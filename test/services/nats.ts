/** Undefined where nats-server is not available; see README.md. */
export const natsUrl = process.env.MUSTER_TEST_NATS_URL;
