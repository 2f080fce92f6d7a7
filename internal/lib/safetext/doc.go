// Package safetext makes untrusted text safe to display, and limits its length: text of models, tools, repositories,
// forges and servers.
//
// Escape shows hidden characters, and Strip removes them. All results are valid UTF-8 and are never cut inside a
// character. The package knows no format: the writers of Markdown and commit messages escape for their format
// themselves.
package safetext
