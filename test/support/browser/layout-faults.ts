import type { Page } from 'playwright-core';

/**
 * Runs in the page. Two exceptions: what a box that scrolls sideways contains may be wider than the box, and inside a drawing
 * only texts are compared with each other. What only screen readers have, or only the focus shows, is left out.
 */
const findFaults = `(() => {
  // Fractions of a point are rounding.
  const tolerance = 1.5;
  const nameOf = (element) => {
    const text = element.textContent.trim().replace(/\\s+/g, ' ').slice(0, 40);
    const style = element.getAttribute('class');
    return '<' + element.localName + (style ? '.' + style.replaceAll(' ', '.') : '') + '> "' + text + '"';
  };
  const faults = new Set();
  const tooWide = new Set();
  const isInScroller = (element) =>
    element !== null &&
    (['auto', 'scroll'].includes(getComputedStyle(element).overflowX) || isInScroller(element.parentElement));
  const isShown = (element) =>
    element.closest('.hidden, .skip, [hidden]') === null && element.checkVisibility({ visibilityProperty: true });
  const blockOf = (element) =>
    getComputedStyle(element).display === 'inline' ? blockOf(element.parentElement) : element;
  /** What does not fit ends in "…". */
  const isCut = (element) => getComputedStyle(element).textOverflow === 'ellipsis';
  const hasWideAncestor = (element) =>
    element !== null && (tooWide.has(element) || hasWideAncestor(element.parentElement));

  const checkWidth = (element, { left, right }, parent) => {
    if (isInScroller(parent) || isCut(parent) || hasWideAncestor(parent)) return;
    const outer = parent.getBoundingClientRect();
    const beyond = (from, to) => Math.max(from - left, right - to);
    const ofWindow = beyond(0, innerWidth);
    const ofParent = beyond(outer.left, outer.right);
    if (Math.max(ofWindow, ofParent) <= tolerance) return;
    tooWide.add(element);
    const [what, by] = ofWindow > tolerance ? ['the window', ofWindow] : ['its parent ' + nameOf(parent), ofParent];
    faults.add(nameOf(element) + ' is wider than ' + what + ' by ' + Math.round(by));
  };

  const leaves = [];
  const controls = 'input:not([type=hidden]), select, button, .button, .badge, svg.icon, svg.bar, svg text';
  for (const element of document.body.querySelectorAll('*')) {
    if (!isShown(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    const inDrawing = element.parentElement.closest('svg') !== null;
    if (!inDrawing && getComputedStyle(element).display !== 'inline')
      checkWidth(element, box, blockOf(element.parentElement));
    if (element.matches(controls)) leaves.push({ element, box });
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || element.closest('svg, option, script, style') !== null || !isShown(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, top, width, height, right } of range.getClientRects()) {
      if (width === 0) continue;
      checkWidth(element, { left, right }, blockOf(element));
      const block = blockOf(element);
      const end = isCut(block) ? Math.min(right, block.getBoundingClientRect().right) : right;
      // Letters leave a part of their line free.
      if (end > left) leaves.push({ element, box: new DOMRect(left, top + 2, end - left, height - 4) });
    }
    const command = element.closest('code');
    for (const { 0: word, index } of command === null ? [] : node.data.matchAll(/\\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = [...range.getClientRects()];
      const style = getComputedStyle(blockOf(command));
      const room = blockOf(command).clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      const isLonger = lines.reduce((sum, { width }) => sum + width, 0) > room;
      if (lines.length > 1 && !isLonger) faults.add('the word "' + word + '" of a command is broken');
    }
  }
  const overlap = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > tolerance &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > tolerance;
  leaves.sort((one, other) => one.box.top - other.box.top);
  for (const [index, one] of leaves.entries()) {
    for (const other of leaves.slice(index + 1)) {
      if (other.box.top > one.box.bottom) break;
      const isInside = one.element.contains(other.element) || other.element.contains(one.element);
      if (!isInside && overlap(one.box, other.box)) faults.add(nameOf(one.element) + ' overlaps ' + nameOf(other.element));
    }
  }
  return [...faults];
})()`;

/** What is wider than its window or its parent, and what lies over something else, as sentences. */
export const layoutFaults = (page: Page): Promise<string[]> => page.evaluate(findFaults);
