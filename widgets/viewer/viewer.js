function drawViewer(model, root) {
  const page = pageArea(model);
  const does = viewerActions(model, page);
  const head = viewerHead(model, does);
  const foot = viewerFoot(model, does);
  const none = el("div", { class: "wb-view-empty" }, icon("page"), el("p", {}, "Click a number in an answer to read the page it came from."));
  const problem = errorLine(model);
  root.append(head.box, problem.line, page.scroller, none, foot.box);

  const keys = {
    ArrowLeft: () => does.turn(-1), ArrowRight: () => does.turn(1), PageUp: () => does.turn(-1), PageDown: () => does.turn(1),
    Home: () => act(model, "turn_to", { page: 1 }), End: () => act(model, "turn_to", { page: model.get("pages") }),
    n: () => does.step(1), p: () => does.step(-1), "+": () => does.zoom(1), "=": () => does.zoom(1), "-": () => does.zoom(-1), 0: () => does.zoom(0),
    g: head.ask, q: does.quote, c: does.copyPage, Escape: () => act(model, "close_page"),
  };
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    if (event.key === "Escape" && head.close.offsetParent === null) return; // nothing to close where the page has its own column
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });
  page.scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault(); // else the browser would enlarge the whole dashboard
    if (Math.abs(event.deltaY) > 3) does.wheel(event.deltaY < 0 ? 1 : -1);
  }, { passive: false });

  const open = watch(model, ["paper"], () => {
    const shown = model.get("paper") > 0;
    head.box.hidden = page.scroller.hidden = foot.box.hidden = !shown;
    none.hidden = shown;
  });
  const stops = [open, head.stop, page.stop, foot.stop, problem.stop, followWidth(model, root, page.scroller), followSelection(model, page)];
  return () => stops.forEach((stop) => stop());
}

/** What buttons and keys do. */
function viewerActions(model, page) {
  let wheeled = 0;
  let told = () => {};
  const copy = async (text, done) => {
    if (!text) return;
    told((await copyText(text)) ? done : "The browser does not let this page copy: select the text and press Ctrl+C.");
  };
  const zoom = (steps) => act(model, "zoom_by", { steps });
  return {
    turn: (by) => act(model, "turn_to", { page: model.get("page") + by }),
    go: (where) => act(model, "go_to", { where }),
    zoom,
    wheel: (steps) => { if (Date.now() - wheeled > 120) { wheeled = Date.now(); zoom(steps); } },
    step: (by) => act(model, "step_citation", { by }),
    quote: () => copy(model.get("selection") || model.get("quotation"),
      model.get("selection") ? "Selected words copied as a Markdown quotation with their reference." : "Copied as a Markdown quotation with its reference. Paste it into a cell."),
    copyPage: () => copy(page.selected() || model.get("text"), page.selected() ? "Selected words copied." : "The text of this page is copied."),
    onTold: (show) => { told = show; },
  };
}

/** Title and place, and below them the ways to another page and another size. */
function viewerHead(model, does) {
  const title = el("b"), facts = el("small");
  const button = (name, label, key, onclick) => el("button", { type: "button", class: "wb-icon wb-framed", "aria-label": label, title: `${label} (${key})`, "aria-keyshortcuts": key, onclick }, icon(name));
  const previous = button("back", "Previous page", "←", () => does.turn(-1));
  const next = button("forward", "Next page", "→", () => does.turn(1));
  const smaller = button("less", "Zoom out", "-", () => does.zoom(-1));
  const larger = button("add", "Zoom in", "+", () => does.zoom(1));
  const whole = el("button", { type: "button", class: "wb-zoom", "aria-label": "Fit to the width", title: "Fit to the width (0)", onclick: () => does.zoom(0) });
  const number = el("input", { class: "wb-page-number", inputMode: "numeric", autocomplete: "off", spellcheck: false, title: "Page number, or the label printed on it (g)" });
  const close = el("button", { type: "button", class: "wb-icon wb-close", "aria-label": "Close the page", title: "Close (Esc)", onclick: () => act(model, "close_page") }, icon("close"));
  const restore = () => { number.value = String(model.get("page") || ""); };
  number.addEventListener("focus", () => number.select());
  number.addEventListener("blur", restore);
  number.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") does.go(number.value);
    if (event.key === "Enter" || event.key === "Escape") { restore(); number.blur(); number.closest(".wb-viewer").querySelector(".wb-pages").focus({ preventScroll: true }); }
  });
  const bar = el("div", { class: "wb-view-bar" }, previous, number, next,
    el("span", { class: "wb-view-sizes" }, smaller, whole, larger));
  const box = el("div", { class: "wb-view-head" }, el("div", { class: "wb-view-title" }, title, facts), close, bar);
  const stop = watch(model, ["title", "byline", "page", "pages", "unit", "label", "zoom"], () => {
    title.textContent = title.title = model.get("title");
    const label = model.get("label"), page = model.get("page"), name = model.get("unit");
    const named = label && label !== String(page) && (name === "page" ? `printed ${label}` : label);
    facts.textContent = facts.title = dotted(model.get("byline"), `${name} ${page} of ${model.get("pages")}`, named);
    number.setAttribute("aria-label", `${name} number`);
    number.style.width = `${Math.max(3, String(model.get("pages")).length) + 2}ch`;
    if (document.activeElement !== number) restore();
    previous.disabled = page <= 1;
    next.disabled = page >= model.get("pages");
    whole.textContent = `${Math.round(model.get("zoom") * 100)} %`;
    smaller.disabled = model.get("zoom") <= 0.5;
    larger.disabled = model.get("zoom") >= 3;
  });
  return { box, close, ask: () => number.focus(), stop };
}

