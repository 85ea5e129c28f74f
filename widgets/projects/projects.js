function drawProjects(model, root) {
  const open = el("button", { type: "button", class: "wb-link", "aria-expanded": "false", onclick: () => showForm(form.hidden) }, "+ New");
  const input = el("input", { type: "text", maxLength: 200, placeholder: "Project name", "aria-label": "Project name", autocomplete: "off" });
  const form = el("form", {
    class: "wb-new-project", hidden: true,
    onsubmit: (event) => { event.preventDefault(); if (input.value.trim()) act(model, "create", { name: input.value }); },
    onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); showForm(false); } },
  }, input, el("button", { type: "submit", class: "wb-primary" }, "Create"));
  const list = el("ul", { class: "wb-project-list", "aria-label": "Projects" });
  const scopes = el("ul", { class: "wb-project-list wb-scopes", "aria-label": "Other scopes" });
  const archive = el("details", { class: "wb-archive" });
  const told = statusLine(model);
  const problem = errorLine(model);
  root.append(el("h2", { class: "wb-heading" }, "Projects", open), form, problem.line, told.line, list, scopes, archive);

  function showForm(shown) {
    form.hidden = !shown;
    open.setAttribute("aria-expanded", String(shown));
    if (shown) { input.value = ""; input.focus(); } else open.focus();
  }

  const entry = (project) => el("button", {
    type: "button", class: "wb-project", "data-id": String(project.id), title: project.name,
    "aria-current": project.id === model.get("chosen") ? "true" : undefined,
    onclick: () => act(model, "choose", { id: project.id }),
  }, el("span", {}, project.name), el("small", { "aria-label": counted(project.papers, "paper") }, String(project.papers)));

  const removal = ({ id, name, papers }, archived = false) => ({ label: "Delete…", danger: true, yes: "Delete", run: () => act(model, "delete", { id }),
    confirm: `“${name}” is deleted with its chat, what was remembered in it, its presets and its tables of answers. ${papers ? `Its ${counted(papers, "paper")} ${papers === 1 ? "stays" : "stay"} in the library.` : "It holds no paper."} Labelled questions stay too, and other conversations that looked in it go on with orphan notes.${archived ? "" : " Archive it instead to lose nothing."}` });
  const menu = ({ id, name, papers }) => moreMenu(name, [
    { label: "Rename…", value: name, yes: "Rename", run: (text) => act(model, "rename", { id, name: text }) },
    { label: "Archive", run: () => act(model, "archive", { id }) },
    removal({ id, name, papers }),
  ], id);

  const draw = () => {
    const hadFocus = root.contains(document.activeElement) && document.activeElement.dataset.id;
    list.replaceChildren(...model.get("projects").map((project) => el("li", {}, entry(project), ...menu(project))));
    scopes.replaceChildren(...[
      { id: 0, name: "Orphan notes", papers: model.get("orphans") },
      { id: -1, name: "All notes", papers: model.get("all_papers") },
    ].map((scope) => el("li", {}, entry(scope))));
    if (hadFocus) root.querySelector(`[data-id="${hadFocus}"]`)?.focus();
  };
  const drawArchive = () => {
    const projects = model.get("archived");
    archive.hidden = !projects.length;
    archive.replaceChildren(el("summary", {}, `Archived (${projects.length})`), el("ul", { class: "wb-project-list" },
      ...projects.map((project) => el("li", {}, el("span", { class: "wb-archived", title: project.name }, project.name),
        el("button", { type: "button", class: "wb-link", "aria-label": `Restore ${project.name}`, onclick: () => act(model, "restore", { id: project.id }) }, "Restore"),
        ...moreMenu(project.name, [removal(project, true)], project.id)))));
  };
  const created = () => { if (!form.hidden) showForm(false); };
  model.on("change:created", created);
  const stops = [
    watch(model, ["projects", "orphans", "all_papers", "chosen"], betweenMenus(list, draw)),
    watch(model, ["archived"], betweenMenus(archive, drawArchive)),
    told.stop,
    problem.stop,
  ];
  return () => { stops.forEach((stop) => stop()); model.off("change:created", created); };
}
export default panel("wb-projects", drawProjects);
