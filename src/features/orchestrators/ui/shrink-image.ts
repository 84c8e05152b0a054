/** Scales an image down to an avatar's size, as a `data:` URL that is small enough to upload. */
const SIDE_PX = 128;

export async function shrinkImage(file: Blob): Promise<string> {
  const image = await createImageBitmap(file);
  try {
    const canvas = document.createElement("canvas");
    canvas.width = SIDE_PX;
    canvas.height = SIDE_PX;
    const side = Math.min(image.width, image.height);
    const left = (image.width - side) / 2;
    const top = (image.height - side) / 2;
    canvas.getContext("2d")?.drawImage(image, left, top, side, side, 0, 0, SIDE_PX, SIDE_PX);
    return canvas.toDataURL("image/webp", 0.9);
  } finally {
    image.close();
  }
}
