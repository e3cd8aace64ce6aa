/**
 * Answers the questions of `sottovoce vectors --check`: a JSON object per line in, one per line out. With --many the
 * cells of numbers come from the loop over many values.
 */
import { createInterface } from "node:readline";
import { PrivacyError, Scalar, SpecError, audit, fromJson, specDigest } from "sottovoce";

const many = process.argv.includes("--many");
const halves = (text) => Uint32Array.from(text.match(/.{8}/g), (digits) => Number.parseInt(digits, 16));

function one(reporter, value, words) {
  try {
    return [].concat(reporter.reportFrom(words, value));
  } catch (error) {
    if (error.code === "outside") return null;
    throw error;
  }
}

/** The same by `cellsAt`, for those values that lie in the domain. */
function atOnce(reporter, values, words) {
  const inside = values.map((value) => reporter.domain.contains(value));
  const each = reporter.law.words; // of a coin's word only the leading half
  const flat = words.flatMap((word, i) => (inside[i] ? [...word.slice(0, each)] : []));
  const cells = Array.from(reporter.cellsAt(values.filter((_, i) => inside[i]), Uint32Array.from(flat)));
  return inside.map((is) => (is ? [cells.shift()] : null));
}

function answer({ do: what, spec, values, words }) {
  try {
    if (what === "audit") {
      const { ratio, epsilon, claimed, holds } = audit(spec);
      return { ratio: ratio.map(String), epsilon, claimed, holds };
    }
    const reporter = fromJson(spec);
    const drawn = words.map(halves);
    const reports = many && reporter instanceof Scalar
      ? atOnce(reporter, values, drawn) : values.map((value, i) => one(reporter, value, drawn[i]));
    return { digest: specDigest(spec), cells: reporter.cells, width: reporter.width, reports };
  } catch (error) {
    if (error instanceof PrivacyError) return { error: "privacy" };
    if (error instanceof SpecError) return { error: "spec" };
    throw error;
  }
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(answer(JSON.parse(line))));
