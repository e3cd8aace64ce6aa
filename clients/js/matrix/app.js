/** What an app does with the package, whole: `run` gives what a page or a program shows. */
import { Client, Ledger, fromJson, memoryStore } from "sottovoce";

export async function run(specs) {
  const digests = [];
  const posts = [];
  const answers = { "/survey": specs.survey, "/scalar": specs.scalar };
  const fetch = async (url, { method = "GET", body } = {}) => {
    const { spec, digest } = answers[Object.keys(answers).find((name) => url.includes(name))];
    const reply = (content) => ({ ok: true, status: 200, headers: { get: () => null }, text: async () => JSON.stringify(content) });
    if (method === "GET") return reply({ spec, digest, missing: "uniform", outside: "clip" });
    posts.push(JSON.parse(body));
    return reply({ accepted: 1 });
  };
  const wait = async () => {};
  const survey = await Client.open("https://collector.example", "survey", { epsilon: 1, store: memoryStore(), fetch, wait });
  const one = await survey.report({ age: 41, start: 8.5 });
  const ledger = await Ledger.open(memoryStore(), { budget: 1.5 });
  const scalar = await Client.open("https://collector.example", "scalar", { epsilon: 1, ledger, fetch, wait });
  await scalar.report(7, { period: "monday" });
  const refusal = await scalar.report(7, { period: "tuesday" }).catch((error) => `${error.name} ${error.code}`);
  const { law, words, values, expected } = specs;
  const reporter = fromJson(law);
  const halves = (text) => Uint32Array.from(text.match(/.{8}/g), (digits) => Number.parseInt(digits, 16));
  const reports = values.map((value, i) => reporter.reportFrom(halves(words[i]), value));
  digests.push(...posts.map(({ digest }) => digest));
  return { state: one.state, width: one.cells.length, digests, refusal, same: String(reports) === String(expected), epsilon: reporter.audit.epsilon };
}
