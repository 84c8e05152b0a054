/**
 * Generated inputs are the same in every run, so that a failure comes from the code and not from
 * chance. To search further: `MUSTER_TEST_SEED=$RANDOM npm test -- shell-fuzz`.
 */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.MUSTER_TEST_SEED ?? 1) });
