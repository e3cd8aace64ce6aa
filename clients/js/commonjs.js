/**
 * Writes cjs/: the package for `require`, module by module, line by line. It runs when the package is packed or
 * installed from its repository (`npm run prepare`); a test runs it and holds what it wrote against the vectors.
 *
 * Only the forms of import and export that this package uses are translated; any other is an error.
 */
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const names = (list) => list.split(",").map((name) => name.trim()).filter(Boolean);

/** One module, in the words of CommonJS. */
export function translate(source) {
  const exported = [];
  const text = source
    .replace(/^import \* as (\w+) from "([^"]+)";$/gm, 'const $1 = require("$2");')
    .replace(/^import \{([^}]*)\} from "([^"]+)";$/gm, (_, list, path) => `const {${list}} = require("${path}");`)
    .replace(/^export \* from "([^"]+)";$/gm, 'Object.assign(exports, require("$1"));')
    .replace(/^export \{([^}]*)\} from "([^"]+)";$/gm, (_, list, path) => {
      const taken = names(list).map((name) => `exports.${name} = from.${name};`).join(" ");
      return `{ const from = require("${path}"); ${taken} }`;
    })
    .replace(/^export ((?:async )?function|class|const) (\w+)/gm, (_, kind, name) => {
      exported.push(name);
      return `${kind} ${name}`;
    });
  const left = /^(?:import|export)\b.*$/m.exec(text);
  if (left) throw new Error(`cannot translate: ${left[0]}`);
  return `"use strict";\n${text}${exported.map((name) => `exports.${name} = ${name};\n`).join("")}`;
}

/** The whole package, in a folder. */
export async function build(folder) {
  await rm(folder, { recursive: true, force: true });
  for (const part of ["lib", "node"]) {
    await mkdir(join(folder, part), { recursive: true });
    for (const file of await readdir(join(ROOT, part))) {
      const [from, to] = [join(ROOT, part, file), join(folder, part, file)];
      if (file.endsWith(".js")) await writeFile(to, translate(await readFile(from, "utf8")));
      else await copyFile(from, to);
    }
  }
  await writeFile(join(folder, "package.json"), '{"type": "commonjs"}\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(join(ROOT, "cjs"));
