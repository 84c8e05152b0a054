// dependency-cruiser reads sources with TypeScript's compiler API, which TypeScript 7 no longer
// has. An import of "typescript" in its process resolves to version 6, installed under another
// name.
import { createRequire, registerHooks } from "node:module";

const NAME = "typescript-compiler-api";

// Without it dependency-cruiser would see no imports at all, and find no violation.
createRequire(import.meta.url).resolve(NAME);

registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(specifier.replace(/^typescript(?=$|\/)/, NAME), context);
  },
});
