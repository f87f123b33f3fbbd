// The data of the page, which models/study/page_data.h describes: a document and its tensors, packed or as they are.
import { sizeOf } from "./tensor.js";

const unzipped = async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (digit) => digit.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

// First the first bytes of all words, then the second ones, and so on: word by word instead.
const inWords = (planes) => {
  const words = new Uint8Array(planes.length), count = planes.length / 8;
  for (let first = 0, from = 0; first < 8; ++first)
    for (let k = first; from < (first + 1) * count; k += 8) words[k] = planes[from++];
  return words.buffer;
};

/** {"trace", "tensors"} of unpacked data; each tensor has its `bytes`. */
export const dataOf = (unpacked) => {
  const end = unpacked.indexOf(10), data = JSON.parse(new TextDecoder().decode(unpacked.subarray(0, end)));
  const words = inWords(unpacked.subarray(end + 1));
  let start = 0;
  for (const tensor of Object.values(data.tensors)) {
    const size = sizeOf(tensor.shape) * (tensor.dtype === "f32" ? 4 : 8);
    tensor.bytes = words.slice(start, start + size);
    start += Math.ceil(size / 8) * 8;
  }
  return data;
};

/** What the element of the data holds. */
export async function readData({ type, textContent }) {
  if (type !== "application/gzip") return JSON.parse(textContent);
  const unpacked = await unzipped(textContent).catch(() => {
    throw new Error("its numbers are damaged; write it again");
  });
  return dataOf(unpacked);
}
