// Package tui is the full-screen view of an office: company watch.
//
// It owns the screens (overview, task, questions, keys), the key bindings, and the connection to
// the office. It follows the feed, reads the office at most four times a second, and reconnects
// when the company ends. Packages view and feed render tasks, runs and gates, as for the other
// commands.
//
// Text of models and repositories is escaped before it reaches the terminal. A command that ends
// work needs a confirmation. The package does not hold an office: without a running company it
// opens the office for each read and closes it again. It decides nothing about tasks.
package tui
