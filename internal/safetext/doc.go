// Package safetext makes text of others safe to show and bounds it: text of
// models, tools, repositories, forges and servers.
//
// It owns two ways to disarm text: Escape shows what was hidden, Strip takes it
// out. All results are valid UTF-8 and are never cut inside a character. It
// knows no format: what is harmless in Markdown or in a commit message is for
// those who write them.
package safetext
