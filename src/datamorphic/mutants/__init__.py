"""Program mutants: one small change at one place of a module, and what relations make of it."""
