function drawViewer(model, root) {
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys stay out of the viewer
  const turn = (by) => act(model, "turn_to", { page: model.get("page") + by });
  const zoom = (steps) => act(model, "zoom_by", { steps });
  const step = (by) => act(model, "step_citation", { by });
  const head = viewerHead(model, { turn, zoom });
  const page = pageArea(model);
  const foot = viewerFoot(model, { step });
  const none = el("div", { class: "wb-view-empty" }, icon("page"), el("p", {}, "Click a number in an answer to read the page it came from."));
  const problem = errorLine(model);
  root.append(head.box, problem.line, page.scroller, none, foot.box);

  root.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), n: () => step(1), p: () => step(-1),
      "+": () => zoom(1), "=": () => zoom(1), "-": () => zoom(-1), 0: () => zoom(0),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });
  const open = watch(model, ["paper"], () => {
    const shown = model.get("paper") > 0;
    head.box.hidden = page.scroller.hidden = foot.box.hidden = !shown;
    none.hidden = shown;
  });
  const stops = [open, head.stop, page.stop, foot.stop, problem.stop];
  return () => stops.forEach((stop) => stop());
}

/** Title, place, and the buttons that turn and zoom. */
function viewerHead(model, { turn, zoom }) {
  const title = el("b"), facts = el("small");
  const button = (name, label, onclick) => el("button", { type: "button", class: "wb-icon wb-framed", "aria-label": label, title: label, onclick }, icon(name));
  const previous = button("back", "Previous page", () => turn(-1));
  const next = button("forward", "Next page", () => turn(1));
  const smaller = button("less", "Zoom out", () => zoom(-1));
  const larger = button("add", "Zoom in", () => zoom(1));
  const close = el("button", { type: "button", class: "wb-icon wb-close", "aria-label": "Close the page", title: "Close", onclick: () => act(model, "close_page") }, icon("close"));
  const box = el("div", { class: "wb-view-head" }, el("div", { class: "wb-view-title" }, title, facts),
    el("div", { class: "wb-view-nav" }, previous, next, smaller, larger, close));
  const stop = watch(model, ["title", "page", "pages", "unit", "label", "citation", "citations", "marker", "cited_as", "zoom"], () => {
    const many = model.get("citations"), at = model.get("citation");
    title.textContent = title.title = model.get("title");
    const label = model.get("label"), unit = model.get("unit");
    const named = label && label !== String(model.get("page")) && (unit === "page" ? `printed ${label}` : label);
    facts.textContent = facts.title = dotted(`${unit} ${model.get("page")} of ${model.get("pages")}`, named,
      at >= 0 && many > 0 && dotted(`${model.get("cited_as")} [${model.get("marker")}]`, many > 1 && `${at + 1} of ${many}`));
    previous.disabled = model.get("page") <= 1;
    next.disabled = model.get("page") >= model.get("pages");
    smaller.disabled = model.get("zoom") <= 0.75;
    larger.disabled = model.get("zoom") >= 3;
  });
  return { box, stop };
}

/** The page as an image with marks over it, or its text with the mark in it. */
function pageArea(model) {
  const image = el("img", { draggable: false });
  const boxes = el("div", { class: "wb-boxes" });
  const sheet = el("div", { class: "wb-sheet" }, image, boxes);
  const prose = el("div", { class: "wb-prose" });
  const scroller = el("div", { class: "wb-pages", tabIndex: 0, role: "region", "aria-label": "Page" }, sheet, prose);
  let address = "";

  /** Bring the mark into sight by moving this column only, never the page around it. */
  const reveal = () => {
    const mark = (sheet.hidden ? prose : boxes).querySelector(".wb-mark");
    const area = scroller.getBoundingClientRect();
    const at = mark?.getBoundingClientRect();
    scroller.scrollTop = at ? scroller.scrollTop + at.top - area.top - area.height * 0.32 : 0;
    scroller.scrollLeft = at ? Math.max(0, scroller.scrollLeft + at.left - area.left - 40) : 0;
  };
  const drop = () => { if (address) URL.revokeObjectURL(address); address = ""; };
  const showImage = (png) => {
    address = URL.createObjectURL(new Blob([png], { type: "image/png" }));
    image.alt = `Page ${model.get("page")} of ${model.get("title")}`;
    image.onload = reveal;
    image.src = address;
    boxes.replaceChildren(...model.get("boxes").map(([x0, y0, x1, y1]) => {
      const box = el("div", { class: "wb-mark" });
      Object.assign(box.style, { left: `${x0 * 100}%`, top: `${y0 * 100}%`, width: `${(x1 - x0) * 100}%`, height: `${(y1 - y0) * 100}%` });
      return box;
    }));
  };
  const showText = () => {
    const text = [...model.get("text")]; // Python counts code points
    let done = 0;
    for (const [start, end] of model.get("spans")) {
      prose.append(text.slice(done, start).join(""), el("mark", { class: "wb-mark" }, text.slice(start, end).join("")));
      done = end;
    }
    prose.append(text.slice(done).join(""));
    reveal();
  };
  const stops = [
    watch(model, ["drawn"], () => {
      const png = model.get("image");
      const drawn = Boolean(png && png.byteLength > 0);
      sheet.hidden = !drawn;
      prose.hidden = drawn;
      prose.replaceChildren();
      boxes.replaceChildren();
      drop();
      if (drawn) showImage(png); else showText();
    }),
    watch(model, ["zoom"], () => {
      sheet.style.width = `${model.get("zoom") * 100}%`;
      prose.style.fontSize = `${14 * model.get("zoom")}px`;
    }),
    watch(model, ["loading"], () => scroller.classList.toggle("wb-loading", model.get("loading"))),
    drop,
  ];
  return { scroller, stop: () => stops.forEach((stop) => stop()) };
}

/** What to know of the mark, the quote to copy, and the way to the next citation. */
function viewerFoot(model, { step }) {
  const note = el("span", { role: "status" });
  const copy = el("button", { type: "button", class: "wb-link", onclick: async () => {
    await navigator.clipboard.writeText(`“${model.get("quote")}” (${dotted(model.get("title"), `${model.get("unit")} ${model.get("page")}`)})`);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy quote"; }, 1500);
  } }, "Copy quote");
  const back = el("button", { type: "button", class: "wb-link", onclick: () => step(-1) }, "‹ previous");
  const on = el("button", { type: "button", class: "wb-link", onclick: () => step(1) }, "next citation ›");
  const box = el("div", { class: "wb-view-foot" }, note, el("span", { class: "wb-view-steps" }, copy, back, on));
  const stop = watch(model, ["marked", "quote", "citations", "cited_as"], () => {
    on.textContent = `next ${model.get("cited_as")} ›`;
    note.textContent = model.get("marked") === "no" ? "The passage could not be placed here with certainty, so nothing is marked." : "";
    copy.hidden = !model.get("quote");
    back.hidden = on.hidden = model.get("citations") < 2;
  });
  return { box, stop };
}
export default panel("wb-viewer", drawViewer);
