"""Reports: pages as plain data, and writers for HTML, Markdown, JUnit and SVG."""
