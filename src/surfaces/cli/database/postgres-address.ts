/** How a PostgreSQL database is named to people and to its own tools: without its password. */
export function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = "";
  for (const name of [...url.searchParams.keys()]) {
    if (/password|passfile/i.test(name)) url.searchParams.delete(name);
  }
  return url.href;
}

/** For a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function isPostgres(databaseUrl: string): boolean {
  return /^postgres(ql)?:\/\//.test(databaseUrl);
}
