import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ROUTE_TABLE } from "#client/index.ts";
import { fetchFile } from "./api/api-client.ts";
import { keys } from "./api/query-keys.ts";

/** Avatar of an agent: its uploaded image, its emoji, or the first letter of its name. */
export function Avatar({
  name,
  avatar,
  className,
}: {
  name: string;
  avatar: string | null;
  className?: string;
}) {
  return (
    <span
      aria-hidden
      className={clsx(
        "grid shrink-0 place-items-center overflow-hidden rounded-full bg-accent-soft font-semibold text-accent select-none",
        className,
      )}
    >
      {isUploaded(avatar) ? <AvatarImage name={name} path={avatar} /> : face(name, avatar)}
    </span>
  );
}

/** Path of the avatar route up to the person's id. */
const UPLOADED = ROUTE_TABLE.orchestrators.getAvatar.replace(/^GET |\{.*$/g, "");

/** True for an image that the server stores. */
export function isUploaded(avatar: string | null): avatar is string {
  return avatar?.startsWith(UPLOADED) ?? false;
}

function AvatarImage({ name, path }: { name: string; path: string }) {
  const image = useQuery({
    queryKey: keys.avatar(path),
    queryFn: async () => dataUrlOf(await fetchFile(path)),
    // The address changes with the image.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return image.data === undefined ? face(name, null) : picture(image.data);
}

function face(name: string, avatar: string | null) {
  return avatar?.startsWith("data:image/") ? picture(avatar) : faceOf(name, avatar);
}

const picture = (source: string) => (
  <img src={source} alt="" className="size-full object-cover" draggable={false} />
);

function dataUrlOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

const MAX_GRAPHEMES = 2;

/** Returns the emoji or the initial. Other hosts' images are not fetched: the host would learn who looks. */
export function faceOf(name: string, avatar: string | null): string {
  const graphemes = [...new Intl.Segmenter().segment((avatar ?? "").trim())];
  if (graphemes.length > 0 && graphemes.length <= MAX_GRAPHEMES) return (avatar ?? "").trim();
  return ([...name.trim()][0] ?? "?").toUpperCase();
}
