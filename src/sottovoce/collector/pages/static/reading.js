/**
 * What people type, read as a number or a time. A draw cannot be taken back, so nothing is guessed: the result is a list
 * of readings. None: it cannot be read. Two: the person is asked which one is meant.
 */

const SPACES = /[\s'’]/g; // also those without a break, which Intl puts between thousands
const THOUSANDS = /^([-+]?[1-9]\d{0,2})([.,])(\d{3})$/; // 45,000: thousands here, a fraction there
const GROUPED = /^[-+]?[1-9]\d{0,2}([.,])\d{3}(?:(?:\1\d{3})+|(?=(?!\1)[.,]))(?:(?!\1)[.,]\d*)?$/; // 1.234.567 or 1.234,5

/** The numbers that a text may mean. */
export function numbers(typed) {
  const text = typed.trim().replace("−", "-").replace(/(\d)[\s'’](?=\d{3}(?!\d))/g, "$1");
  const two = THOUSANDS.exec(text);
  if (two) return [Number(two[1] + two[3]), Number(`${two[1]}.${two[3]}`)];
  const grouped = GROUPED.exec(text);
  const plain = (grouped ? text.replaceAll(grouped[1], "") : text).replace(/^([-+]?\d*),(\d*)$/, "$1.$2");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) && Number.isFinite(Number(plain)) ? [Number(plain)] : [];
}

const TIME = /^(\d{1,2})(?:([:h.,])(\d{1,2})?)?(am|pm)?$/;

/**
 * The times that a text may mean, in hours after midnight: 22:30, 22h30, 2230, 10:30 pm, 22.30 Uhr; 7,5 is half past seven.
 * Where days have two halves, 10:30 may be in either.
 */
export function times(typed, halfDays) {
  const marked = typed.toLowerCase().replace(SPACES, "").replace(/([ap])\.?m\.?$/, "$1m").replace(/^(\d{1,2})(\d\d)(?=$|[ap]m$)/, "$1:$2");
  const text = marked.replace(/uhr$|^ore|^alle/, "");
  const [, digits, mark, minutes = "", half] = TIME.exec(text) ?? [];
  if (digits === undefined || (mark === ":" && minutes.length !== 2)) return [];
  const hour = Number(digits);
  const decimal = mark === "." || mark === ",";
  const asTime = decimal && minutes.length !== 2 ? [] : onClock(hour, Number(minutes), half, halfDays && digits[0] !== "0");
  const asFraction = decimal && !half && text === marked ? [Number(`${hour}.${minutes}`)].filter((hours) => hours <= 24) : [];
  return [...new Set([...asTime, ...asFraction])];
}

/** Hours after midnight of an hour and minutes, in the morning or the evening if that is said; else both if `either`. */
function onClock(hour, minutes, half, either) {
  const fits = minutes < 60 && (half ? hour >= 1 && hour <= 12 : hour + minutes / 60 <= 24);
  if (!fits) return [];
  const early = (hour % 12) + minutes / 60;
  if (half) return [half === "am" ? early : early + 12];
  return either && hour >= 1 && hour <= 12 ? [early, early + 12] : [hour + minutes / 60];
}
