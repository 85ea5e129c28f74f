const PLOT = { width: 300, height: 176, left: 38, right: 12, top: 12, bottom: 30 };

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children.filter(Boolean));
  return node;
}

const percent = (value) => (value === null ? "–" : `${Math.round(100 * value)} %`);
const figureText = (metric, value) => (metric.share ? percent(value) : value === null ? "–" : value.toFixed(1));
const intervalText = (metric, point) => `${figureText(metric, point.mean)} (${figureText(metric, point.low)} to ${figureText(metric, point.high)})`;

/** A metric over the values tried, with its interval as a band; or, where none was varied, two figures side by side. */
function metricPlot(metric, figures, current) {
  const top = metric.share ? 1 : Math.max(1, metric.base.high ?? 0, ...metric.points.map((point) => point.high ?? 0)) * 1.08;
  const y = (value) => PLOT.top + (1 - value / top) * (PLOT.height - PLOT.top - PLOT.bottom);
  const drawn = figures.vary ? lineParts(metric, y, current) : barParts(metric, y);
  const label = `${metric.title}: ${figures.vary ? metric.points.map((p) => `${numberText(p.x)}: ${intervalText(metric, p)}`).join("; ") : intervalText(metric, metric.base)}`;
  const picture = svg("svg", { class: "wb-plot", viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": label }, ...gridLines(metric, y, top), ...drawn);
  return el("figure", {}, el("figcaption", {}, el("b", {}, metric.title), el("small", {}, metric.explained)), picture);
}

function gridLines(metric, y, top) {
  const steps = metric.share ? [0, 0.25, 0.5, 0.75, 1] : [0, Math.round(top / 2), Math.floor(top)];
  return steps.flatMap((value) => [
    svg("line", { class: "wb-grid", x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: y(value), y2: y(value) }),
    text(metric.share ? `${100 * value} %` : String(value), { x: PLOT.left - 6, y: y(value) + 3.5, "text-anchor": "end" }),
  ]);
}

function text(words, attributes) {
  const node = svg("text", attributes);
  node.textContent = words;
  return node;
}

function lineParts(metric, y, current) {
  const points = metric.points.filter((point) => point.mean !== null);
  if (!points.length) return [];
  const low = points[0].x, span = points.at(-1).x - low || 1;
  const x = (value) => PLOT.left + 8 + ((value - low) / span) * (PLOT.width - PLOT.left - PLOT.right - 16);
  const band = [...points.map((p) => [p.x, p.high]), ...[...points].reverse().map((p) => [p.x, p.low])];
  const path = (pairs) => pairs.map(([a, b], index) => `${index ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  let lastLabel = -Infinity;
  return [
    svg("path", { class: "wb-band", d: `${path(band)}Z` }),
    metric.base.mean !== null && svg("line", { class: "wb-now", x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: y(metric.base.mean), y2: y(metric.base.mean) }),
    svg("path", { class: "wb-line", d: path(points.map((p) => [p.x, p.mean])) }),
    ...points.flatMap((point) => {
      const dot = svg("circle", { class: point.x === current ? "wb-dot wb-here" : "wb-dot", cx: x(point.x), cy: y(point.mean), r: point.x === current ? 5 : 3.5 });
      dot.append(svg("title"));
      dot.firstChild.textContent = `${numberText(point.x)}: ${intervalText(metric, point)}`;
      const fits = x(point.x) - lastLabel > 22;
      if (fits) lastLabel = x(point.x);
      return [dot, fits && text(numberText(point.x), { x: x(point.x), y: PLOT.height - 10, "text-anchor": "middle" })];
    }),
  ];
}

/** Two figures with their intervals: the numbers in force, and those that were set. */
function barParts(metric, y) {
  const pair = [["in force", metric.base], ...metric.points.slice(0, 1).map((point) => ["set here", point])];
  return pair.filter(([, point]) => point.mean !== null).flatMap(([name, point], index) => {
    const x = PLOT.left + (PLOT.width - PLOT.left - PLOT.right) * (pair.length === 1 ? 0.5 : 0.28 + 0.44 * index);
    return [
      svg("line", { class: "wb-range", x1: x, x2: x, y1: y(point.low), y2: y(point.high) }),
      svg("circle", { class: index ? "wb-dot wb-here" : "wb-dot wb-base", cx: x, cy: y(point.mean), r: 5 }),
      text(figureText(metric, point.mean), { class: "wb-figure", x: x + 12, y: y(point.mean) + 4 }),
      text(name, { x, y: PLOT.height - 10, "text-anchor": "middle" }),
    ];
  });
}

/** The same figures as a table. */
function figureTable(figures) {
  const numbered = figures.metrics[0]?.points ?? [];
  const row = (head, points) => el("tr", {}, el("th", { scope: "row" }, head), ...points.map(([metric, point]) => el("td", {}, point ? intervalText(metric, point) : "–")));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, figures.label || "Numbers"), ...figures.metrics.map((metric) => el("th", { scope: "col" }, metric.title)))),
    el("tbody", {}, row("in force", figures.metrics.map((metric) => [metric, metric.base])),
      ...numbered.map((point, index) => row(figures.vary ? numberText(point.x) : "set here", figures.metrics.map((metric) => [metric, metric.points[index]])))));
}
