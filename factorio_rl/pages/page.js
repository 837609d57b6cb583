// Shows the <title> of a chart's mark beside the pointer, and on a tap where there is no pointer.
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const title of document.querySelectorAll(".chart :not(svg) > title")) {
    const mark = title.parentNode;
    mark.dataset.tip = title.textContent;
    mark.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  let shown = null;
  function show(mark, event) {
    if (shown) shown.classList.remove("tapped");
    shown = mark;
    tip.hidden = !mark;
    if (!mark) return;
    mark.classList.add("tapped");
    tip.textContent = mark.dataset.tip;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6);
    const above = event.clientY - tip.offsetHeight - 12;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (above > 4 ? above : event.clientY + 16) + "px";
  }
  const find = (event) => event.target.closest?.("[data-tip]") ?? null;
  document.addEventListener("pointermove", (event) => show(find(event), event));
  document.addEventListener("pointerdown", (event) => show(find(event), event));
  document.addEventListener("pointerleave", (event) => show(null, event));
  document.addEventListener("scroll", (event) => show(null, event), { passive: true });
})();
