function drawPath(model, root) {
  const field = el("input", { type: "text", placeholder: model.get("prompt"), "aria-label": model.get("prompt"), autocomplete: "off", spellcheck: false });
  root.append(el("form", { onsubmit: (event) => { event.preventDefault(); act(model, "add_path", { path: field.value }); } },
    field, el("button", { type: "submit", title: "Add the file or folder at this path" }, "Add")));
  const clear = () => { field.value = ""; };
  model.on("change:taken", clear);
  return () => model.off("change:taken", clear);
}
export default panel("wb-path", drawPath);
