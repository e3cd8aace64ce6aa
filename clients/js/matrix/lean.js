/** An app that only reads a spec and randomises: no client, no ledger. */
import { fromJson } from "sottovoce";

export const cell = (text, value) => fromJson(text).report(value);
