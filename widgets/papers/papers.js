const MARKS = { ready: "✓", duplicate: "＝", failed: "✗", cancelled: "–" };

function drawPapers(model, root) {
  const count = el("small", { class: "wb-count" });
  const list = el("ul", { class: "wb-paper-list", "aria-labelledby": "wb-papers-heading" });
  const work = jobRow(model);
  const outcomes = el("div", { class: "wb-outcomes", role: "status" });
  const problem = errorLine(model);
  const told = statusLine(model);
  const picker = libraryPicker(model);
  root.append(el("h2", { class: "wb-heading" }, el("span", { id: "wb-papers-heading" }, "Papers"), count, picker.open), list, work.row, told.line, outcomes, problem.line, picker.box);

  const menu = ({ id, title, pages }) => moreMenu(title, [
    { label: "Ask this paper alone", run: () => act(model, "ask_paper", { id }) },
    model.get("project") && { label: "Remove from this project", run: () => act(model, "take_out", { id }) },
    { label: "Remove from the library…", danger: true, yes: "Remove", run: () => act(model, "remove", { id }),
      confirm: `“${title}” (${pages}) leaves the library and every project of yours, with your chat about it. Earlier answers keep their text and quotes, but their numbers no longer open its pages. The file that you added it from is not touched.` },
  ].filter(Boolean), id);

  let drawn; // the project whose rows are shown: their menus mean it
  const drawRows = () => {
    drawn = model.get("project");
    const papers = model.get("papers");
    const limit = model.get("limit");
    const held = model.get("count");
    count.textContent = limit ? `${held} of ${limit}` : held ? held.toLocaleString("en") : "";
    const focused = list.contains(document.activeElement) && document.activeElement.dataset.id;
    list.replaceChildren(...papers.map((paper) => el("li", {}, ...menu(paper), el("button", {
      type: "button", class: "wb-paper", "data-id": String(paper.id), title: paper.title,
      onclick: () => act(model, "read_paper", { id: paper.id }),
    }, el("span", { class: "wb-paper-title" }, paper.title),
    el("span", { class: "wb-paper-facts" }, paper.author && el("span", { class: "wb-author" }, paper.author), el("span", {}, dotted(paper.year, paper.pages)),
      paper.chip && el("span", { class: "wb-chip wb-busy" }, paper.chip))))));
    if (!papers.length && model.get("loaded")) list.append(el("li", { class: "wb-none" }, "No papers here yet."));
    if (held > papers.length) list.append(el("li", { class: "wb-none" }, `${(held - papers.length).toLocaleString("en")} more: the Library tab has them all.`));
    if (focused) list.querySelector(`[data-id="${focused}"]`)?.focus();
  };
  const drawOutcomes = () => {
    const files = model.get("outcomes");
    outcomes.replaceChildren(...files.map((file, index) => el("div", { class: `wb-outcome wb-${file.status}` },
      el("b", { "aria-hidden": "true" }, MARKS[file.status] ?? "·"),
      el("span", {}, el("span", { class: "wb-outcome-file" }, file.file), el("small", {}, `${file.status}: ${file.detail}`)),
      el("button", { type: "button", class: "wb-icon", "aria-label": `Dismiss ${file.file}`, title: "Dismiss", onclick: () => act(model, "dismiss_outcome", { index }) }, icon("close")))));
    if (files.length > 1) outcomes.append(el("button", { type: "button", class: "wb-link", onclick: () => act(model, "clear_outcomes") }, "Dismiss all"));
  };
  const stops = [watch(model, ["papers", "count", "limit", "loaded", "project"], betweenMenus(list, drawRows, () => model.get("project") === drawn)), watch(model, ["outcomes"], drawOutcomes),
    told.stop, picker.stop, work.stop, problem.stop];
  return () => stops.forEach((stop) => stop());
}

export default panel("wb-papers", drawPapers);
