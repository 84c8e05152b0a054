/** Expansions that make bash evaluate the value of a variable, and so run the commands in it. */

/** Expansions of one parameter that evaluate nothing but their own text. */
const PLAIN_PARAMETER =
  /^#?(?:[A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[(?:\d+|[@*])\])?(?:$|:?[-=?+]|[#%/^,]|:\s*-?\d+(?:\s*:\s*-?\d+)?$)/;

/** True if an expansion `${…}` evaluates a subscript, an offset, a reference or a prompt. */
export function evaluatesParameter(inner: string): boolean {
  return !PLAIN_PARAMETER.test(inner);
}

/** True if arithmetic reads a variable, whose value is evaluated in turn. */
export function evaluatesNames(arithmetic: string): boolean {
  return /[A-Za-z_$`]/.test(arithmetic);
}
