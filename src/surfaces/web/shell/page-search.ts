/**
 * Search parameters across links. Links keep them, so that the list at the side stays as it is.
 * Parameters of one page must not follow to others: a page names its own, and they are dropped when
 * leaving it.
 */
interface Search {
  [name: string]: unknown;
  /** Parameters that the target page uses. */
  [OWN]?: readonly string[];
}

const OWN = Symbol("own");

interface Step {
  search: object;
  next: (search: never) => object;
}

const runNext = ({ search, next }: Step): Search => ({ ...next(search as never) });

/** Middleware of the frame: drops parameters that belong to other pages. */
export function dropForeign(names: readonly string[]) {
  return (step: Step): never => {
    const { [OWN]: own = [], ...search } = runNext(step);
    for (const name of names) if (!own.includes(name)) delete search[name];
    return search as never;
  };
}

/** Middleware of a page with parameters of its own. */
export function keepOwn(names: readonly string[]) {
  return (step: Step): never => ({ ...runNext(step), [OWN]: names }) as never;
}
