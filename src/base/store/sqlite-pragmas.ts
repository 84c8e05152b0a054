/** What every connection to SQLite is told, whichever thread it is in. */
export const READER_PRAGMAS = ["temp_store = MEMORY", "cache_size = -16000"] as const;
