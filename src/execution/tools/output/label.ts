/**
 * Marks text from outside as data, so that a model can tell where it begins and ends. The text must
 * not be able to end its own mark.
 */
export function labelFetched(url: string, text: string): string {
  const inside = text.replaceAll(/<(?=\/?\s*fetched\b)/gi, "&lt;");
  return `<fetched url="${url.replaceAll('"', "%22")}">\n${inside}\n</fetched>`;
}
