"use strict";
// What the theme leaves out for those who listen to a page, or use the keyboard alone.
for (const caption of document.querySelectorAll("[role=heading]:not([aria-level])")) caption.setAttribute("aria-level", "2");
for (const wide of document.querySelectorAll("pre, .table-wrapper")) wide.tabIndex = 0; // it may scroll sideways
