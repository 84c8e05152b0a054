/** Address of a PostgreSQL database for people and for its own tools, without its password. */
export function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = "";
  for (const name of [...url.searchParams.keys()]) {
    if (/password|passfile/i.test(name)) url.searchParams.delete(name);
  }
  return url.href;
}

/** Quotes text for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function isPostgres(databaseUrl: string): boolean {
  return /^postgres(ql)?:\/\//.test(databaseUrl);
}
