/** What can be done with the chosen papers, and how many of them the chosen project takes. */
function selectionBar(model, { ask }) {
  const count = el("strong");
  const matching = el("button", { type: "button", class: "wb-link", onclick: () => act(model, "choose_matching") });
  const target = el("select", { class: "wb-entry", "aria-label": "Project for the chosen papers", onchange: () => act(model, "choose_target", { id: Number(target.value) }) });
  const name = el("input", { type: "text", class: "wb-entry", maxLength: 200, placeholder: "Name of the project", "aria-label": "Name of the new project", autocomplete: "off" });
  const add = el("button", { type: "submit", class: "wb-primary" }, "Add");
  const says = el("span", { class: "wb-shelf-says", role: "status" });
  const form = el("form", { onsubmit: (event) => {
    event.preventDefault();
    if (!add.disabled) act(model, "add_chosen", { name: name.value });
  } }, target, name, add);
  const remove = el("button", { type: "button", class: "wb-plain wb-danger", onclick: () => {
    const { pages, notes, projects, borrowed } = model.get("selection");
    ask({ ids: model.get("chosen"), pages: counted(pages, "page"), notes, borrowed, projects: projects.map((project) => `“${project}”`) });
  } }, "Remove…");
  const bar = el("div", { class: "wb-shelf-chosen", role: "group", "aria-label": "Chosen papers" },
    el("div", {}, count, matching, el("button", { type: "button", class: "wb-link", onclick: () => act(model, "choose_none") }, "Clear"),
      el("span", { class: "wb-push" }), el("button", { type: "button", class: "wb-plain", title: "Read them again from their stored files", onclick: () => act(model, "reprocess", { ids: model.get("chosen") }) }, "Process again"), remove),
    el("div", {}, form, says));

  const drawTargets = () => {
    const limit = model.get("limit");
    const option = ({ id, name: label, papers }) => el("option", { value: String(id), title: label },
      `${label.length > 40 ? `${label.slice(0, 39)}…` : label} (${limit ? `${papers} of ${limit}` : papers})`);
    const active = model.get("projects").filter(({ archived }) => !archived), archived = model.get("projects").filter(({ archived }) => archived);
    target.replaceChildren(el("option", { value: "0" }, "Add to project…"), ...active.map(option),
      ...(archived.length ? [el("optgroup", { label: "Archived" }, ...archived.map(option))] : []), el("option", { value: "-1" }, "New project…"));
    drawTarget();
  };
  const drawTarget = () => {
    const made = model.get("target") === -1;
    target.value = String(model.get("target"));
    if (made && name.hidden && bar.contains(document.activeElement)) setTimeout(() => name.focus());
    name.hidden = !made;
    ready();
  };
  const ready = () => { add.disabled = !model.get("selection").fits || (model.get("target") === -1 && !name.value.trim()); };
  const draw = () => {
    const { count: chosen = 0, says: words = "", over } = model.get("selection");
    const { matching: fitting = 0 } = model.get("page");
    bar.hidden = chosen === 0;
    count.textContent = `${chosen.toLocaleString("en")} chosen`;
    matching.hidden = chosen >= fitting;
    matching.textContent = `Choose all ${fitting.toLocaleString("en")}`;
    says.textContent = words;
    says.classList.toggle("wb-over", Boolean(over));
    ready();
  };
  name.addEventListener("input", ready);
  const stops = [watch(model, ["projects", "limit"], drawTargets), watch(model, ["target"], drawTarget),
    watch(model, ["selection", "page"], draw), watch(model, ["added"], () => { name.value = ""; })];
  return { bar, stop: () => stops.forEach((stop) => stop()) };
}
