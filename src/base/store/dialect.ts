/** The databases a statement can be compiled for. */
export type Dialect = "sqlite" | "postgres";
