// What is alive under `root` that no text may bring to life, and text that turns what stands around it.
(root) => {
  const found = window.harmed ? ["a script ran"] : [];
  const turning = /[\u202a-\u202e\u2066-\u2069]/;
  const say = (node, what) => found.push(`${what}: ${node.outerHTML.slice(0, 160)}`);
  for (const top of document.querySelectorAll(root)) for (const node of [top, ...top.querySelectorAll("*")]) {
    if (["SCRIPT", "STYLE", "LINK", "IFRAME", "OBJECT", "EMBED", "BASE", "META", "FORM"].includes(node.tagName)
        && !(node.tagName === "FORM" && !node.hasAttribute("action"))) say(node, "no such element belongs here");
    for (const { name, value } of node.attributes) {
      if (name.startsWith("on") || name === "srcdoc" || name === "autofocus") say(node, `handler ${name}`);
      if (/^(xlink:)?href$|^src$|^action$|^formaction$|^data$/.test(name)) {
        const scheme = new URL(value, location.href).protocol;
        if (node.tagName === "A" ? !["http:", "https:", "mailto:"].includes(scheme) : scheme !== "blob:") say(node, `address ${value.slice(0, 60)}`);
      }
      if (name !== "data-text" && turning.test(value)) say(node, `turned ${name}`);
    }
    if (["INPUT", "TEXTAREA"].includes(node.tagName) && turning.test(node.value)) say(node, "turned value");
    for (const child of node.childNodes) if (child.nodeType === 3 && turning.test(child.data)) say(node, "turned text");
  }
  return [...new Set(found)];
}
