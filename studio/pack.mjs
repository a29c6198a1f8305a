// Compresses files of the page: `node pack.mjs FOLDER FILE…` writes FOLDER/FILE.gz for dist/FILE. Zopfli writes the format of gzip, some hundredths smaller.
import { gzipAsync } from "@gfx/zopfli";
import { readFileSync, writeFileSync } from "node:fs";

/** More save less than a thousandth, and take minutes. */
const ITERATIONS = 3;

const [folder, ...files] = process.argv.slice(2);
for (const file of files) writeFileSync(`${folder}/${file}.gz`, await gzipAsync(readFileSync(`dist/${file}`), { numiterations: ITERATIONS }));
