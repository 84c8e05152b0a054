import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ServiceName, services } from "../../test/services/servers/services.ts";

/** The services that any suite imports from test/services/. */
export async function listImportedServices(): Promise<ServiceName[]> {
  const found = new Set<string>();
  for (const file of [...(await listSources("src")), ...(await listSources("test"))]) {
    const text = await readFile(file, "utf8");
    for (const [, name = ""] of text.matchAll(/from "[^"]*services\/([a-z]+)\.ts"/g)) {
      found.add(name);
    }
  }
  return (Object.keys(services) as ServiceName[]).filter((name) => found.has(name));
}

async function listSources(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /\.tsx?$/.test(name)).map((name) => join(folder, name));
}
