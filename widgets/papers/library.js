const OFFERED = 100; // of a list that may hold thousands

/** Papers of the library to put into the project shown, several at once, as far as its limit allows. */
function libraryPicker(model) {
  const search = el("input", { type: "search", placeholder: "Find by title or author", "aria-label": "Find a paper of the library", oninput: () => draw() });
  const list = el("ul", { "aria-label": "Papers of the library" });
  const room = el("span", { role: "status" });
  const add = el("button", { type: "button", class: "wb-primary" }, "Add");
  const box = el("dialog", { class: "wb-library", "aria-label": "Add from the library" },
    el("header", {}, el("h3", {}, "Add from the library"), search), list,
    el("footer", {}, room, el("button", { type: "button", class: "wb-plain", onclick: () => box.close() }, "Cancel"), add));
  const open = el("button", { type: "button", class: "wb-link wb-from-library", onclick: () => {
    search.value = "";
    chosen.clear();
    act(model, "offer_library");
    box.showModal();
    search.focus();
  } }, "+ From the library");
  const chosen = new Set();

  const free = () => (model.get("limit") ? Math.max(0, model.get("limit") - model.get("count")) : Infinity);
  const count = () => {
    const left = free() - chosen.size;
    const said = left === Infinity ? "" : left > 0 ? `room for ${left} more` : "the project is full: take a paper out with its ⋯ menu to make room";
    room.textContent = dotted(chosen.size > 0 && `${chosen.size} chosen`, said);
    add.disabled = chosen.size === 0;
    for (const tick of list.querySelectorAll("input")) tick.disabled = left <= 0 && !tick.checked;
  };
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const every = model.get("library");
    const found = every.filter((paper) => words.every((word) => `${paper.title} ${paper.author}`.toLowerCase().includes(word)));
    list.replaceChildren(...found.slice(0, OFFERED).map((paper) => el("li", {}, el("label", {},
      el("input", { type: "checkbox", checked: chosen.has(paper.id), onchange: (event) => {
        if (event.target.checked) chosen.add(paper.id); else chosen.delete(paper.id);
        count();
      } }),
      el("span", {}, paper.title, el("small", {}, dotted(paper.author, paper.year, paper.pages)))))));
    if (!every.length) list.append(el("li", { class: "wb-none" }, "Every paper of your library is in this project."));
    else if (!found.length) list.append(el("li", { class: "wb-none" }, "No paper fits these words."));
    else if (found.length > OFFERED) list.append(el("li", { class: "wb-none" }, `${(found.length - OFFERED).toLocaleString("en")} more: type a few words to find them.`));
    count();
  };
  const confirm = () => {
    if (add.disabled) return;
    box.close();
    act(model, "add_from_library", { ids: [...chosen] });
  };
  add.addEventListener("click", confirm);
  box.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab's keys stay out
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  const stops = [watch(model, ["library", "limit"], draw), watch(model, ["project"], () => { open.hidden = !model.get("project"); })];
  return { open, box, stop: () => stops.forEach((stop) => stop()) };
}
