/**
 * Links keep the search of the address, so that the list at the side stays as it is. What belongs to
 * one page only must not follow to the others: a page names what is its own, and it goes with it.
 */
interface Search {
  [name: string]: unknown;
  /** Those that the page one goes to has a use for. */
  [OWN]?: readonly string[];
}

const OWN = Symbol("own");

interface Step {
  search: object;
  next: (search: never) => object;
}

const stepOn = ({ search, next }: Step): Search => ({ ...next(search as never) });

/** For the frame of all pages: the names that some page has for itself. */
export function dropForeign(names: readonly string[]) {
  return (step: Step): never => {
    const { [OWN]: own = [], ...search } = stepOn(step);
    for (const name of names) if (!own.includes(name)) delete search[name];
    return search as never;
  };
}

/** For such a page. */
export function keepOwn(names: readonly string[]) {
  return (step: Step): never => ({ ...stepOn(step), [OWN]: names }) as never;
}
