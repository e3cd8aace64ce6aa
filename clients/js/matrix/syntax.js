/** Parses what is published as ES2019:  node syntax.js FOLDER  prints what is younger, or imports node: where it must not. */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "acorn";

const [folder] = process.argv.slice(2);
for (const [part, sourceType] of [["lib", "module"], ["node", "module"], ["cjs/lib", "script"], ["cjs/node", "script"]]) {
  for (const file of await readdir(join(folder, part))) {
    if (!file.endsWith(".js")) continue;
    const text = await readFile(join(folder, part, file), "utf8");
    try {
      parse(text, { ecmaVersion: 2019, sourceType });
    } catch (error) {
      console.log(`${part}/${file}: ${error.message}`);
    }
    // Functions that came with later editions; BigInt is the one that is needed.
    const young = /\.at\(-|findLast|structuredClone|\.replaceAll\(|matchAll|globalThis|allSettled|Object\.hasOwn|AbortSignal\.timeout|crypto\.subtle|WeakRef/.exec(text);
    if (young) console.log(`${part}/${file}: ${young[0]}`);
    if (part.endsWith("lib") && /["']node:/.test(text)) console.log(`${part}/${file}: node:`);
  }
}
