/** The collector's HTTP interface as the pages use it. */

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

const ask = (path, token) => send("GET", path, null, token);

/** A request with a body of JSON, or none. */
export async function send(method, path, content, token) {
  const headers = { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...(content ? { "Content-Type": "application/json" } : {}) };
  const body = content ? JSON.stringify(content) : undefined;
  const response = await fetch(`/v1/${path}`, { method, headers, body, cache: "no-store", credentials: "omit" });
  if (response.ok) return response;
  const { code = "", message = response.statusText } = await response.json().catch(() => ({}));
  throw new Refused(response.status, code, message);
}

const json = async (path, token) => (await ask(path, token)).json();
const at = (name) => `campaigns/${encodeURIComponent(name)}`;

export const campaigns = async (token) => (await json("campaigns", token)).campaigns;
/** A campaign; `domain` is that of the number it asks for, if it is one. */
export const campaign = async (name, token) => {
  const content = await json(at(name), token);
  return { ...content, domain: content.questions.value?.domain ?? null };
};
/** Whether an invitation can still be used; the refusal says why not. */
export const checkInvitation = (name, token) => ask(`${at(name)}/invitation`, token);
export const summary = (name, token) => json(`${at(name)}/summary`, token);
export const estimates = (name, confidence, sequential, token) => json(`${at(name)}/estimates?confidence=${confidence}&watched=${sequential}`, token);
export const planner = () => json("planner");
export const counts = async (name, format, token) => (await ask(`${at(name)}/counts?format=${format}`, token)).blob();