/** What to know of the page, the way to the next citation, and what can be taken along. */
function viewerFoot(model, does) {
  const note = el("div", { class: "wb-view-note", role: "status" });
  const at = el("span");
  const back = el("button", { type: "button", class: "wb-icon", onclick: () => does.step(-1) }, icon("back"));
  const on = el("button", { type: "button", class: "wb-icon", onclick: () => does.step(1) }, icon("forward"));
  const steps = el("span", { class: "wb-view-steps" }, back, at, on);
  const quote = el("button", { type: "button", class: "wb-link", title: "Copy the passage, or what you selected, as a Markdown quotation with its reference (q)", onclick: does.quote }, "Quote into notebook");
  const copy = el("button", { type: "button", class: "wb-link", title: "Copy what you selected, or the whole page's text (c)", onclick: does.copyPage }, "Copy text");
  const box = el("div", { class: "wb-view-foot" }, note, steps, el("span", { class: "wb-view-take" }, quote, copy));
  let timer = 0;
  const standing = () => {
    const lost = model.get("marked") === "no" ? "The passage could not be placed here with certainty, so nothing is marked." : "";
    note.textContent = model.get("notice") || lost;
    note.classList.remove("wb-done");
    note.hidden = !note.textContent;
  };
  does.onTold((text) => {
    clearTimeout(timer);
    note.textContent = text;
    note.hidden = false;
    note.classList.add("wb-done");
    timer = setTimeout(standing, 4000);
  });
  const stop = watch(model, ["drawn", "marked", "notice", "citation", "citations", "marker", "cited_as", "quotation", "selection"], () => {
    const many = model.get("citations"), k = model.get("citation"), name = model.get("cited_as");
    steps.hidden = k < 0 || many < 1;
    back.hidden = on.hidden = many < 2;
    at.textContent = dotted(many > 1 ? `${name} ${k + 1} of ${many}` : name, model.get("marker") > 0 && `[${model.get("marker")}]`);
    for (const [button, text, key] of [[back, `Previous ${name}`, "p"], [on, `Next ${name}`, "n"]]) { button.title = `${text} (${key})`; button.setAttribute("aria-label", text); }
    quote.disabled = !(model.get("selection") || model.get("quotation"));
    copy.disabled = !model.get("text");
  });
  const settled = watch(model, ["drawn", "marked", "notice"], standing);
  return { box, stop: () => { clearTimeout(timer); stop(); settled(); } };
}

/** Tell the state how many pixels of the screen the page has, so that its image has as many. */
function followWidth(model, root, scroller) {
  let timer = 0;
  let last = "";
  const tell = () => {
    const room = (scroller.clientWidth || root.clientWidth - 12) - 32;
    const ratio = window.devicePixelRatio || 1;
    if (room < 60 || last === `${room} ${ratio}`) return;
    last = `${room} ${ratio}`;
    act(model, "fit", { width: room, ratio });
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(tell, last ? 200 : 0); };
  const seen = new ResizeObserver(soon);
  seen.observe(root);
  seen.observe(scroller);
  window.addEventListener("resize", soon); // another screen, or the browser's own zoom
  return () => { clearTimeout(timer); seen.disconnect(); window.removeEventListener("resize", soon); };
}

/** Tell the state what is selected on the page, so that its quotation is at hand when it is asked for. */
function followSelection(model, page) {
  let timer = 0;
  let last = "";
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const text = page.selected();
      if (text === last) return;
      last = text;
      act(model, "select", { text });
    }, 120);
  };
  document.addEventListener("selectionchange", changed);
  return () => { clearTimeout(timer); document.removeEventListener("selectionchange", changed); };
}
export default panel("wb-viewer", drawViewer);
