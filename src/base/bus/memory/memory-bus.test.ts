import { silentLog } from "#base/log.ts";
import { busContract } from "../bus.contract.ts";
import { createMemoryBus } from "./memory-bus.ts";

busContract("memory", async () => createMemoryBus(silentLog));
