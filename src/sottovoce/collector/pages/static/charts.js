/** The charts, with plotly.js: a line with a band, a rose for circles, bars, a map, and the planner's curve. */
import { shape } from "./dom.js";
import { number, percent, withUnit, writer } from "./words.js";

const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false, showTips: false };

let loading = null;

/**
 * plotly.js, loaded when the first chart is drawn. While it starts it writes style elements (for maps, which
 * are not used here); the content security policy forbids them, so it is given inert elements instead.
 */
function plotly() {
  loading ??= new Promise((done, failed) => {
    const create = document.createElement;
    const script = document.createElement("script");
    document.createElement = function (name, ...more) {
      return create.call(this, name === "style" ? "template" : name, ...more);
    };
    const finish = (then) => () => {
      document.createElement = create;
      then(globalThis.Plotly);
    };
    script.src = "/static/plotly.min.js";
    script.onload = finish(done);
    script.onerror = finish(() => failed(new Error("plotly.js could not be loaded")));
    document.head.append(script);
  });
  return loading;
}

/** Colours of the page, light or dark as it is now. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), soft: of("--soft"), line: of("--line"), accent: of("--accent"), band: of("--band"), card: of("--card") };
}

function layout(colours, more) {
  return {
    paper_bgcolor: colours.card,
    plot_bgcolor: colours.card,
    font: { color: colours.ink, size: 13, family: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" },
    margin: { l: 52, r: 12, t: 8, b: 44 },
    hovermode: "x",
    showlegend: false,
    dragmode: false,
    ...more,
  };
}

const axis = (colours, more) => ({
  gridcolor: colours.line, linecolor: colours.line, zeroline: false, fixedrange: true, automargin: true, ...more,
});

/** Ticks with the page's own numbers: plotly.js would write 50k, 10n and 1T. */
const ticked = (values, write) => ({ tickmode: "array", tickvals: values, ticktext: values.map((value) => write(value)) });

