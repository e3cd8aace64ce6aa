/** The page's own texts, in a language that the person reads; numbers and times as they write them. */
import { writeAs } from "./words.js";

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español", it: "Italiano" };
const CHOSEN = "sottovoce-language";
const primary = (tag) => tag.split("-")[0].toLowerCase();

let texts = {};
let locale = "en";

/** The language that was chosen in this tab, the first of the browser's that there are texts in, or that of the campaign. */
export function preferred(campaign = "") {
  const tags = [sessionStorage.getItem(CHOSEN) ?? "", ...navigator.languages, campaign];
  return tags.map(primary).find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";
}

/** Speak a language from now on. */
export async function speak(language) {
  const response = await fetch(`/static/languages/${language}.json`, { credentials: "omit" });
  texts = await response.json();
  locale = navigator.languages.find((tag) => primary(tag) === language) ?? language; // de-CH writes 1’000.5
  writeAs(locale);
  document.documentElement.lang = language;
}

export const remember = (language) => sessionStorage.setItem(CHOSEN, language);

/** The text of a key, with values in its {places}. */
export const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** Whether there is a text for a key. */
export const known = (key) => Object.hasOwn(texts, key);

/** The text of a key, or where something is one of a kind that of its singular. */
export const sayOf = (count, key, values) => say(count === 1 ? `${key}_one` : key, values);

/** A number as it is typed, without marks between thousands; with one more decimal where three might be thousands. */
export function entry(value) {
  const text = new Intl.NumberFormat(locale, { useGrouping: false, maximumSignificantDigits: 12 }).format(value);
  return /^\D?[1-9]\d{0,2}[.,]\d{3}$/.test(text) ? `${text}0` : text;
}

/** Hours after midnight as a time of the day. */
export function clock(hours) {
  const time = new Date(Math.round(hours * 60) * 60_000);
  return new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit", timeZone: "UTC" }).format(time);
}

/** Whether 10:30 may be in the evening. */
export const halfDays = () => new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hour12;

export const day = (moment) => new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" }).format(new Date(moment));

export const list = (items) => new Intl.ListFormat(locale, { type: "disjunction" }).format(items);
