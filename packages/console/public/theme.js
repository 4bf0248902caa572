// Before the first paint: set the chosen theme, else the system's.
try {
  const theme = localStorage.getItem("sensorium.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; then use the system's theme.
}