/** A few round numbers from `low` to `high`. */
function roundTicks(low, high) {
  const rough = (high - low) / 6;
  const order = Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((digit) => digit * 10 ** order >= rough * 0.999) * 10 ** order;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** plotly.js reads a little markup in texts; an operator's words have none. */
const plain = (text) => (text ?? "").replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

const middles = (edges) => edges.slice(1).map((right, i) => (edges[i] + right) / 2);

const EVEN = "if all were equally common";

/** What the pointer is told of each bin: where its share lies. */
const limits = ({ edges, ribbon_low, ribbon_high }, unit, write = number) => ribbon_low.map((low, i) =>
  `${withUnit(`${write(edges[i])} to ${write(edges[i + 1])}`, unit)}<br>${percent(low)} to ${percent(ribbon_high[i])} of people`);

/** How high a picture is at least: a flat result fills half of it, and its noise is not magnified. */
const room = ({ probability, ribbon_high }) => Math.max(200 / probability.length, 105 * Math.max(...ribbon_high));

/** The likeliest curve in the ribbon of those that the reports allow, and below it where values appear to be most common. */
export async function drawDistribution(element, distribution, words) {
  const { edges, probability, ribbon_low, ribbon_high, shaped, most_common } = distribution;
  const [colours, unit, even] = [palette(), plain(words), 100 / probability.length];
  const x = [edges[0], ...middles(edges), edges.at(-1)];
  const ended = (list) => [list[0], ...list, list.at(-1)];
  const line = (y, more) => ({ x, y: ended(y.map((p) => 100 * p)), type: "scatter", mode: "lines", hoverinfo: "skip", ...more });
  const traces = [
    line(ribbon_low, { line: { width: 0 } }),
    line(ribbon_high, { line: { width: 0 }, fill: "tonexty", fillcolor: colours.band, hoverinfo: "text", hovertext: ended(limits(distribution, unit)) }),
    // A line that the reports do not tell from a flat one would be read as a shape.
    ...(shaped ? [line(probability, { line: { color: colours.accent, width: 1.5 } })] : []),
  ];
  const across = { xref: "paper", x0: 0, x1: 1, y0: even, y1: even, line: { color: colours.soft, width: 1, dash: "dot" } };
  const bars = most_common.map(([x0, x1]) => ({ type: "rect", x0, x1, yref: "paper", y0: -0.03, y1: -0.005, fillcolor: colours.accent, line: { width: 0 } }));
  return (await plotly()).react(element, traces, layout(colours, {
    xaxis: axis(colours, { title: { text: unit || "value" }, range: [edges[0], edges.at(-1)], ticks: "outside", ticklen: 9, tickcolor: colours.card,
      ...ticked(roundTicks(edges[0], edges.at(-1)), writer(edges[0], edges.at(-1))) }),
    yaxis: axis(colours, { title: { text: "share of people, %" }, range: [0, room(distribution)] }),
    shapes: [across, ...bars],
    annotations: [{ xref: "paper", x: 1, xanchor: "right", y: even, yanchor: "bottom", text: EVEN, showarrow: false, font: { size: 11, color: colours.soft } }],
  }), CONFIG);
}

/** The share of people up to each value, in the band that holds all of it. */
export async function drawCumulative(element, { edges, probability, cdf_low, cdf_high }, words) {
  const [colours, unit] = [palette(), plain(words)];
  let sum = 0;
  const shares = [0, ...probability.map((p) => (sum += p))];
  const line = (y, more) => ({ x: edges, y: y.map((p) => 100 * p), type: "scatter", mode: "lines", hoverinfo: "skip", ...more });
  const hover = edges.map((edge, i) => `up to ${withUnit(number(edge), unit)}<br>${percent(cdf_low[i])} to ${percent(cdf_high[i])}`);
  const traces = [
    line(cdf_low, { line: { width: 0, shape: "hv" } }), // between two edges: as low as the left one, as high as the right one
    line(cdf_high, { line: { width: 0, shape: "vh" }, fill: "tonexty", fillcolor: colours.band }),
    line(shares, { line: { color: colours.accent, width: 2.5 }, hoverinfo: "text", hovertext: hover }),
  ];
  return (await plotly()).react(element, traces, layout(colours, {
    xaxis: axis(colours, { title: { text: unit || "value" }, range: [edges[0], edges.at(-1)], ...ticked(roundTicks(edges[0], edges.at(-1)), writer(edges[0], edges.at(-1))) }),
    yaxis: axis(colours, { title: { text: "share of people up to it, %" }, range: [0, 100] }),
  }), CONFIG);
}

/** Estimates with their intervals: over days from left to right, others one below the other, as points or as bars. */
export async function drawIntervals(element, names, estimates, { factor, unit }, { across = false, bars = false } = {}) {
  const colours = palette();
  const [value, name] = across ? ["y", "x"] : ["x", "y"];
  const each = (of) => estimates.map((one) => factor * of(one));
  const form = bars ? { type: "bar", orientation: "h", marker: { color: colours.band } } : { type: "scatter", mode: "markers", marker: { color: colours.accent, size: 8 } };
  const error = { type: "data", symmetric: false, color: bars ? colours.accent : colours.band, thickness: bars ? 2.5 : 4, width: bars ? 6 : 0,
    array: each((e) => e.high - e.value), arrayminus: each((e) => e.value - e.low) };
  const [values, lows, highs] = ["value", "low", "high"].map((end) => each((e) => e[end]));
  const trace = { ...form, [`error_${value}`]: error, [value]: values, [name]: names.map(plain), hoverinfo: "text",
    hovertext: values.map((x, i) => `${plain(names[i])}: ${withUnit(number(x), plain(unit))}<br>${number(lows[i])} to ${number(highs[i])}`) };
  if (!across) element.style.height = `${Math.max(10, 4 + 2.2 * names.length)}rem`;
  const title = { text: unit === "%" ? "share of people, %" : plain(unit) || "value" };
  return (await plotly()).react(element, [trace], layout(colours, {
    hovermode: "closest",
    [`${value}axis`]: axis(colours, { title, ...(bars ? { range: [0, Math.min(100, 1.05 * Math.max(...highs))] } : {}) }),
    [`${name}axis`]: axis(colours, { type: "category", ...(across ? {} : { autorange: "reversed" }) }),
  }), CONFIG);
}

/** Shares of people by place, stronger where there are more; lengths are to scale. plotly.js would need inline styles for it. */
export function drawMap(element, { x, y, shares, aspect, degrees }) {
  const colours = palette();
  const [across, along] = [x.at(-1) - x[0], (y.at(-1) - y[0]) * aspect];
  const scale = 300 / Math.max(across, along);
  const [width, height] = [across * scale, along * scale];
  const cell = { width: width / (x.length - 1), height: height / (y.length - 1) };
  const most = Math.max(...shares.flat().filter((share) => share !== null));
  const picture = shape("svg", { viewBox: `-60 -12 ${width + 160} ${height + 52}`, class: "map" });
  shares.forEach((row, j) => row.forEach((share, i) => {
    if (share === null) return;
    const at = { x: (i - 0.5) * cell.width, y: height - (j + 0.5) * cell.height };
    const place = shape("rect", { ...at, ...cell, fill: colours.accent, "fill-opacity": (share / most).toFixed(3) });
    place.append(shape("title", {}, `${number(x[i])}, ${number(y[j])}: ${percent(share)}`));
    picture.append(place);
  }));
  const label = (text, left, top, anchor) => picture.append(shape("text", { x: left, y: top, "text-anchor": anchor, fill: colours.soft }, text));
  for (const [value, left] of [[x[0], 0], [x.at(-1), width]]) label(number(value), left, height + 24, "middle");
  for (const [value, top] of [[y[0], height], [y.at(-1), 0]]) label(number(value), -14, top + 5, "end");
  label(degrees ? "longitude" : "x", width / 2, height + 36, "middle");
  label(degrees ? "latitude" : "y", -14, height / 2, "end");
  for (const [part, top] of [[1, 0], [0.5, 26], [0, 52]]) {
    picture.append(shape("rect", { x: width + 24, y: top, width: 18, height: 18, fill: colours.accent, "fill-opacity": part, stroke: colours.line }));
    label(percent(part * most, 2), width + 48, top + 14, "start");
  }
  element.replaceChildren(picture);
}

/** The same on a circle, areas as shares: zero at the top, clockwise, like a clock or a compass; the mean as a hand with its arc. */
export async function drawRose(element, distribution, words, mean, write = number) {
  const { edges, probability, ribbon_low, ribbon_high, shaped, most_common } = distribution;
  const [colours, unit, most] = [palette(), plain(words), room(distribution)];
  const top = 1.2 * Math.sqrt(most);
  const [start, circle] = [edges[0], edges.at(-1) - edges[0]];
  const degrees = (value) => (360 * (value - start)) / circle;
  const theta = middles(edges).map(degrees);
  const width = edges.slice(1).map((right, i) => degrees(right) - degrees(edges[i]));
  const ticks = Array.from({ length: 8 }, (_, i) => i * 45);
  const closed = (list) => [...list, list[0]];
  const radius = (list) => closed(list).map((p) => Math.sqrt(100 * p));
  const line = (points, r, more, also) => ({ type: "scatterpolar", mode: "lines", hoverinfo: "skip", theta: points, r, line: more, ...also });
  const arc = (low, high, r, more) => {
    const [from, to] = [degrees(low), degrees(high)];
    return line(Array.from({ length: 61 }, (_, i) => from + ((to - from) * i) / 60), Array(61).fill(r), more);
  };
  const around = closed(theta);
  const rings = roundTicks(0, most).slice(1);
  const traces = [
    line([...around, ...closed(theta).reverse()], [...radius(ribbon_high), ...radius(ribbon_low).reverse()], { width: 0 }, { fill: "toself", fillcolor: colours.band }),
    { type: "barpolar", theta, width, r: radius(ribbon_high).slice(0, -1), opacity: 0, hoverinfo: "text", hovertext: limits(distribution, unit, write) },
    arc(start, start + circle, Math.sqrt(100 / probability.length), { color: colours.soft, width: 1, dash: "dot" }),
    ...(shaped ? [line(around, radius(probability), { color: colours.accent, width: 1.5 })] : []),
    ...most_common.map(([low, high]) => arc(low, high, top, { color: colours.accent, width: 8 })),
  ];
  if (mean) {
    const [from, to] = [mean.low ?? start, mean.high ?? start + circle];
    traces.push(line([degrees(mean.value), degrees(mean.value)], [0, 0.9 * top], { color: colours.ink, width: 2.5 }));
    traces.push(arc(from, to < from ? to + circle : to, 0.9 * top, { color: colours.ink, width: 5 }));
  }
  return (await plotly()).react(element, traces, layout(colours, {
    hovermode: "closest",
    margin: { l: 48, r: 48, t: 28, b: 28 },
    polar: {
      bgcolor: colours.card,
      angularaxis: {
        rotation: 90, direction: "clockwise", gridcolor: colours.line, linecolor: colours.line,
        tickmode: "array", tickvals: ticks, ticktext: ticks.map((d) => write(start + (circle * d) / 360)),
      },
      radialaxis: { gridcolor: colours.line, linecolor: colours.line, angle: 67.5, tickangle: 67.5, ...ticked(rings.map(Math.sqrt), (r) => percent((r * r) / 100, 2)), tickfont: { color: colours.soft, size: 11 }, range: [0, top] },
    },
  }), CONFIG);
}

/** 1, 2 and 5 times the powers of ten that a curve passes. */
function logTicks(values) {
  const [low, high] = [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
  const orders = Array.from({ length: 2 + Math.floor(Math.log10(high / low)) }, (_, i) => i + Math.floor(Math.log10(low)));
  return orders.flatMap((order) => [1, 2, 5].map((digit) => Number(`${digit}e${order}`))).filter((v) => v >= low && v <= high);
}

/** Expected error against ε for a number of people; the chosen ε marked. */
export async function drawPlan(element, epsilons, errors, chosen, words, sign) {
  const [colours, unit] = [palette(), plain(words)];
  const traces = [
    { x: epsilons, y: errors, type: "scatter", mode: "lines", line: { color: colours.accent, width: 2.5 },
      hoverinfo: "text", hovertext: errors.map((y, i) => `ε = ${number(epsilons[i])}: ${sign} ${withUnit(number(y, 3), unit)}`) },
    { x: [epsilons[chosen]], y: [errors[chosen]], type: "scatter", mode: "markers", hoverinfo: "skip",
      marker: { color: colours.accent, size: 13, line: { color: colours.card, width: 2 } } },
  ];
  return (await plotly()).react(element, traces, layout(colours, {
    hovermode: "closest",
    xaxis: axis(colours, { type: "log", title: { text: "ε" }, ...ticked([0.1, 0.2, 0.5, 1, 2, 4, 8], number) }),
    yaxis: axis(colours, { type: "log", title: { text: `${sign} ${unit}`.trim() }, ...ticked(logTicks(errors), number) }),
  }), CONFIG);
}
