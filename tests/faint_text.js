// The elements whose text stands out from its background by less than the 4.5 to 1 of WCAG AA.
() => {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return channels(colour)[3] === 0 && element.parentElement ? background(element.parentElement) : colour;
  };
  const contrast = (element) => {
    const [dim, bright] = [getComputedStyle(element).color, background(element)].map(luminance).sort((a, b) => a - b);
    return (bright + 0.05) / (dim + 0.05);
  };
  const withText = [...document.body.querySelectorAll("*")]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return withText.filter((element) => contrast(element) < 4.5).map((element) => element.outerHTML);
}
