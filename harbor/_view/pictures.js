// The pictures of a moment: which are shown, of which part and panel, and what they lead to.

/** Give the marks of a picture that the viewer may see. */
function marksOf(place, viewer) {
  const bit = 1 << store.head.viewers.indexOf(viewer);
  return store.marks.filter((mark) => mark[PICTURE] === place && mark[VIEWERS] & bit);
}

function drawPictures() {}
