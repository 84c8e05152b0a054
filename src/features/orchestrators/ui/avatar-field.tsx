import { useId, useState } from "react";
import { Avatar, isUploaded } from "#surfaces/web/kit/avatar.tsx";
import { TextField } from "#surfaces/web/kit/field.tsx";
import { shrinkImage } from "./shrink-image.ts";

/** Lets a person choose an emoji or upload an image for their agent. */
export function AvatarField({
  name,
  avatar,
  onChange,
}: {
  name: string;
  avatar: string;
  onChange(avatar: string): void;
}) {
  const fileId = useId();
  const [problem, setProblem] = useState<string>();
  const isImage = avatar.startsWith("data:") || isUploaded(avatar);
  const upload = async (file: File | undefined) => {
    if (!file) return;
    try {
      onChange(await shrinkImage(file));
      setProblem(undefined);
    } catch {
      setProblem("Your browser cannot read this image. Choose another file.");
    }
  };
  return (
    <>
      <label
        htmlFor={fileId}
        title="Upload an image"
        className="cursor-pointer rounded-full focus-within:outline-2 focus-within:outline-accent"
      >
        <Avatar name={name} avatar={avatar === "" ? null : avatar} className="size-9 text-lg" />
        <span className="sr-only">Upload an image</span>
        <input
          id={fileId}
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          className="sr-only"
          onChange={(event) => void upload(event.target.files?.[0])}
        />
      </label>
      <div className="w-28 shrink-0">
        <TextField
          label="Avatar"
          hint={
            isImage
              ? "image; type an emoji to replace it"
              : "an emoji; click the circle for an image"
          }
          maxLength={16}
          placeholder="🦉"
          value={isImage ? "" : avatar}
          problem={problem}
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
    </>
  );
}
