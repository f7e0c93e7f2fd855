// SPDX-License-Identifier: Apache-2.0

// The targets under a size, largest box of an element and its labels each.
minimum => {
  const interactive = 'a[href], button, input:not([type=hidden]), select, textarea, summary, area[href], ' +
    '[tabindex]:not([tabindex^="-"]), [role=button], [role=link], [role=checkbox], [role=radio], [role=switch], [role=tab], [role=option]';

  const boxes = element => [element, ...(element.labels ?? [])]
    .map(part => part.getBoundingClientRect())
    .sort((a, b) => b.width * b.height - a.width * a.height);

  // Of a link within a sentence, the words around it make the height.
  const inSentence = element => {
    if (getComputedStyle(element).display !== 'inline') return false;
    const around = element.parentElement.innerText.trim();
    return around.length > element.innerText.trim().length;
  };

  const enough = box => box.width >= minimum && box.height >= minimum;

  return [...document.querySelectorAll(interactive)]
    .filter(element => element.checkVisibility({visibilityProperty: true}) && !element.disabled)
    .filter(element => !boxes(element).some(enough) && !(element.localName === 'a' && inSentence(element)))
    .map(element => {
      const [box] = boxes(element);
      return {html: element.outerHTML.slice(0, 200), width: box.width, height: box.height};
    });
}
