// Says for each element whose id is t0, t1 and so on whether a browser shows its text.
function mix(colour, below) {
  const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
  return [...[red, green, blue].map((own, at) => own * alpha + below[at] * (1 - alpha)), alpha];
}
function isSeen(element) {
  const style = getComputedStyle(element);
  const around = [];
  for (let one = element; one; one = one.parentElement) around.unshift(one);
  let opacity = 1, below = [255, 255, 255];
  const range = document.createRange();
  range.selectNodeContents(element);
  let { left, top, right, bottom } = range.getBoundingClientRect();
  for (const one of around) {
    const own = getComputedStyle(one), box = one.getBoundingClientRect();
    opacity *= /opacity\(0\)/.test(own.filter) ? 0 : +own.opacity;
    below = mix(own.backgroundColor, below).slice(0, 3);
    if (own.contentVisibility === "hidden" || own.clipPath === "inset(50%)") return false;
    if (/absolute|fixed/.test(own.position) && own.clip === "rect(0px, 0px, 0px, 0px)") return false;
    if (one === document.documentElement || own.display === "inline") continue;
    if (own.overflowX !== "visible") [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    if (own.overflowY !== "visible") [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  const text = mix(style.color, below);
  const isAlike = text.slice(0, 3).every((own, at) => Math.abs(own - below[at]) <= 8);
  const isPlaced = right - left >= 2 && bottom - top >= 2 && right > 0 && bottom + scrollY > 0;
  return element.checkVisibility({ visibilityProperty: true }) && isPlaced && opacity >= 0.1
    && parseFloat(style.fontSize) >= 3 && text[3] >= 0.1 && !isAlike;
}
const found = [];
for (let at = 0, one; (one = document.getElementById("t" + at)); at++) found.push(isSeen(one) ? "seen" : "hidden");
document.body.textContent = "SAID " + found.join(" ") + " END";
