/**
 * sottovoce: randomise a number on the device, send only that.
 *
 *     const client = await Client.open("https://collector.example", "commute", { epsilon: 1 });
 *     await client.report(32);
 */
export { Client } from "./client.js";
export {
  ArgumentError, ArgumentTypeError, BudgetError, CollectorError, DataError, LedgerError, PrivacyError, SpecError,
} from "./errors.js";
export { bound, disclosure, frequencies } from "./disclosure.js";
export { audit, fromJson, specDigest } from "./formats.js";
export { Ledger } from "./ledger.js";
export { Polar } from "./polar.js";
export { useCrypto } from "./random.js";
export { Reporter } from "./reporter.js";
export { Scalar } from "./scalar.js";
export { sha256 } from "./sha256.js";
export { browserStore, indexedStore, memoryStore } from "./stores.js";
export { Survey } from "./survey.js";
export { Translates } from "./translates.js";
