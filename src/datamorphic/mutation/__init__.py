"""Program mutants: a module with one place changed, and which relations kill it."""
