// What runs within a page: it goes through its own views and answers with all that was measured, because a request to a
// browser for each number would take most of the time. (These functions reach the browser as text: they use nothing of
// this module.)

// For each view in the present width: {view, isSelected, height, overflow}.
export const measureViews = () => {
  const { documentElement } = document;
  return [...document.querySelectorAll("#tabs [role=tab]")].map((tab) => {
    tab.click();
    const { height } = document.querySelector("#content .view").getBoundingClientRect();
    const view = tab.id.replace("tab-", ""), isSelected = tab.getAttribute("aria-selected") === "true";
    return { view, isSelected, height, overflow: documentElement.scrollWidth - documentElement.clientWidth };
  });
};

// What axe-core finds, one line per rule: the whole page with the first view, and the contents of each other view.
export const auditViews = async (rules) => {
  const found = [], options = { resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) };
  for (const [n, tab] of [...document.querySelectorAll("#tabs [role=tab]")].entries()) {
    tab.click();
    const { violations } = await window.axe.run(n === 0 ? document : "#content", options);
    for (const { id, help, nodes } of violations)
      found.push(`${tab.id}: ${id}: ${help}: ${nodes[0].html} (${nodes.length})`);
  }
  return found;
};

// What a page shows on paper, where all views stand below one another: {view: height}.
export const showOnPaper = () => {
  window.dispatchEvent(new Event("beforeprint"));
  const views = [...document.querySelectorAll("#content .view")];
  return Object.fromEntries(views.map((one) => [one.className.replace(/.*view-/, ""), one.getBoundingClientRect().height]));
};

// What sticks out of the page in its present width, if something does.
export const whatSticksOut = () => {
  const { documentElement } = document;
  if (documentElement.scrollWidth <= documentElement.clientWidth) return null;
  const isScrolled = (one) => one && one !== document.body && (getComputedStyle(one).overflowX !== "visible" || isScrolled(one.parentElement));
  return [...document.body.querySelectorAll("*")].find(
    (one) => one.getBoundingClientRect().right > documentElement.clientWidth + 1 && !isScrolled(one.parentElement))
    ?.outerHTML.slice(0, 200) ?? "something that has no box";
};

// Returns how many views there are afterwards.
export const putPaperAway = () => {
  window.dispatchEvent(new Event("afterprint"));
  return document.querySelectorAll("#content .view").length;
};
