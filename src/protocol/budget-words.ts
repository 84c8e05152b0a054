/** Message of a turn that ends because its session has spent its budget: what happened, and what to do. */
export const BUDGET_SPENT =
  "The session has used its budget. Its owner can raise it: on the page with “Budget and memory”, or with muster sessions set <session> --budget <dollars>. Then send the prompt again.";
