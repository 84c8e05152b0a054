/** Undefined where nats-server cannot be had; see README.md. */
export const natsUrl = process.env.MUSTER_TEST_NATS_URL;
