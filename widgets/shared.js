// What leaves share. Text reaches the page as text nodes only; see richtext.py for the one exception.

/** An element: properties (on… are listeners, aria-… and data-… are attributes), then children. */
function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for") node.setAttribute(name, value === true ? "" : value);
    else node[name] = value;
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const ICONS = {
  add: ["M8 3.2v9.6M3.2 8h9.6"],
  back: ["M10 3.5 5.5 8l4.5 4.5"],
  close: ["M4 4l8 8M12 4l-8 8"],
  copy: ["M5.5 5.5V3h7.5v7.5h-2.5", "M3 5.5h7.5V13H3z"],
  down: ["M4 6.2 8 10.2l4-4"],
  fit: ["M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3"],
  forward: ["M6 3.5 10.5 8 6 12.5"],
  less: ["M3.2 8h9.6"],
  more: ["M3.4 8h.01M8 8h.01M12.6 8h.01"],
  page: ["M4 2.2h5l3 3v8.6H4z", "M9 2.2v3h3"],
  send: ["M8 13V3.5M3.8 7.5 8 3.3l4.2 4.2"],
  sidebar: ["M2.5 3h11v10h-11z", "M6.3 3v10"],
  stop: ["M4.5 4.5h7v7h-7z"],
  upload: ["M8 10.5V3M5 5.8 8 2.8l3 3", "M2.8 10.2v3h10.4v-3"],
};

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  for (const d of ICONS[name]) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

/** Ask the panel's state for an action; `data` is bytes that go beside the message. */
function act(model, name, args = {}, data = undefined) {
  model.send({ do: name, with: args }, undefined, data ? [data] : undefined);
}

/** A leaf's module: `draw(model, root)` fills the root and returns what to call when the view goes. */
function panel(name, draw) {
  return {
    render({ model, el: root }) {
      root.classList.add("wb", name);
      root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys stay out: they mean its cells
      root.addEventListener("keydown", sendByEnter, true);
      const leave = draw(model, root);
      model.send({ do: "resend" });
      return leave;
    },
  };
}

/** Enter in a field sends its form. Browsers do so themselves, but not inside a notebook of JupyterLab. */
function sendByEnter(event) {
  if (event.key !== "Enter" || event.isComposing || event.target.tagName !== "INPUT" || !event.target.form) return;
  event.preventDefault();
  event.target.form.requestSubmit();
}

/** Draw now and at every change of the named traits, until the view goes. */
function watch(model, names, draw) {
  const events = names.map((name) => `change:${name}`).join(" ");
  model.on(events, draw);
  draw();
  return () => model.off(events, draw);
}

/** A line for the panel's `error`, empty when there is none. */
function errorLine(model) {
  const text = el("span");
  const line = el("div", { class: "wb-error", role: "alert" }, text,
    el("button", { type: "button", "aria-label": "Dismiss", onclick: () => act(model, "dismiss_error") }, icon("close")));
  const stop = watch(model, ["error"], () => {
    text.textContent = model.get("error");
    line.hidden = !model.get("error");
  });
  return { line, stop };
}

/** A line for what the panel has `told` last, hidden while there is nothing. */
function statusLine(model) {
  const line = el("div", { class: "wb-told", role: "status" });
  const stop = watch(model, ["told"], () => {
    line.textContent = model.get("told");
    line.hidden = !model.get("told");
  });
  return { line, stop };
}

/** Put text on the clipboard, also where the page came over plain http; false where the browser does not let it. */
async function copyText(text) {
  try {
    if (navigator.clipboard?.writeText) { await navigator.clipboard.writeText(text); return true; }
  } catch { /* not allowed here: the older way may be */ }
  const held = document.activeElement;
  const area = el("textarea", { value: text, readOnly: true, "aria-hidden": "true" });
  Object.assign(area.style, { position: "fixed", top: 0, opacity: 0 });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  held?.focus?.({ preventScroll: true });
  return done;
}

/** "1 page", "3 sections". */
function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** "page 4", the printed label beside it where it differs; a section by its own name. */
function pageText({ page, label, unit }) {
  if (unit !== "page") return label || `${unit} ${page}`;
  return label && label !== String(page) ? `page ${page} (printed ${label})` : `page ${page}`;
}

/** The parts that exist, joined by a middle dot. */
function dotted(...parts) {
  return parts.filter(Boolean).join(" · ");
}

/** Today's time as "14:05", another day's as "30 Nov, 14:05", in another year with it; `brief` gives of those the day alone. */
function timeText(iso, brief = false) {
  const then = new Date(iso), now = new Date();
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === now.toDateString()) return time;
  const year = then.getFullYear() === now.getFullYear() ? undefined : "numeric";
  const day = then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year });
  return brief ? day : `${day}, ${time}`;
}
