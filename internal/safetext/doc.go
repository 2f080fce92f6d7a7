// Package safetext makes text of others safe to show and bounds it: text of
// models, tools, repositories, forges and servers.
//
// It owns two ways to disarm text: Escape shows hidden characters, Strip
// removes them. All results are valid UTF-8 and are never cut inside a
// character. It knows no format: the writers of Markdown and commit messages
// escape for their format themselves.
package safetext
