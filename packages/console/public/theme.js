// Before the first paint: the theme that was chosen, else the system's.
try {
  const theme = localStorage.getItem("afferent.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; then the system's theme it is.
}
