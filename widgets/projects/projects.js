function drawProjects(model, root) {
  const open = el("button", { type: "button", class: "wb-link", "aria-expanded": "false", onclick: () => showForm(form.hidden) }, "+ New");
  const input = el("input", { type: "text", maxLength: 200, placeholder: "Project name", "aria-label": "Project name", autocomplete: "off" });
  const form = el("form", {
    class: "wb-new-project", hidden: true,
    onsubmit: (event) => { event.preventDefault(); if (input.value.trim()) act(model, "create", { name: input.value }); },
    onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); showForm(false); } },
  }, input, el("button", { type: "submit", class: "wb-primary" }, "Create"));
  const list = el("ul", { class: "wb-project-list", "aria-label": "Projects" });
  const problem = errorLine(model);
  root.append(el("h2", { class: "wb-heading" }, "Projects", open), form, problem.line, list);

  function showForm(shown) {
    form.hidden = !shown;
    open.setAttribute("aria-expanded", String(shown));
    if (shown) { input.value = ""; input.focus(); } else open.focus();
  }

  const draw = () => {
    const chosen = model.get("chosen");
    const hadFocus = list.contains(document.activeElement) && document.activeElement.dataset.id;
    const entries = [...model.get("projects"), { id: 0, name: "In no project", papers: model.get("orphans") }];
    list.replaceChildren(...entries.map((project) => el("li", {}, el("button", {
      type: "button", class: "wb-project", "data-id": String(project.id), title: project.name,
      "aria-current": project.id === chosen ? "true" : undefined,
      onclick: () => act(model, "choose", { id: project.id }),
    }, el("span", {}, project.name),
    el("small", { "aria-label": `${project.papers} ${project.papers === 1 ? "paper" : "papers"}` }, String(project.papers))))));
    if (hadFocus) list.querySelector(`[data-id="${hadFocus}"]`)?.focus();
  };
  const created = () => { if (!form.hidden) showForm(false); };
  model.on("change:created", created);
  const stop = watch(model, ["projects", "orphans", "chosen"], draw);
  return () => { stop(); problem.stop(); model.off("change:created", created); };
}
export default panel("wb-projects", drawProjects);
