function drawViewer(model, root) {
  const title = el("b"), facts = el("small");
  const button = (name, label, onclick) => el("button", { type: "button", class: "wb-icon wb-framed", "aria-label": label, title: label, onclick }, icon(name));
  const turn = (by) => act(model, "turn_to", { page: model.get("page") + by });
  const zoom = (steps) => act(model, "zoom_by", { steps });
  const previous = button("back", "Previous page", () => turn(-1));
  const next = button("forward", "Next page", () => turn(1));
  const smaller = button("less", "Zoom out", () => zoom(-1));
  const larger = button("add", "Zoom in", () => zoom(1));
  const close = el("button", { type: "button", class: "wb-icon wb-close", "aria-label": "Close the page", title: "Close", onclick: () => act(model, "close_page") }, icon("close"));
  const head = el("div", { class: "wb-view-head" }, el("div", { class: "wb-view-title" }, title, facts),
    el("div", { class: "wb-view-nav" }, previous, next, smaller, larger, close));

  const image = el("img", { draggable: false });
  const boxes = el("div", { class: "wb-boxes" });
  const sheet = el("div", { class: "wb-sheet" }, image, boxes);
  const prose = el("div", { class: "wb-prose" });
  const scroller = el("div", { class: "wb-pages", tabIndex: 0, role: "region", "aria-label": "Page" }, sheet, prose);
  const none = el("div", { class: "wb-view-empty" }, icon("page"), el("p", {}, "Click a number in an answer to read the page it came from."));
  const note = el("span", { role: "status" });
  const copy = el("button", { type: "button", class: "wb-link", onclick: async () => {
    await navigator.clipboard.writeText(`“${model.get("quote")}” (${dotted(model.get("title"), `${model.get("unit")} ${model.get("page")}`)})`);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy quote"; }, 1500);
  } }, "Copy quote");
  const step = (by) => act(model, "step_citation", { by });
  const back = el("button", { type: "button", class: "wb-link", onclick: () => step(-1) }, "‹ previous");
  const on = el("button", { type: "button", class: "wb-link", onclick: () => step(1) }, "next citation ›");
  const foot = el("div", { class: "wb-view-foot" }, note, el("span", { class: "wb-view-steps" }, copy, back, on));
  const problem = errorLine(model);
  root.append(head, problem.line, scroller, none, foot);

  let address = "";
  const drawFacts = () => {
    const open = model.get("paper") > 0;
    const many = model.get("citations");
    const at = model.get("citation");
    root.dataset.open = String(open);
    head.hidden = scroller.hidden = foot.hidden = !open;
    none.hidden = open;
    title.textContent = title.title = model.get("title");
    facts.textContent = dotted(`${model.get("unit")} ${model.get("page")} of ${model.get("pages")}`, at >= 0 && many > 0 && `citation ${at + 1} of ${many}`);
    previous.disabled = model.get("page") <= 1;
    next.disabled = model.get("page") >= model.get("pages");
    note.textContent = { yes: "", no: "The passage could not be placed here with certainty, so nothing is marked.", "": "" }[model.get("marked")];
    copy.hidden = !model.get("quote");
    back.hidden = on.hidden = many < 2;
    scroller.classList.toggle("wb-loading", model.get("loading"));
  };
  const drawZoom = () => {
    const factor = model.get("zoom");
    sheet.style.width = `${factor * 100}%`;
    prose.style.fontSize = `${14 * factor}px`;
    smaller.disabled = factor <= 0.75;
    larger.disabled = factor >= 3;
  };
  /** Bring the mark into sight by moving this column only, never the page around it. */
  const reveal = () => {
    const mark = (sheet.hidden ? prose : boxes).querySelector(".wb-mark");
    const area = scroller.getBoundingClientRect();
    const at = mark?.getBoundingClientRect();
    scroller.scrollTop = at ? scroller.scrollTop + at.top - area.top - area.height * 0.32 : 0;
    scroller.scrollLeft = at ? Math.max(0, scroller.scrollLeft + at.left - area.left - 40) : 0;
  };
  const drawPage = () => {
    const png = model.get("image");
    const bytes = png && png.byteLength > 0 ? png : null;
    sheet.hidden = !bytes;
    prose.hidden = Boolean(bytes);
    prose.replaceChildren();
    boxes.replaceChildren();
    if (address) URL.revokeObjectURL(address);
    address = "";
    if (bytes) {
      address = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
      image.alt = `Page ${model.get("page")} of ${model.get("title")}`;
      image.onload = reveal;
      image.src = address;
      for (const [x0, y0, x1, y1] of model.get("boxes")) {
        const box = el("div", { class: "wb-mark" });
        Object.assign(box.style, { left: `${x0 * 100}%`, top: `${y0 * 100}%`, width: `${(x1 - x0) * 100}%`, height: `${(y1 - y0) * 100}%` });
        boxes.append(box);
      }
    } else {
      const text = [...model.get("text")]; // Python counts code points
      let done = 0;
      for (const [start, end] of model.get("spans")) {
        prose.append(text.slice(done, start).join(""), el("mark", { class: "wb-mark" }, text.slice(start, end).join("")));
        done = end;
      }
      prose.append(text.slice(done).join(""));
      reveal();
    }
  };
  root.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), "+": () => zoom(1), "=": () => zoom(1), "-": () => zoom(-1), 0: () => zoom(0), n: () => step(1), p: () => step(-1) };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });
  root.dataset.lmSuppressShortcuts = "true";
  const names = ["paper", "title", "page", "pages", "unit", "citation", "citations", "marked", "quote", "loading"];
  const stops = [watch(model, names, drawFacts), watch(model, ["zoom"], drawZoom), watch(model, ["drawn"], drawPage), problem.stop];
  return () => { stops.forEach((stop) => stop()); if (address) URL.revokeObjectURL(address); };
}
export default panel("wb-viewer", drawViewer);
